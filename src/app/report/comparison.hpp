/// Runs side by side.
#pragma once

#include <string>
#include <vector>

#include "compared_figures.hpp"
#include "report/pictures/pictures.hpp"
#include "tables.hpp"

namespace starling {

/// Columns of a comparison. Empty lists: the options that differ, and the usual figures.
struct ComparisonRequest {
  std::vector<std::string> by;
  std::vector<std::string> metrics;
};

/// A comparison of runs. Runs whose configurations differ by their seeds alone, and by where their results go, are one
/// line.
class Comparison {
 public:
  /// Throws UsageError for keys and figures that no run has, DataError for damaged files.
  Comparison(const std::vector<RunReport>& runs, const ComparisonRequest& request);

  /// A line for each group: its keys, the number of runs, and figures. Of several runs mean ± standard deviation,
  /// unless it is 0; CSV has them in columns of their own, with all digits.
  [[nodiscard]] std::string table(TableFormat format) const;
  /// The same as cells; `exact` as in CSV.
  [[nodiscard]] TextTable cells(bool exact) const;
  /// All figures, one below the other, with a column for each group.
  [[nodiscard]] std::string text() const;
  /// Draws compare.svg (or .png, .pdf) and returns as RunReport::draw.
  [[nodiscard]] std::string draw(const std::string& folder, PictureFormats formats) const;
  [[nodiscard]] std::size_t groups() const { return groups_.size(); }

 private:
  using Group = std::vector<std::size_t>;  ///< indices of runs
  [[nodiscard]] std::string cell(const Group& group, const ComparedFigure& figure) const;
  [[nodiscard]] std::string key_cell(const Group& group, const std::string& key) const;
  [[nodiscard]] std::string label(const Group& group, std::size_t first_key) const;
  [[nodiscard]] std::string name(const Group& group) const;
  void append_exact(Cells& row, const Group& group, const ComparedFigure& figure) const;

  std::vector<ComparedRun> runs_;
  Cells names_;
  std::vector<Group> groups_;
  std::vector<std::string> differing_;  ///< options
  std::vector<std::string> by_;
  std::vector<ComparedFigure> figures_;
};

}  // namespace starling
