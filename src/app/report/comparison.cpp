// Runs side by side.
#include "report.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>

#include "starling/report/pictures/picture.hpp"
#include "starling/report/view/run_reading.hpp"
#include "starling/report/view/summary_view.hpp"
#include "starling/report/view/table_text.hpp"

namespace starling {

namespace {

using Cells = std::vector<std::string>;

/// A figure of a summary, as a cell.
struct FigureRow {
  const char* name;
  const char* path;
  const char* format;
  double factor = 1;
};

constexpr std::array<FigureRow, 24> figures{{{"rounds", "rounds", "{:.0f}"},
                                             {"loss, mean", "loss.mean", "{:.6f}"},
                                             {"loss, last tenth", "loss.last", "{:.6f}"},
                                             {"test loss", "metrics.test_loss", "{:.6f}"},
                                             {"accuracy", "accuracy", "{:.2f} %", 100},
                                             {"progressive accuracy", "metrics.progressive_accuracy", "{:.2f} %", 100},
                                             {"balanced accuracy", "metrics.balanced_accuracy", "{:.2f} %", 100},
                                             {"precision", "metrics.precision", "{:.2f} %", 100},
                                             {"recall", "metrics.recall", "{:.2f} %", 100},
                                             {"F1", "metrics.f1", "{:.2f} %", 100},
                                             {"specificity", "metrics.specificity", "{:.2f} %", 100},
                                             {"static regret", "regret.static", "{:.6g}"},
                                             {"static exponent", "regret.exponent.static.value", "{:.3f}"},
                                             {"dynamic regret", "regret.dynamic", "{:.6g}"},
                                             {"dynamic exponent", "regret.exponent.dynamic.value", "{:.3f}"},
                                             {"path length", "regret.path_length", "{:.6g}"},
                                             {"consensus error", "consensus_error", "{:.3e}"},
                                             {"mass", "mass", "{:.12g}"},
                                             {"epsilon per release", "privacy.epsilon_per_release", "{:.6g}"},
                                             {"epsilon", "privacy.epsilon", "{:.6g}"},
                                             {"client epsilon", "privacy.client_epsilon", "{:.6g}"},
                                             {"messages", "traffic.messages", "{:.0f}"},
                                             {"bytes", "traffic.bytes", "{:.0f}"},
                                             {"rounds/s", "time.rounds_per_second", "{:.0f}"}}};

/// Losses are unbounded where the summary says null; those of a run that goes on are not known yet.
bool is_unbounded(const SummaryView& view, const FigureRow& row) {
  const std::string path = row.path;
  const bool final = !view.has("state") || path == "privacy.epsilon_per_release";
  return final && view.learned() && path.starts_with("privacy.") && path.find("epsilon") != std::string::npos &&
         (view.has("privacy.statement") && !view.text("privacy.mechanism").empty());
}

std::string cell_of(const SummaryView& view, const FigureRow& row) {
  if (view.withholds(row.path)) return "withheld";
  const double value = row.factor * view.number(row.path);
  if (!std::isfinite(value) && is_unbounded(view, row)) return "unbounded";
  return shown(value, row.format);
}

/// The last parts of the paths, or whole paths where two runs share one.
Cells names_of(const std::vector<RunReport>& runs) {
  Cells names;
  for (const RunReport& run : runs)
    names.push_back(std::filesystem::absolute(run.path()).lexically_normal().filename().string());
  Cells sorted = names;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return names;
  names.clear();
  for (const RunReport& run : runs) names.push_back(run.path());
  return names;
}

/// Keys of which the runs have different values, but for those that say only where results go and how they are shown.
std::vector<Cells> differing_settings(const std::vector<RunReport>& runs) {
  std::vector<std::map<std::string, std::string>> all;
  std::map<std::string, int> keys;
  for (const RunReport& run : runs) {
    all.push_back(read_configuration(run.path()));
    for (const auto& [key, value] : all.back()) ++keys[key];
  }
  for (const char* key : {"output", "progress", "json", "json-models"}) keys.erase(key);
  std::vector<Cells> rows;
  for (const auto& [key, count] : keys) {
    Cells row{key};
    for (const auto& configuration : all) {
      const auto found = configuration.find(key);
      row.push_back(found == configuration.end() ? "-" : found->second);
    }
    if (std::any_of(row.begin() + 2, row.end(), [&](const std::string& cell) { return cell != row[1]; })) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<Cells> figure_table(const std::vector<RunReport>& runs) {
  std::vector<SummaryView> views;
  views.reserve(runs.size());
  for (const RunReport& run : runs) views.push_back(view_of(run));
  std::vector<Cells> rows;
  Cells states{"state"};
  for (const RunReport& run : runs) states.emplace_back(name_of(run.state()));
  rows.push_back(std::move(states));
  for (const FigureRow& figure : figures) {
    Cells row{figure.name};
    for (const SummaryView& view : views) row.push_back(cell_of(view, figure));
    const bool any = std::any_of(row.begin() + 1, row.end(), [](const std::string& cell) { return cell != "-"; });
    if (any) rows.push_back(std::move(row));
  }
  return rows;
}

void append_rows(std::string& text, const std::vector<Cells>& rows, const std::vector<std::size_t>& widths) {
  for (const Cells& row : rows) {
    for (std::size_t k = 0; k < row.size(); ++k) text += fmt::format("  {:<{}}", row[k], widths[k]);
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
}

}  // namespace

std::string comparison(const std::vector<RunReport>& runs) {
  Cells head = names_of(runs);
  head.insert(head.begin(), "");
  const std::vector<Cells> settings = differing_settings(runs);
  const std::vector<Cells> results = figure_table(runs);
  std::vector<std::size_t> widths(head.size(), 0);
  for (const auto* rows : {&settings, &results}) {
    for (const Cells& row : *rows) {
      for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max({widths[k], row[k].size(), head[k].size()});
    }
  }
  std::string text;
  append_rows(text, {head}, widths);
  if (!settings.empty()) {
    text += "\n  settings that differ\n";
    append_rows(text, settings, widths);
  }
  text += "\n  figures\n";
  append_rows(text, results, widths);
  return text;
}

std::string draw_comparison_of(const std::vector<RunReport>& runs, const std::string& folder) {
  const Cells names = names_of(runs);
  std::vector<NamedHistory> histories;
  for (std::size_t i = 0; i < runs.size(); ++i) histories.push_back({names[i], runs[i].history()});
  return draw_comparison(folder, histories);
}

}  // namespace starling
