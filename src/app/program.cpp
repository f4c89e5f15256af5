#include "app/console/version.hpp"
#include "commands.hpp"
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <regex>
#include <unistd.h>

#include "starling/core/check.hpp"
#include "starling/options/options.hpp"

namespace starling {

namespace {

constexpr const char* overview =
    "starling: decentralized, differentially private online learning on MPI\n\n"
    "  starling omd        online mirror descent over a topology   (under mpirun or srun)\n"
    "  starling renewable  streaming second-order classification with rank 0 as aggregator\n"
    "  starling infer      regression under local differential privacy, with confidence intervals\n"
    "  starling vertical   online vertical federated learning: parties have columns, rank 0 the head\n"
    "  starling fedavg     federated averaging with rank 0 as aggregator, to compare with\n"
    "  starling doctor     looks at ranks, hosts, disk and edges before a run\n"
    "  starling topology   check, make or draw topology files\n"
    "  starling privacy    what releases cost together, noise for a target, audits, ledgers\n"
    "  starling data       convert, make or describe files of records\n"
    "  starling report     tables and pictures of a finished or running run, and comparisons\n\n"
    "  starling COMMAND --help    options, with defaults\n"
    "  starling --version         version of the program and its libraries\n";

/// Rank that the launcher gives this process, so that texts under mpirun appear once.
bool is_first_process() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* text = std::getenv(name); text != nullptr) return std::atoi(text) == 0;
  }
  return true;
}

/// The words as a shell would take them again.
std::string quoted(const std::vector<std::string>& words) {
  std::string line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool plain =
        words[i].find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%") ==
            std::string::npos &&
        !words[i].empty();
    line += i == 0 ? "" : " ";
    line += plain ? words[i] : "'" + std::regex_replace(words[i], std::regex("'"), "'\\''") + "'";
  }
  return line;
}

int dispatch(const std::vector<std::string>& argv) {
  const std::string command = argv.size() > 1 ? argv[1] : "";
  const std::vector<std::string> words(argv.begin() + (argv.size() > 1 ? 2 : 1), argv.end());
  for (const std::string& word : words) refuse_placeholders(word, fmt::format("'{}'", word));
  if (command == "--version") {
    if (is_first_process()) std::fputs(version_text().c_str(), stdout);
    return 0;
  }
  if (command == "--help" || command == "-h" || command == "help") {
    if (is_first_process()) std::fputs(overview, stdout);
    return 0;
  }
  if (command == "omd") return run_omd(words, quoted(argv), is_first_process());
  if (command == "renewable") return run_renewable(words, quoted(argv), is_first_process());
  if (command == "infer") return run_infer(words, quoted(argv), is_first_process());
  if (command == "fedavg") return run_fedavg(words, quoted(argv), is_first_process());
  if (command == "vertical") return run_vertical(words, quoted(argv), is_first_process());
  if (command == "doctor") return run_doctor(words, is_first_process());
  if (command == "topology") return run_topology(words);
  if (command == "data") return run_data(words, quoted(argv), is_first_process());
  if (command == "report") return run_report(words, is_first_process());
  if (command == "privacy") return run_privacy(words, is_first_process());
  if (command.empty()) {
    if (is_first_process()) fmt::print(stderr, "{}\n", overview);  // a message would be one line
    throw UsageError("no command is given: the text above lists them. Name one");
  }
  throw UsageError(
      fmt::format("unknown command '{}' (known: omd, renewable, infer, vertical, fedavg, doctor, topology, privacy, "
                  "data, report) see starling --help",
                  command));
}

}  // namespace

int run_program(const std::vector<std::string>& argv) {
  try {
    return dispatch(argv);
  } catch (const Error& error) {
    if (is_first_process()) fmt::print(stderr, "starling: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    if (is_first_process()) fmt::print(stderr, "starling: {}\n", error.what());
    return static_cast<int>(ExitCode::failure);
  }
}

}  // namespace starling
