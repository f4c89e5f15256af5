#include "doctor_config.hpp"

#include "doctor_checks.hpp"
#include "options/options.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

namespace {

constexpr long long most_numbers = 100'000'000;

}  // namespace

Options doctor_options(DoctorConfig& config) {
  Options options("doctor");
  options.group("Clients");
  options.add(
      declared(
          "topology",
          {.help = "topology file, laid out over the ranks as omd does; default: an exponential graph of all clients"}),
      config.topology);
  options.add(
      declared(
          "clients",
          {.help =
               "number of clients; default: the topology's, else one per rank. More clients than ranks must be asked "
               "for"}),
      config.clients);
  options.add(
      declared("clients-per-rank", {.help = "shorthand for --clients K x ranks (with --predict: of the launch's)"}),
      config.clients_per_rank);
  options.group("Measuring");
  options.add(declared("dimension", "numbers in a model; a message has one more, the mass",
                       {.initial = "1000", .range = {.most = most_numbers}}),
              config.dimension);
  options.add(
      option(
          "seconds", "S",
          "time for all edges together, of up to 100 round trips each; those that are left then are left out, and the "
          "rest lies evenly among all",
          {.range = {0.01, 1e6}, .unit = "seconds"}),
      config.seconds);
  options.add(
      declared("output",
               "where runs are to write: the directory itself, or if there is none yet, the one it will be made in",
               {.initial = "."}),
      config.output);
  options.add(
      option(
          "predict", "hosts=…",
          "look at nothing, and predict a round of another launch: hosts=4,latency=50us,bandwidth=10Gbit with "
          "clients=, dimension=, topology= (a file or a family), ranks=, cpus= of a host, batch=, eager= and message= "
          "(see docs/cluster.md)",
          {.example = "hosts=4,latency=50us,bandwidth=10Gbit"}),
      config.predict);
  options.group("Output");
  options.add(declared("json", {.help = "print one JSON object on stdout in place of the table"}), config.json);
  options.add(declared("watchdog", {.help = "silence of a peer after which the program ends with exit code 5"}),
              config.watchdog);
  options.add(declared("config"));
  options.add(declared("print-config"));
  options.add(declared("help"));
  return options;
}

DoctorConfig parse_doctor_config(const std::vector<std::string>& words) {
  DoctorConfig config;
  Options options = doctor_options(config);
  options.parse(words);
  config.text = options.configuration();
  config.as_given = options.configuration(Options::Names::as_given);
  return config;
}

Manual doctor_manual() {
  return {
      .usage = "[OPTIONS]",
      .text =
          "Start it as the run will be started: with the same launcher, ranks and options of binding. It prints a row "
          "for each check: ok, look (the run works, and this may slow it down) or bad, with what was found and what to "
          "do. Edges are timed one after the other, with messages as long as the run's, then whole exchanges with all "
          "of them at once. Exit codes: 0 nothing is bad, 1 something is, 2 usage, 5 a rank is silent.",
      .examples = {"mpirun -n 5 starling doctor --topology ring.topo --output run"},
      .more = "\nChecks:\n" + doctor_checks_help()};
}

}  // namespace starling
