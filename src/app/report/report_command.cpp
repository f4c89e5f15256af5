// `starling report RUN`.
#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include <fmt/ranges.h>

#include "app/commands.hpp"
#include "coefficients.hpp"
#include "comparison.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "files/tell_user.hpp"
#include "files/text_files.hpp"
#include "report.hpp"
#include "report/pictures/pictures.hpp"
#include "run/settings/catalogue.hpp"
#include "run_page.hpp"
#include "survival_curve.hpp"

namespace starling {

namespace {

constexpr const char* synopsis = "RUN … [--by KEYS] [--metric METRICS] [--html FILE] [--csv] [--json] [OPTIONS]";

/// The request of a command line.
struct ReportRequest {
  std::vector<std::string> runs;  ///< directories
  ComparisonRequest comparison;
  TableFormat format = TableFormat::text;
  std::vector<std::string> picture_formats;
  std::string html;  ///< file for a page; empty: none
  std::string title;
  bool for_board = false;
  std::vector<std::string> scores;  ///< folders of `starling score --output`
  std::string csv;                  ///< empty, "history" or "models"
  std::string survival;             ///< a profile of the survival curve, `baseline` for none; empty: no curve
  std::string coefficients;         ///< a format of the table of coefficients; empty: none
  bool json = false;
  bool pictures = true;
  std::string first;  ///< of what is named: a run, or a folder of runs
  std::string output;
};

constexpr const char* shows = "each is a way of showing runs";

void add_comparison_options(Options& options, ReportRequest& request) {
  options.add(
      option("by", "KEY[,KEY…]",
             "columns of a comparison: options of config.ini, or keys of summary.json such as "
             "privacy.mechanism. Default: the options that differ",
             {.example = "epsilon", .common = true, .relations = {excludes("csv", shows), excludes("json", shows)}}),
      request.comparison.by);
  options.add(
      option("metric", "METRIC[,METRIC…]",
             "figures of a comparison: keys of summary.json, or short names such as accuracy, loss, test "
             "accuracy, epsilon. Default: the usual ones that are known",
             {.example = "accuracy", .common = true, .relations = {excludes("csv", shows), excludes("json", shows)}}),
      request.comparison.metrics);
  options.add(option("format", "FORMAT",
                     "of the table of a comparison; csv has all digits, and mean, standard deviation and number in "
                     "columns of their own",
                     {.relations = {excludes("csv", shows), excludes("json", shows)}}),
              request.format,
              {{"text", TableFormat::text},
               {"csv", TableFormat::csv},
               {"markdown", TableFormat::markdown},
               {"latex", TableFormat::latex}});
}

void add_page_options(Options& options, ReportRequest& request) {
  const std::string heads = "it is about the page";
  options.add(option("html", "FILE",
                     "write one HTML page instead: privacy, figures, pictures, history, configuration and files. It "
                     "runs no script and needs no other file",
                     {.example = "run.html",
                      .relations = {excludes("csv", shows), excludes("json", shows), excludes("format", shows)}}),
              request.html);
  options.add(option("title", "TEXT", "heading of the page; default: the run's name",
                     {.example = "'Readmissions in four hospitals'", .relations = {needs("html", heads)}}),
              request.title);
  options.add(
      option("for", "READER",
             "whom the page is for: team (all figures and pictures), or board: an ethics board, which learns who "
             "is protected against whom, the loss as odds, what data were used, how good the model is on "
             "held-out records, and what is not covered",
             {.initial = "team", .example = "board", .relations = {needs("html", heads)}}),
      request.for_board, {{"team", false}, {"board", true}});
  options.add(option("scores", "DIR[,DIR…]",
                     "of --for board: folders that `starling score RUN --output DIR` wrote, one for each set of "
                     "held-out records",
                     {.example = "score", .relations = {needs("for=board", heads)}}),
              request.scores);
}

void add_printed_options(Options& options, ReportRequest& request) {
  options.add(option("csv", "[history|models]",
                     "print CSV and nothing else. history (the default): rounds, loss, accuracy, test_loss, "
                     "test_accuracy, consensus_error, mass, with empty fields for what is unknown or withheld; "
                     "models: the recorded models as round, client, coordinate, value",
                     {.words = {"history", "models"}, .implied = "history", .relations = {excludes("json", shows)}}),
              request.csv);
  options.add(option("coefficients", "[FORMAT]",
                     "print the coefficients of a linear model and nothing else, in the units of the data: with "
                     "standard error, interval, z, p, odds, rate or hazard ratio, and the deviation of the noise, as "
                     "far as they are "
                     "known. FORMAT is text (the default), csv, markdown, latex or html",
                     {.words = coefficient_formats(),
                      .implied = "text",
                      .relations = {excludes("json", shows), excludes("csv", shows), excludes("html", shows)}}),
              request.coefficients);
  options.add(
      option(
          "survival", "NAME=VALUE,…",
          "print the survival curve of a model of hazards, and draw survival.svg, for a person with these features in "
          "their own units, or baseline for none; of records that starling data convert --survival made. Features that "
          "are not named have their public mean where they are standardised, else 0",
          {.example = "age=60,sex=1",
           .relations = {excludes("json", shows), excludes("csv", shows), excludes("html", shows),
                         excludes("coefficients", shows)}}),
      request.survival);
  options.add(
      declared("json",
               {.help = "print summary.json and nothing else; of an unfinished run the same keys with null for what is "
                        "not known, besides state (starting, running or silent) and seconds_since_record"}),
      request.json);
}

void add_picture_options(Options& options, ReportRequest& request) {
  const std::string draws = "no pictures are drawn then";
  const std::string holds = "the page holds its pictures, as SVG";
  options.add(option("pictures", "[on|off]", "draw pictures", {.implied = "on"}), request.pictures,
              {{"on", true}, {"off", false}});
  options.add(option("picture-format", "svg[,png][,pdf]", "formats of the pictures",
                     {.initial = "svg,png",
                      .words = {"svg", "png", "pdf"},
                      .relations = {excludes("pictures=off", draws), excludes("html", holds)}}),
              request.picture_formats);
  options.add(
      declared("output",
               "folder for the pictures, made if need be; default: RUN, of a comparison the first that is named",
               {.relations = {excludes("csv", draws), excludes("json", draws), excludes("pictures=off", draws),
                              excludes("html", holds)}}),
      request.output);
}

Options report_options(ReportRequest& request) {
  Options options("report");
  options.group("Options");
  options.add(
      option("run", "RUN", "directory of the run; several are compared, as are those in a folder of runs (sweep)",
             {.example = "run", .common = true, .positional = true, .many = true}),
      request.runs);
  add_comparison_options(options, request);
  add_page_options(options, request);
  add_printed_options(options, request);
  add_picture_options(options, request);
  options.add(declared("help"));
  return options;
}

Manual report_manual() {
  return {
      .usage = synopsis,
      .text =
          "Shows a run from its directory, finished or not, and never disturbs it: the table of its end (of a run that "
          "goes on or was killed: how far it is), some lines of its history, and its pictures, which are drawn again "
          "into RUN:\n"
          "  loss.svg, loss.png                  losses, accuracies and consensus error, as far as they are known\n"
          "  convergence.svg, convergence.png    distance of up to ten clients to the final mean model (of an "
          "unfinished\n"
          "                                      run: to the mean model of its last record)\n"
          "  components.svg, components.png      up to six components of their models, and of the best in hindsight\n"
          "  regret.svg, regret.png              regret per round with its exponent, of runs with --regret\n"
          "  intervals.svg, intervals.png        estimates and their intervals on the way, of runs of infer\n"
          "  survival.svg, survival.png          the survival curve of --survival\n"
          "Several runs are compared: the options that differ and the figures; runs that differ by their seeds alone "
          "are one line with mean, standard deviation and number. With --by the picture compare.svg shows the figures "
          "of --metric against the first key, with a panel for each value of the second. Without it there is a curve "
          "for each line over the rounds, up to 8. Bands are one standard deviation (of two runs: from one to the "
          "other). --html FILE writes one page of one run or several, to be mailed or put on a web server; with --for "
          "board it is a page for an ethics board. Figures of private records that are withheld are called so, or left "
          "out. Exit code: 0, even without gnuplot; 2 no such run; 3 its files are damaged.",
      .examples = {"starling report run", "starling report run --html board.html --for board",
                   "starling report run-1 run-2 --by seed --metric accuracy --format latex"}};
}

/// The runs in a folder of runs, such as that of a sweep, by name; the folder itself where it is a run, or has none.
std::vector<std::string> runs_in(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto is_run = [&](const fs::path& path) { return fs::exists(path / "config.ini", error); };
  std::vector<std::string> runs;
  if (!is_run(folder) && !fs::exists(fs::path(folder) / "summary.json", error)) {
    for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
      if (is_run(each->path())) runs.push_back(each->path().string());
    }
  }
  if (runs.empty()) return {folder};
  std::ranges::sort(runs);
  return runs;
}

ReportRequest parse_request(const std::vector<std::string>& words) {
  ReportRequest request;
  report_options(request).parse(words);
  check(!request.runs.empty(), "no run is named. Name its directory: starling report {}", synopsis);
  request.first = request.runs.front();
  std::vector<std::string> runs;
  for (const std::string& named : request.runs) std::ranges::copy(runs_in(named), std::back_inserter(runs));
  request.runs = std::move(runs);
  std::set<std::string> places;
  for (const std::string& run : request.runs) {
    std::error_code error;
    check(places.insert(std::filesystem::weakly_canonical(run, error).string()).second,
          "'{}' is named twice: a run is compared with others. Name it once{}.", run,
          request.csv.empty() ? "" : "; --csv takes history or models");
  }
  const bool several = request.runs.size() > 1;
  check(several || (request.comparison.by.empty() && request.comparison.metrics.empty() &&
                    request.format == TableFormat::text),
        "--by, --metric and --format with one run: they are for comparisons. Name several runs, or leave them out.");
  check(!several || !request.for_board,
        "--for board with {} runs: it is of one run. Name one; several --scores stand between commas.",
        request.runs.size());
  check(!several || (request.csv.empty() && !request.json && request.coefficients.empty() && request.survival.empty()),
        "runs '{}' with {}: it is of one run. Name one (--csv takes history or models), or take --format csv.",
        fmt::join(request.runs, "', '"),
        request.json                ? "--json"
        : !request.csv.empty()      ? "--csv"
        : !request.survival.empty() ? "--survival"
                                    : "--coefficients");
  return request;
}

/// The folder of pictures, which is made.
std::string picture_folder(const ReportRequest& request) {
  if (request.output.empty()) return request.first;
  std::error_code error;
  std::filesystem::create_directories(request.output, error);
  check<FailureError>(!error, "cannot make '{}': {}. Name another folder.", request.output, error.message());
  return request.output;
}

void tell_of_pictures(const std::string& problem, const std::string& folder, const std::string& names) {
  if (problem.empty()) {
    print(fmt::format("Pictures   {} in {}\n", names, folder));
  } else {
    tell_user("note: {}\n", problem);
  }
}

PictureFormats formats_of(const ReportRequest& request) {
  const auto has = [&](const char* format) {
    return std::ranges::find(request.picture_formats, format) != request.picture_formats.end();
  };
  return {has("svg"), has("png"), has("pdf")};
}

/// A table that names keys, figures or a format has a line for each group of runs; so has one of many groups.
void print_comparison(const Comparison& comparison, const ReportRequest& request) {
  const bool asked = !request.comparison.by.empty() || !request.comparison.metrics.empty();
  const bool lines = asked || request.format != TableFormat::text || comparison.groups() > most_lines_together;
  print(lines ? comparison.table(request.format) : comparison.text());
}

void write_page(const ReportRequest& request, const RunPage& page) {
  require_replaceable(request.html, page.html.substr(0, page.html.find('\n')));
  write_text(request.html, page.html);
  if (!page.no_pictures.empty()) tell_user("note: {}\n", page.no_pictures);
  print(fmt::format("Page       {}\n", request.html));
}

void compare(const ReportRequest& request) {
  std::vector<RunReport> runs;
  for (const std::string& path : request.runs) runs.emplace_back(path);
  const Comparison comparison(runs, request.comparison);
  if (!request.html.empty()) {
    write_page(request, page_of(runs, comparison, request.title, request.pictures));
    return;
  }
  print_comparison(comparison, request);
  if (!request.pictures || (request.format != TableFormat::text && request.output.empty())) return;
  const std::string folder = picture_folder(request);
  const std::string problem = comparison.draw(folder, formats_of(request));
  if (request.format == TableFormat::text) print("\n");
  if (request.format == TableFormat::text || !problem.empty()) {
    tell_of_pictures(problem, folder,
                     fmt::format("{}: compare as {}", comparison.caption(), fmt::join(request.picture_formats, ", ")));
  }
}

void show(const ReportRequest& request) {
  const RunReport run(request.runs.front());
  if (!request.coefficients.empty()) {
    const SavedModel model = read_model(run.path() + "/" + model_file_name);
    print(CoefficientTable(model, view_of(run)).text(request.coefficients));
  } else if (!request.survival.empty()) {
    const SavedModel model = read_model(run.path() + "/" + model_file_name);
    const SurvivalReport curve = survival_report(model, request.survival == "baseline" ? "" : request.survival);
    print(curve.text);
    if (!request.pictures) return;
    const std::string folder = picture_folder(request);
    tell_of_pictures(draw_survival(folder, curve.person, curve.points, formats_of(request)), folder,
                     fmt::format("survival as {}", fmt::join(request.picture_formats, ", ")));
  } else if (request.json) {
    print(run.json());
  } else if (!request.html.empty()) {
    write_page(request, request.for_board ? board_page_of(run, {request.title, request.scores, request.pictures})
                                          : page_of(run, request.title, request.pictures));
  } else if (request.csv == "history") {
    print(to_csv(run.history()));
  } else if (request.csv == "models") {
    PrintStream out;
    run.write_models(out);
    out.finish();
  } else {
    print(run.text());
    if (!request.pictures) return;
    const std::string folder = picture_folder(request);
    const std::string problem = run.draw(folder, formats_of(request));
    std::vector<std::string> names{"loss", "convergence", "components", "intervals"};
    std::erase_if(names, [&](const std::string& name) {
      return !std::filesystem::exists(fmt::format("{}/{}.{}", folder, name, request.picture_formats.front()));
    });
    if (names.empty() && problem.empty()) return;
    tell_of_pictures(
        problem, folder,
        fmt::format("{}, each as {},", fmt::join(names, ", "), fmt::join(request.picture_formats, " and ")));
  }
}

int run_report(const Call& call) {
  const ReportRequest request = parse_request(call.words);
  request.runs.size() == 1 ? show(request) : compare(request);
  return 0;
}

}  // namespace

Command report_command() {
  return command_of<ReportRequest, report_options>(
      "report", "tables and pictures of a finished or running run, and comparisons", report_manual, run_report);
}

}  // namespace starling
