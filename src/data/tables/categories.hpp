/// Categories: texts that stand for numbers, or for features of 0 and 1.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/cells/number.hpp"
#include "data/column_roles.hpp"
#include "data/constants.hpp"

namespace starling {

/// The public table `ReadSettings::encode`: a line `column,category,value`, then one for every category of a column,
/// which is told by its name or its number from 0 in the source. A column in the table is no longer read as numbers.
/// Each text of the column must be a category, even a text that looks like a number. Texts are compared as keys.
class Categories {
 public:
  /// A table without columns.
  Categories() = default;
  /// Reads the table. Throws DataError for a file that is no such table and for a repeated category.
  explicit Categories(const std::string& path);
  /// The table of a saved model, which `name` tells in messages. Its columns need not stand in a source.
  Categories(std::vector<CategoryColumn> columns, std::string name);

  /// The texts of columns that are missing values.
  void set_missing(MissingMarks marks) { missing_ = std::move(marks); }
  /// Names or numbers of the columns in the table, each once.
  [[nodiscard]] std::vector<std::string> columns() const;
  /// Finds the table's columns in a source. Throws DataError for a missing column and for two entries that mean the
  /// same column.
  void find_in(const ColumnNames& source);
  /// Whether a source's column has categories. After `find_in`.
  [[nodiscard]] bool has(std::size_t column) const { return column < of_.size() && of_[column].has_value(); }
  /// Whether the categories of a column that is a feature become features, as `settings` or a saved model say.
  [[nodiscard]] bool becomes_features(std::size_t column, const ReadSettings& settings) const;
  /// Makes `value` the number of the category in its table, from 0. `feature` is the column's place among the feature
  /// columns. The category `*` then takes all texts that are no category and not missing. As `encoding` says, the first
  /// category of the file becomes no feature.
  void make_one_hot(std::size_t column, std::size_t feature, ReadSettings::Encoding encoding);
  [[nodiscard]] bool one_hot(std::size_t column) const;
  /// Number that a text of such a column stands for; none where the text is no category.
  [[nodiscard]] std::optional<double> value(std::size_t column, std::string_view text) const;
  /// The table's columns that stand in the source. After `find_in`.
  [[nodiscard]] std::vector<CategoryColumn> found() const;
  /// Throws DataError "WHERE: PLACE is 'TEXT' (a category never seen: …) …".
  [[noreturn]] void throw_unknown(std::size_t column, const std::string& where, const std::string& place,
                                  std::string_view text) const;

 private:
  struct Column {
    CategoryColumn table;
    std::string where;       ///< its first line in the table; empty for a saved model's
    std::string first = {};  ///< its first category there
    std::map<std::string, double, std::less<>> values_of_keys;  ///< of categories that become features, their numbers
  };

  [[nodiscard]] Column& named(const std::string& name, const std::string& where);

  void read();

  std::string path_;
  MissingMarks missing_;
  std::vector<Column> columns_;
  std::vector<std::optional<std::size_t>> of_;  ///< for the source's columns, their place in columns_
};

}  // namespace starling
