// `starling report RUN`.
#include "app/commands.hpp"
#include "report.hpp"
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <system_error>

#include <boost/program_options.hpp>

#include "starling/core/check.hpp"

namespace starling {

namespace {

namespace po = boost::program_options;
using Words = std::vector<std::string>;

constexpr const char* synopsis = "starling report RUN [--compare RUN2 …] [--csv [history|models]] [--json]";
constexpr const char* explanation =
    "Shows a run from its directory, finished or not, and never disturbs it: the table of its end (of a run that goes\n"
    "on or was killed: how far it is), some lines of its history, and its pictures, which are drawn again into RUN:\n"
    "  loss.svg, loss.png                  losses, accuracies and consensus error, as far as they are known\n"
    "  convergence.svg, convergence.png    distance of up to ten clients to the final mean model (of an unfinished\n"
    "                                      run: to the mean model of its last record)\n"
    "  components.svg, components.png      up to six components of their models, and of the best in hindsight\n"
    "  regret.svg, regret.png              regret per round with its exponent, of runs with --regret\n"
    "  intervals.svg, intervals.png        estimates and their intervals on the way, of runs of infer\n"
    "Figures of private records that are withheld are called so, or left out. Exit code: 0, even without gnuplot;\n"
    "2 no such run; 3 its files are damaged.\n";

/// The options of the command line.
struct Request {
  Words runs;  ///< the second and further ones are for comparison
  bool compares = false;
  std::string csv;  ///< empty, "history" or "models"
  bool json = false;
  bool pictures = true;
  std::string output;
};

/// Options whose value may be left out, and then is the first one. Another word is a run's where none is named yet.
struct Leavable {
  std::string option;
  Words values;
};
const std::vector<Leavable>& leavable_options() {
  static const std::vector<Leavable> options{{"--csv", {"history", "models"}}, {"--pictures", {"on", "off"}}};
  return options;
}

/// Ties such options to their values: `--csv models` → `--csv=models`, `--csv` → `--csv=history`.
Words tied(const Words& words) {
  Words result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    result.push_back(words[i]);
    for (const auto& [option, values] : leavable_options()) {
      if (words[i] != option) continue;
      const bool given = i + 1 < words.size() && std::find(values.begin(), values.end(), words[i + 1]) != values.end();
      result.back() += "=" + (given ? words[++i] : values.front());
      break;
    }
  }
  return result;
}

po::options_description options_of_report() {
  po::options_description options("Options");
  options.add_options()("compare", po::value<Words>()->multitoken(),
                        "one or more further runs: settings that differ and figures side by side, and the curves of "
                        "all on common axes in compare.svg and compare.png")(
      "csv", po::value<std::string>(),
      "print CSV and nothing else. history (the default): rounds, loss, accuracy, test_loss, test_accuracy, "
      "consensus_error, mass, with empty fields for what is unknown or withheld; models: the recorded models as "
      "round, client, coordinate, value")(
      "json",
      "print summary.json and nothing else; of an unfinished run the same keys with null for what is not "
      "known, besides state (starting, running or silent) and seconds_since_record")(
      "pictures", po::value<std::string>()->default_value("on"), "draw pictures: on or off")(
      "output", po::value<std::string>(), "folder for the pictures, made if need be (RUN)")("help", "print this text");
  return options;
}

po::variables_map parse(const Words& words, const po::options_description& visible) {
  po::options_description all = visible;
  all.add_options()("run", po::value<Words>()->default_value({}, ""));
  po::positional_options_description positions;
  positions.add("run", -1);
  namespace style = po::command_line_style;
  constexpr int unix_without_guessing = static_cast<int>(style::unix_style) & ~static_cast<int>(style::allow_guessing);
  po::variables_map values;
  try {
    po::command_line_parser parser(tied(words));
    parser.options(all).positional(positions).style(unix_without_guessing);
    po::store(parser.run(), values);
    po::notify(values);
  } catch (const po::error& error) {
    throw UsageError(fmt::format("{} (usage: {}) see starling report --help", error.what(), synopsis));
  }
  return values;
}

std::string known_value(const po::variables_map& values, const Leavable& option) {
  std::string value = values[option.option.substr(2)].as<std::string>();
  check(std::find(option.values.begin(), option.values.end(), value) != option.values.end(),
        "unknown {} '{}' (known: {}) see starling report --help", option.option, value, fmt::join(option.values, ", "));
  return value;
}

Request request_of(const po::variables_map& values) {
  Request request;
  request.runs = values["run"].as<Words>();
  check(!request.runs.empty(), "no run is named (usage: {}) name its directory", synopsis);
  check(request.runs.size() == 1,
        "{} runs are named, '{}' and others: one is shown at a time. Name others after --compare; --csv takes {}, "
        "--pictures {}",
        request.runs.size(), fmt::join(request.runs, "', '"), fmt::join(leavable_options()[0].values, " or "),
        fmt::join(leavable_options()[1].values, " or "));
  if (values.count("compare") > 0) {
    request.compares = true;
    const auto& others = values["compare"].as<Words>();
    request.runs.insert(request.runs.end(), others.begin(), others.end());
  }
  if (values.count("csv") > 0) request.csv = known_value(values, leavable_options()[0]);
  request.pictures = known_value(values, leavable_options()[1]) == "on";
  request.json = values.count("json") > 0;
  if (values.count("output") > 0) request.output = values["output"].as<std::string>();
  check(static_cast<int>(request.compares) + static_cast<int>(request.json) + (request.csv.empty() ? 0 : 1) <= 1,
        "--compare, --csv and --json exclude each other (each is a way of showing runs) choose one");
  check(request.output.empty() || (!request.json && request.csv.empty() && request.pictures),
        "--output names a folder for pictures (and none are drawn with --csv, --json or --pictures off) leave it out");
  return request;
}

void flush_output() {
  std::cout.flush();
  check<FailureError>(std::cout.good(), "cannot write to standard output ({}) see whether the disk is full",
                      std::generic_category().message(errno));
}

/// Where pictures go; the folder is made.
std::string picture_folder(const Request& request) {
  if (request.output.empty()) return request.runs.front();
  std::error_code error;
  std::filesystem::create_directories(request.output, error);
  check<FailureError>(!error, "cannot make '{}' ({}) name another folder", request.output, error.message());
  return request.output;
}

void tell_of_pictures(const std::string& problem, const std::string& folder, const std::string& names) {
  if (problem.empty()) {
    std::cout << fmt::format("Pictures   {} in {}\n", names, folder);
  } else {
    fmt::print(stderr, "note: {}\n", problem);
  }
}

void compare(const Request& request) {
  std::vector<RunReport> runs;
  for (const std::string& path : request.runs) runs.emplace_back(path);
  std::cout << comparison(runs);
  flush_output();
  if (!request.pictures) return;
  const std::string folder = picture_folder(request);
  std::cout << '\n';
  tell_of_pictures(draw_comparison_of(runs, folder), folder, "compare.svg, compare.png");
}

void show(const Request& request) {
  const RunReport run(request.runs.front());
  if (request.json) {
    std::cout << run.json();
  } else if (request.csv == "history") {
    std::cout << to_csv(run.history());
  } else if (request.csv == "models") {
    run.write_models(std::cout);
  } else {
    std::cout << run.text();
    flush_output();
    if (!request.pictures) return;
    const std::string folder = picture_folder(request);
    const bool has_intervals = std::filesystem::exists(run.path() + "/intervals.csv");
    tell_of_pictures(run.draw(folder), folder,
                     fmt::format("loss{} convergence{}, each as .svg and .png,", has_intervals ? "," : " and",
                                 has_intervals ? " and intervals" : ""));
  }
}

}  // namespace

int run_report(const std::vector<std::string>& words, bool speaks) {
  if (!speaks) return 0;
  const po::options_description options = options_of_report();
  const po::variables_map values = parse(words, options);
  if (values.count("help") > 0) {
    std::cout << "usage: " << synopsis << "\n\n" << explanation << '\n' << options;
  } else {
    const Request request = request_of(values);
    request.compares ? compare(request) : show(request);
  }
  flush_output();
  return 0;
}

}  // namespace starling
