// `starling report RUN`.
#include "report_command.hpp"

#include "app/settings/catalogue.hpp"
#include "report.hpp"
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "starling/core/check.hpp"

namespace starling {

namespace {

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

/// What the words ask for.
struct ReportRequest {
  std::vector<std::string> runs;    ///< one directory
  std::vector<std::string> others;  ///< for comparison
  std::string csv;                  ///< empty, "history" or "models"
  bool json = false;
  bool pictures = true;
  std::string output;
};

Options report_options(ReportRequest& request) {
  const std::string shows = "each is a way of showing runs";
  const std::string draws = "no pictures are drawn then";
  Options options("report");
  options.group("Options");
  options.add({.name = "run", .argument = "RUN", .help = "directory of the run", .positional = true, .many = true},
              request.runs);
  options.add({.name = "compare",
               .argument = "RUN2 …",
               .help = "one or more further runs: settings that differ and figures side by side, and the curves of all "
                       "on common axes in compare.svg and compare.png",
               .many = true,
               .relations = {excludes("csv", shows), excludes("json", shows)}},
              request.others);
  options.add({.name = "csv",
               .argument = "[history|models]",
               .help = "print CSV and nothing else. history (the default): rounds, loss, accuracy, test_loss, "
                       "test_accuracy, consensus_error, mass, with empty fields for what is unknown or withheld; "
                       "models: the recorded models as round, client, coordinate, value",
               .words = {"history", "models"},
               .implied = "history",
               .relations = {excludes("json", shows)}},
              request.csv);
  options.add(declared("json", {.help = "print summary.json and nothing else; of an unfinished run the same keys with "
                                        "null for what is not known, besides state (starting, running or silent) and "
                                        "seconds_since_record"}),
              request.json);
  options.add({.name = "pictures", .argument = "[on|off]", .initial = "on", .help = "draw pictures", .implied = "on"},
              request.pictures, {{"on", true}, {"off", false}});
  options.add(declared("output", {.help = "folder for the pictures, made if need be; default: RUN",
                                  .relations = {excludes("csv", draws), excludes("json", draws),
                                                excludes("pictures=off", draws)}}),
              request.output);
  options.add(declared("help"));
  return options;
}

std::string report_help() {
  ReportRequest request;
  return fmt::format("usage: {}\n\n{}{}", synopsis, explanation, report_options(request).help());
}

ReportRequest parse_request(const std::vector<std::string>& words) {
  ReportRequest request;
  report_options(request).parse(words);
  check(!request.runs.empty(), "no run is named. Name its directory: {}", synopsis);
  check(request.runs.size() == 1,
        "{} runs are named, '{}' and others: one is shown at a time. Name others after --compare; --csv takes history "
        "or models, --pictures on or off.",
        request.runs.size(), fmt::join(request.runs, "', '"));
  return request;
}

void flush_output() {
  std::cout.flush();
  check<FailureError>(std::cout.good(), "cannot write to standard output ({}) see whether the disk is full",
                      std::generic_category().message(errno));
}

/// Where pictures go; the folder is made.
std::string picture_folder(const ReportRequest& request) {
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

void compare(const ReportRequest& request) {
  std::vector<RunReport> runs;
  runs.emplace_back(request.runs.front());
  for (const std::string& path : request.others) runs.emplace_back(path);
  std::cout << comparison(runs);
  flush_output();
  if (!request.pictures) return;
  const std::string folder = picture_folder(request);
  std::cout << '\n';
  tell_of_pictures(draw_comparison_of(runs, folder), folder, "compare.svg, compare.png");
}

void show(const ReportRequest& request) {
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

int run_report(const Call& call) {
  const ReportRequest request = parse_request(call.words);
  request.others.empty() ? show(request) : compare(request);
  flush_output();
  return 0;
}

}  // namespace

Command report_command() {
  return {.name = "report",
          .purpose = "tables and pictures of a finished or running run, and comparisons",
          .help = report_help,
          .options = declarations_from<ReportRequest, report_options>,
          .run = run_report};
}

}  // namespace starling
