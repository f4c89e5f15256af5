#include "doctor_config.hpp"

#include "app/settings/learning_config.hpp"
#include "doctor_checks.hpp"

#include "starling/core/check.hpp"
#include "starling/options/options.hpp"

namespace starling {

namespace {

constexpr long long most_numbers = 100'000'000;
constexpr long long most_pings = 1'000'000;

Options doctor_options(DoctorConfig& config) {
  Options options("doctor");
  const char* clients = "Clients";
  options.add({clients, "topology", "FILE", "",
               "topology file, laid out over the ranks as omd does; default: a directed ring of all clients",
               setter::text(config.topology), false, named::file});
  options.add({clients, "clients", "N", "",
               "number of clients; default: the topology's, else one per rank. More clients than ranks must be asked "
               "for",
               setter::integer(config.clients, 1, most_clients)});
  options.add({clients, "clients-per-rank", "K", "",
               "shorthand for --clients K x ranks (with --predict: of the launch's)",
               setter::integer(config.clients_per_rank, 1, most_clients)});
  const char* measuring = "Measuring";
  options.add({measuring, "dimension", "D", "1000", "numbers in a model; a message has one more, the mass",
               setter::integer(config.dimension, 1, most_numbers)});
  options.add({measuring, "pings", "K", "100",
               "round trips over each edge between ranks, or as many as fit in its part of --seconds",
               setter::integer(config.pings, 1, most_pings)});
  options.add({measuring, "seconds", "S", "60",
               "time for all edges together; those that are left then are left out, and the rest lies evenly among all",
               setter::number(config.seconds, 0.01, 1e6)});
  options.add({measuring, "output", "DIR", ".",
               "where runs are to write: the directory itself, or if there is none yet, the one it will be made in",
               setter::text(config.output), false, named::file});
  options.add(
      {measuring, "predict", "hosts=…", "",
       "look at nothing, and predict a round of another launch: hosts=4,latency=50us,bandwidth=10Gbit with "
       "clients=, dimension=, topology= (a file or a family), ranks=, cpus= of a host, batch=, eager= and message= "
       "(see docs/cluster.md)",
       setter::text(config.predict)});
  const char* output = "Output";
  options.add(
      {output, "json", "", "", "print one JSON object on stdout in place of the table", setter::flag(config.json)});
  options.add({output, "watchdog", "SECONDS", "60", "silence of a peer after which the program ends with exit code 5",
               setter::number(config.watchdog, 0.1, 1e9)});
  options.add({output, "config", "FILE", "", "read options from an INI file (key = value); the command line wins",
               [](const std::string&) {}});
  options.add({output, "print-config", "", "", "print the effective configuration as such a file and exit",
               setter::flag(config.print_config)});
  options.add({output, "help", "", "", "this text", [](const std::string&) {}});
  return options;
}

}  // namespace

DoctorConfig parse_doctor_config(const std::vector<std::string>& words) {
  DoctorConfig config;
  Options options = doctor_options(config);
  options.parse(words);
  check(!config.clients || !config.clients_per_rank, "--clients and --clients-per-rank exclude each other; give one");
  config.text = options.configuration();
  config.as_given = options.configuration(Options::Names::as_given);
  return config;
}

std::string doctor_help() {
  DoctorConfig config;
  const Options options = doctor_options(config);
  std::string text =
      "starling doctor: looks at the ranks, hosts and ways of a launch before a run does.\n\n"
      "  mpirun -n 8 starling doctor --topology topologies/hypercube-8.topo --output /scratch/run\n\n"
      "Start it as the run will be started: with the same launcher, ranks and options of binding. It prints a row for "
      "each check:\n"
      "ok, look (the run works, and this may slow it down) or bad, with what was found and what to do. Edges are timed "
      "one after the\n"
      "other, with messages as long as the run's, then whole exchanges with all of them at once. Exit codes: 0 nothing "
      "is bad, 1\n"
      "something is, 2 usage, 5 a rank is silent.\n";
  text += options.help();
  text += "\nChecks:\n" + doctor_checks_help();
  return text;
}

}  // namespace starling
