/// Runs as comparisons read them: figures of their summaries, and keys of their configurations with values.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/report/report.hpp"

namespace starling {

/// A figure of a summary, and how it is written.
struct ComparedFigure {
  std::string name;
  std::string path;  ///< in summary.json
  std::string format = "{:.6g}";
  double factor = 1;
};

/// The figures that a comparison shows unless others are asked for.
[[nodiscard]] const std::vector<ComparedFigure>& usual_figures();

/// A run with what comparisons read of it.
struct ComparedRun {
  explicit ComparedRun(const RunReport& of);
  RunReport report;
  SummaryView view;
  std::map<std::string, std::string> configuration;  ///< with `lost`, `join` and `rewire` where its clients changed
  std::set<std::string> chosen;                      ///< options that --tuning auto chose, perhaps by private records
  std::map<std::string, std::string> values;         ///< numbers, texts and flags of summary.json by path, as text
};

/// The figure as text: "withheld", "unbounded", "-" where it is unknown.
[[nodiscard]] std::string cell_of(const SummaryView& view, const ComparedFigure& figure);

/// The usual figure at this path, or one that is named by it.
[[nodiscard]] ComparedFigure figure_at(const std::string& path);

/// The figure that a user names: by its path, by its name ("test loss"), or by the last part of its path. Throws
/// UsageError, with names that are near, for what no run has and for what could be several.
[[nodiscard]] ComparedFigure figure_named(const std::string& name, const std::vector<ComparedRun>& runs);

/// Throws UsageError, with names that are near, for a name that `figure_named` can find in no run: neither a usual
/// figure nor a key of summary.json (docs/reference/summary.md), whole or in its last part.
void require_known_figure(const std::string& name);

/// The figure without a unit in its cells, for tables that have it in the heading.
[[nodiscard]] ComparedFigure without_unit(ComparedFigure figure);
/// The figure's heading in such a table.
[[nodiscard]] std::string heading_of(const ComparedFigure& figure);
/// Whether a cell has a number.
[[nodiscard]] bool is_known(const std::string& cell);

/// The key that a user names: an option of config.ini, also with _ for - or by its last part (`epsilon` for
/// total-epsilon), or a path of summary.json. Throws UsageError, with names that are near, for what no run has.
[[nodiscard]] std::string key_named(const std::string& name, const std::vector<ComparedRun>& runs);
/// The run's value of such a key; "-" without one. An option may have a path before it: mechanism.epsilon is epsilon.
[[nodiscard]] std::string value_of(const ComparedRun& run, const std::string& key);

}  // namespace starling
