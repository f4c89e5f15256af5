/// Roles of the columns of a dense source: feature, label, id, key or none.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "data/constants.hpp"
#include "data/settings.hpp"

namespace starling {

/// The columns of a file, for choosing among them and for messages.
struct ColumnNames {
  std::string path;
  std::size_t count = 0;
  std::vector<std::string> names;  ///< one per column, or none
  bool row_names = false;          ///< whether the first column names rows: it is no feature

  /// "column 'age'" or "column 3 (from 0)".
  [[nodiscard]] std::string place(std::size_t column) const;
  /// Clause that lists the columns.
  [[nodiscard]] std::string list() const;
  /// Whether a name, or else a number from 0, means a column.
  [[nodiscard]] bool has(const std::string& wanted) const;
  /// Column that a name, or else a number from 0, means. Throws UsageError where no column or two columns match.
  /// `option` is the option with the name.
  [[nodiscard]] std::size_t find(const std::string& wanted, const std::string& option) const;
};

/// Column that the number `wanted` means; none if `wanted` is not a number below `count`.
[[nodiscard]] std::optional<std::size_t> column_number(const std::string& wanted, std::size_t count);

/// Whether every record must have a label.
[[nodiscard]] inline bool needs_labels(const ReadSettings& settings) {
  return settings.labels == ReadSettings::Labels::required || settings.labels == ReadSettings::Labels::alone;
}

/// The label's column if `ReadSettings::label` is empty.
enum class DefaultLabel {
  named_or_last,  ///< the first column called y or label in any case, else the last, of those with no other use
  beside,         ///< no column: the source keeps labels beside its columns, under the name y
  none,           ///< no column, unless labels are optional: then the one that is called y or label
};

struct ColumnRoles {
  std::optional<std::size_t> label;
  bool labels_beside = false;  ///< whether the labels that the source keeps beside its columns are those to read
  std::optional<std::size_t> key;
  std::vector<std::size_t> features;  ///< ascending
};

/// Resolves `label`, `id`, `drop` and `key`, and finds the feature columns of `constants` by name. Throws UsageError
/// for missing columns, for a column with two uses and where no feature is left. A key may have another use, because a
/// key is only read.
[[nodiscard]] ColumnRoles choose_columns(const ColumnNames& columns, const ReadSettings& settings,
                                         DefaultLabel default_label);

/// The places of wanted names among others, the first of equal names for the first that is wanted; names.size() for a
/// name that is not there as often.
[[nodiscard]] std::vector<std::size_t> places_of(const std::vector<std::string>& wanted,
                                                 const std::vector<std::string>& names);
/// Names of the feature columns; none where the columns have none.
[[nodiscard]] std::vector<std::string> feature_names(const ColumnNames& columns, const ColumnRoles& roles);

/// Refuses a `--dimension` that is not `features`, with UsageError.
void check_dense_dimension(const std::string& path, const ReadSettings& settings, std::size_t features);

/// Refuses options on columns, with UsageError "PATH: --OPTION: WHY. Leave it out.".
void refuse_column_options(const std::string& path, const ReadSettings& settings, const std::string& why);

/// Refuses options on delimited text, for all other formats.
void refuse_text_options(const std::string& path, const ReadSettings& settings);

}  // namespace starling
