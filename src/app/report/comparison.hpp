/// Runs side by side: tables and pictures.
#pragma once

#include <string>
#include <vector>

#include "report/pictures/pictures.hpp"
#include "run_groups.hpp"

namespace starling {

/// Columns of a comparison. Empty lists: the options that differ, and the usual figures.
struct ComparisonRequest {
  std::vector<std::string> by;
  std::vector<std::string> metrics;
};

/// Up to so many groups have their figures side by side, and their courses in one panel.
constexpr std::size_t most_lines_together = 8;

/// A comparison of runs, with a line for each of their groups.
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
  [[nodiscard]] std::size_t groups() const { return groups_.all.size(); }
  [[nodiscard]] std::string label_of_run(std::size_t run) const { return groups_.label_of_run(run); }

 private:
  using Group = RunGroups::Group;
  [[nodiscard]] TextTable cells(bool exact) const;
  [[nodiscard]] ComparedMetric metric_of(const ComparedFigure& figure) const;
  [[nodiscard]] TextTable pivot(const std::vector<ComparedFigure>& figures) const;
  [[nodiscard]] bool against_an_option() const;
  void append_exact(Cells& row, const Group& group, ComparedFigure figure) const;

  RunGroups groups_;
  std::vector<std::string> by_;  ///< columns of lists
  std::vector<ComparedFigure> figures_;
  std::vector<ComparedFigure> drawn_;  ///< those that were asked for, or the one that says most
};

}  // namespace starling
