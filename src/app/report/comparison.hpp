/// Runs side by side.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/report/report.hpp"
#include "app/report/tables.hpp"
#include "report/pictures/pictures.hpp"

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

/// The figure that a user names: by its path, by its name ("test loss"), or by the last part of its path. Throws
/// UsageError, with names that are near, for what no run has and for what could be several.
[[nodiscard]] ComparedFigure figure_named(const std::string& name, const std::vector<ComparedRun>& runs);

/// Throws UsageError, with names that are near, for a name that `figure_named` can find in no run: neither a usual
/// figure nor a key of summary.json (docs/reference/summary.md), whole or in its last part.
void require_known_figure(const std::string& name);

/// Checks that some run has the key: an option of config.ini, or a path of summary.json. Throws UsageError.
void require_key(const std::string& key, const std::vector<ComparedRun>& runs);
/// The run's value of such a key; "-" without one. An option may have a path before it: mechanism.epsilon is epsilon.
[[nodiscard]] std::string value_of(const ComparedRun& run, const std::string& key);

/// Columns of a comparison. Empty lists: the options that differ, and the usual figures.
struct ComparisonRequest {
  std::vector<std::string> by;
  std::vector<std::string> metrics;
};

/// Up to so many groups have their figures side by side, and their courses in one panel.
constexpr std::size_t most_lines_together = 8;

/// A comparison of runs. Runs whose configurations differ by their seeds alone, and by where their results go, are one
/// line.
class Comparison {
 public:
  /// Throws UsageError for keys and figures that no run has, DataError for damaged files.
  Comparison(const std::vector<RunReport>& runs, const ComparisonRequest& request);

  /// Text, CSV and Markdown have a line for each group: its keys, the number of runs, and figures. Of several runs mean
  /// ± standard deviation, unless it is 0; CSV has them in columns of their own, with all digits. LaTeX has `pivots`.
  [[nodiscard]] std::string table(TableFormat format) const;
  /// A row for each value of the first key. Of two keys or more that were asked for, a column for each value of the
  /// second, and a table for each figure; else one table with a column for each figure. Rows have further columns for
  /// what else tells groups apart.
  [[nodiscard]] std::vector<TextTable> pivots() const;
  /// All figures, one below the other, with a column for each group.
  [[nodiscard]] std::string text() const;
  /// Draws compare.svg (or .png, .pdf) and returns as RunReport::draw: figures against the first key, with panels for
  /// the values of the second, if keys were asked for or groups are many; else courses over the rounds.
  [[nodiscard]] std::string draw(const std::string& folder, PictureFormats formats) const;
  /// The caption of the picture.
  [[nodiscard]] std::string caption() const;
  [[nodiscard]] std::size_t groups() const { return groups_.size(); }
  /// "epsilon 1, topology ring-8": the options that tell this run's group from others; empty for one group.
  [[nodiscard]] std::string label_of_run(std::size_t run) const;

 private:
  using Group = std::vector<std::size_t>;  ///< indices of runs
  [[nodiscard]] TextTable cells(bool exact) const;
  [[nodiscard]] std::string cell(const Group& group, const ComparedFigure& figure) const;
  [[nodiscard]] std::string key_cell(const Group& group, const std::string& key) const;
  [[nodiscard]] std::string short_cell(const Group& group, const std::string& key) const;
  [[nodiscard]] std::vector<std::string> untold(const std::vector<std::string>& keys) const;
  [[nodiscard]] std::optional<double> number(const Group& group, const std::string& key) const;
  [[nodiscard]] std::string label(const Group& group, const std::vector<std::string>& keys) const;
  [[nodiscard]] ComparedMetric metric_of(const ComparedFigure& figure) const;
  [[nodiscard]] TextTable pivot(const std::vector<ComparedFigure>& figures) const;
  [[nodiscard]] std::vector<std::string> values(const std::string& key) const;
  [[nodiscard]] bool against_an_option() const;
  [[nodiscard]] std::string name(const Group& group) const;
  void append_exact(Cells& row, const Group& group, const ComparedFigure& figure) const;

  std::vector<ComparedRun> runs_;
  Cells names_;
  std::vector<Group> groups_;
  std::vector<std::string> differing_;  ///< options
  std::vector<std::string> by_;         ///< columns of lists: those that were asked for, or all options that differ
  bool asked_ = false;                  ///< whether keys were asked for
  std::vector<std::string> keys_;       ///< the same without options that follow from others, unless asked for
  std::vector<std::string> rest_;       ///< options that tell groups apart which the keys do not
  std::vector<ComparedFigure> figures_;
  std::vector<ComparedFigure> drawn_;  ///< those that were asked for, or the one that says most
};

}  // namespace starling
