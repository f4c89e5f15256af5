#include "run_page.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <system_error>

#include "console/version.hpp"
#include "files/scratch_folder.hpp"
#include "files/text_files.hpp"
#include "report/view/run_reading.hpp"
#include "report/view/table_text.hpp"
#include "tables.hpp"

namespace starling {

namespace {

/// Figures at the head of a page, by their names in comparisons.
constexpr std::array headline{"accuracy", "test loss", "loss, mean", "static regret", "epsilon", "rounds"};

/// A picture's caption by the name of its file; pages show pictures in this order.
constexpr std::array<std::pair<const char*, const char*>, 8> captions{
    {{"loss", "Loss, accuracy and consensus error, as far as they are known"},
     {"intervals", "Estimates and their intervals"},
     {"regret", "Regret per round"},
     {"convergence", "Distance of the clients' models to the final mean model"},
     {"components", "Components of the clients' models"},
     {"figures", "Recorded figures"},
     {"mass", "Push-sum mass"},
     {"presence", "Who took part"}}};

/// Draws into a folder and returns a sentence that says why pictures are missing.
using Draw = std::function<std::string(const std::string& folder)>;

void add_pictures(Page& page, const Draw& draw, const std::string& of_comparison, std::string& no_pictures) {
  const ScratchFolder folder;
  no_pictures = draw(folder.path());
  const auto file_of = [&](const std::string& name) { return fmt::format("{}/{}.svg", folder.path(), name); };
  const auto is_there = [&](const std::string& name) { return std::filesystem::exists(file_of(name)); };
  const bool any =
      is_there("compare") || std::ranges::any_of(captions, [&](const auto& each) { return is_there(each.first); });
  if (!any && no_pictures.empty()) return;
  page.section("Pictures");
  const auto add = [&](const std::string& name, const std::string& caption) {
    if (is_there(name)) page.picture(caption, read_text(file_of(name)));
  };
  add("compare", of_comparison);
  for (const auto& [name, caption] : captions) add(name, caption);
  if (!no_pictures.empty()) page.paragraph(no_pictures);
}

std::string without_line_ends(std::string text) {
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

std::vector<std::pair<std::string, std::string>> headline_of(const SummaryView& view) {
  std::vector<std::pair<std::string, std::string>> figures;
  for (const ComparedFigure& figure : usual_figures()) {
    if (std::ranges::find(headline, figure.name) == headline.end()) continue;
    const std::string cell = cell_of(view, figure);
    if (cell != "-") figures.emplace_back(figure.name, cell);
  }
  return figures;
}

void add_results(Page& page, const ResultTexts& texts) {
  if (!texts.tables.empty()) page.columns(without_line_ends(texts.tables));
  page.rows(rows_in(texts.rows));
}

std::string size_text(std::uintmax_t bytes) {
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  if (bytes < 1'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

/// Names and sizes of the run's files. What is private is not looked at.
void add_files(Page& page, const std::string& run) {
  TextTable table{{"file", "size"}, {}};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(run, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.')) continue;
    if (entry.is_directory(error)) {
      table.rows.push_back({name + "/", name == "private" ? "each owner's own" : "folder"});
    } else {
      const std::uintmax_t bytes = entry.file_size(error);
      table.rows.push_back({name, error ? "-" : size_text(bytes)});
    }
  }
  std::ranges::sort(table.rows);
  page.fold(fmt::format("Files in {}", run));
  page.table(table);
  page.unfold();
}

}  // namespace

std::string name_of_run(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
  return error || whole.filename().empty() ? path : whole.filename().string();
}

void add_statement(Page& page, const SummaryView& view) {
  const std::string statement = view.text("privacy.statement");
  if (statement.empty()) return;
  page.fold("The whole privacy statement");
  page.paragraph(statement);
  page.unfold();
}

void add_configuration(Page& page, const std::string& run) {
  std::error_code error;
  if (!std::filesystem::exists(run + "/config.ini", error)) return;
  const auto configuration = read_configuration(run);
  page.fold(fmt::format("Configuration: {} options", configuration.size()));
  page.rows({configuration.begin(), configuration.end()});
  page.unfold();
}

std::string last_line() {
  return fmt::format("Written by starling {}. The page needs no other file.", version());
}

RunPage page_of(const RunReport& run, const std::string& title, bool with_pictures) {
  const SummaryView view = view_of(run);
  const ResultTexts texts = run.texts();
  RunPage result;
  Page page(title.empty() ? name_of_run(run.path()) : title);
  page.paragraph(without_line_ends(texts.heading));
  page.figures(headline_of(view));
  if (view.learned() && run.state() == RunState::finished) {
    page.section("Privacy");
    page.list(view.texts("privacy.in_short"));
    add_statement(page, view);
  }
  page.section("Results");
  add_results(page, texts);
  if (const auto notes = view.texts("notes"); !notes.empty()) {
    page.section("Notes");
    page.list(notes);
  }
  if (with_pictures) {
    const auto draw = [&](const std::string& folder) { return run.draw(folder, {}); };
    add_pictures(page, draw, "", result.no_pictures);
  }
  if (!run.history().empty()) {
    page.section("History");
    page.table(curve_of(run.history()));
  }
  page.section("How it was made");
  page.command(view.text("command_line"));
  add_configuration(page, run.path());
  add_files(page, run.path());
  result.html = page.text(last_line());
  return result;
}

namespace {

/// The sentences on privacy that all runs share, then those of each line of the comparison.
void add_privacy(Page& page, const std::vector<RunReport>& runs, const Comparison& comparison) {
  std::vector<std::string> common;
  std::vector<std::pair<std::string, std::string>> own;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string label = comparison.label_of_run(i);
    for (const std::string& line : view_of(runs[i]).texts("privacy.in_short")) {
      const bool shared = std::ranges::all_of(runs, [&](const RunReport& other) {
        const auto lines = view_of(other).texts("privacy.in_short");
        return std::ranges::find(lines, line) != lines.end();
      });
      if (shared && i == 0) common.push_back(line);
      if (!shared && std::ranges::find(own, std::pair(label, line)) == own.end()) own.emplace_back(label, line);
    }
  }
  if (common.empty() && own.empty()) return;
  page.section("Privacy");
  page.list(common);
  if (own.empty()) return;
  page.fold(fmt::format("What differs between the lines: {} sentences", own.size()));
  page.rows(own);
  page.unfold();
}

/// Options that all runs share, and a line for each run.
void add_runs(Page& page, const std::vector<RunReport>& runs, const Comparison& comparison) {
  std::vector<std::pair<std::string, std::string>> commands;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const SummaryView view = view_of(runs[i]);
    const std::string label = comparison.label_of_run(i);
    const std::string state =
        runs[i].state() == RunState::finished ? "" : fmt::format(" ({})", name_of(runs[i].state()));
    commands.emplace_back(name_of_run(runs[i].path()) + state,
                          (label.empty() ? "" : label + "\n") + view.text("command_line"));
  }
  page.section("How it was made");
  page.fold(fmt::format("The runs and their commands: {}", runs.size()));
  page.rows(commands);
  page.unfold();
  auto common = read_configuration(runs.front().path());
  for (const RunReport& run : runs) {
    const auto options = read_configuration(run.path());
    std::erase_if(common, [&](const auto& option) {
      const auto found = options.find(option.first);
      return found == options.end() || found->second != option.second;
    });
  }
  page.fold(fmt::format("Options that all runs share: {}", common.size()));
  page.rows({common.begin(), common.end()});
  page.unfold();
}

}  // namespace

RunPage page_of(const std::vector<RunReport>& runs, const Comparison& comparison, const std::string& title,
                bool with_pictures) {
  RunPage result;
  const std::string count = fmt::format("{} runs compared", runs.size());
  Page page(title.empty() ? count : title);
  page.paragraph((title.empty() ? "" : count + ". ") +
                 std::string("Runs that differ by their seeds alone are one line."));
  page.section("Results");
  for (const TextTable& table : comparison.pivots()) {
    if (!table.caption.empty()) page.paragraph(table.caption);
    page.table(table);
  }
  if (with_pictures) {
    const auto draw = [&](const std::string& folder) { return comparison.draw(folder, {}); };
    add_pictures(page, draw, comparison.caption(), result.no_pictures);
  }
  add_privacy(page, runs, comparison);
  add_runs(page, runs, comparison);
  result.html = page.text(last_line());
  return result;
}

}  // namespace starling
