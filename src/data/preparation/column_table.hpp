/// Tables of public constants with a line for each feature column.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "data/source.hpp"

namespace starling {

/// Numbers of a line; a table with one column of numbers has it as `last`.
struct ColumnLine {
  double first = 0;
  double last = 0;
};

/// Form of a table.
struct ColumnTableForm {
  std::string option;                ///< that names the file
  std::vector<std::string> numbers;  ///< names of the columns beside `feature`: one or two
  std::string hint;                  ///< clause for a feature without a line: what may stand there
  /// Throws DataError for the numbers of the line at `where` that break the table's rule.
  void (*check_line)(const std::string& where, const ColumnLine& line);
  /// Clause that says why the label has no line; empty where it may have one.
  std::string why_no_label = {};
};

/// Lines of a table.
struct ColumnTable {
  std::vector<std::optional<ColumnLine>> features;  ///< one per feature column; none of a one-hot column
  std::optional<ColumnLine> label;
};

/// Reads the table `feature,…` of the columns of `source`: features have names, or numbers from 0, and the label's line
/// has its column's name, else `label`. Throws UsageError for a file that cannot be opened. Throws DataError for a file
/// that is no such table, for a feature without a line or with two, and for a line without a feature.
[[nodiscard]] ColumnTable read_column_table(const std::string& path, const ColumnTableForm& form,
                                            const RecordReader& source);

/// "'age'", or the number of a feature column without a name.
[[nodiscard]] std::string shown_column(std::size_t column, const std::vector<std::string>& names);

}  // namespace starling
