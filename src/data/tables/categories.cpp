#include "categories.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/cells/keys.hpp"
#include "data/formats/readers.hpp"

namespace starling {

namespace {

/// Reads the table with one of its two columns of text as the records' key, and `value` as their feature.
std::unique_ptr<RecordReader> open_table(const std::string& path, const std::string& key, const std::string& other) {
  std::error_code ignored;
  check(std::filesystem::exists(path, ignored),
        "--encode '{}': there is no such file. Give a table of the texts of columns, of which starling data profile "
        "writes a draft.",
        path);
  ReadSettings settings;
  settings.key = key;
  settings.drop = {other};
  settings.key_as_written = true;
  auto reader = open_constants("--encode", path, settings, Part::features, {"value"});
  check<DataError>(reader != nullptr,
                   "{}: its columns are not column, category and value: --encode takes these, with a line of their "
                   "names. Correct the first line.",
                   path);
  return reader;
}

/// Category of a one-hot column that stands for all texts without a category of their own.
constexpr std::string_view any_other = "*";

/// The key of a category; its text where that is a rounded number.
std::string_view category_key(std::string_view text) {
  return key_of_text(text).value_or(text);
}

std::string listed(const std::map<std::string, double, std::less<>>& values) {
  constexpr std::size_t most = 10;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [category, value] : values) {
    if (shown++ == most) return fmt::format("{} and {} more", text, values.size() - most);
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", excerpt(category));
  }
  return text;
}

}  // namespace

Categories::Categories(const std::string& path) : path_(path) {
  showing_values([this] { read(); });
}

Categories::Categories(std::vector<CategoryColumn> columns, std::string name) : path_(std::move(name)) {
  for (CategoryColumn& column : columns) {
    columns_.push_back({std::move(column), "", "", {}});
    for (const auto& [text, value] : columns_.back().table.values)
      columns_.back().values_of_keys.emplace(category_key(text), value);
  }
}

void Categories::read() {
  const std::string& path = path_;
  require_regular(path);
  const auto columns = open_table(path, "column", "category");
  const auto categories = open_table(path, "category", "column");
  Record of_column;
  Record of_category;
  while (columns->next(of_column) && categories->next(of_category)) {
    Column& column = named(of_column.key, columns->where());
    const double value = of_column.values[0];
    if (column.table.values.empty()) column.first = of_category.key;
    const bool added = column.values_of_keys.emplace(category_key(of_category.key), value).second;
    column.table.values.emplace(of_category.key, value);
    check<DataError>(added, "{}: category '{}' of column '{}' stands there twice. Remove a line.", columns->where(),
                     excerpt(of_category.key), excerpt(of_column.key));
  }
}

Categories::Column& Categories::named(const std::string& name, const std::string& where) {
  const auto found =
      std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.table.column == name; });
  if (found != columns_.end()) return *found;
  columns_.push_back({{name, {}}, where, "", {}});
  return columns_.back();
}

std::vector<std::string> Categories::columns() const {
  std::vector<std::string> names;
  for (const Column& column : columns_) names.push_back(column.table.column);
  return names;
}

void Categories::find_in(const ColumnNames& source) {
  of_.assign(source.count, std::nullopt);
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    Column& column = columns_[k];
    std::size_t place = 0;
    try {
      place = source.find(column.table.column, "the line in " + path_);
    } catch (const UsageError& error) {
      if (column.where.empty()) continue;
      throw DataError(fmt::format("{}: {}", column.where, error.what()));
    }
    check<DataError>(!of_[place], "{}: {} of {} stands there by name and by number; keep one", column.where,
                     source.place(place), source.path);
    of_[place] = k;
    columns_[k].table.column = source.names.empty() ? std::to_string(place) : source.names[place];
  }
}

std::vector<CategoryColumn> Categories::found() const {
  std::vector<CategoryColumn> tables;
  for (std::size_t column = 0; column < of_.size(); ++column) {
    if (of_[column]) tables.push_back(columns_[*of_[column]].table);
  }
  return tables;
}

bool Categories::becomes_features(std::size_t column, const ReadSettings& settings) const {
  if (!has(column)) return false;
  return settings.constants ? one_hot(column) : settings.encoding != ReadSettings::Encoding::numbers;
}

void Categories::make_one_hot(std::size_t column, std::size_t feature, ReadSettings::Encoding encoding) {
  Column& made = columns_[*of_[column]];
  made.table.one_hot = feature;
  made.values_of_keys.clear();
  std::size_t number = 0;
  for (const auto& [text, value] : made.table.values) {
    if (encoding == ReadSettings::Encoding::reference && text == made.first) made.table.reference = number;
    made.values_of_keys.emplace(category_key(text), static_cast<double>(number++));
  }
}

bool Categories::one_hot(std::size_t column) const {
  return columns_[*of_[column]].table.one_hot.has_value();
}

std::optional<double> Categories::value(std::size_t column, std::string_view text) const {
  const auto& values = columns_[*of_[column]].values_of_keys;
  auto found = values.find(category_key(text));
  if (found == values.end() && missing_.has(text)) found = values.find("");  // the category of all missing values
  if (found == values.end() && one_hot(column) && !missing_.has(text)) found = values.find(any_other);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

void Categories::throw_unknown(std::size_t column, const std::string& where, const std::string& place,
                               std::string_view text) const {
  const std::string known = fmt::format("{} has {}", path_, listed(columns_[*of_[column]].table.values));
  const std::string what = missing_.has(text) ? "a missing value, and no category" : "a category never seen";
  const std::string remedy = missing_.has(text) ? "Add it there, fill it in, or let --missing fill in features"
                                                : "Add it there, or remove the record";
  throw RecordError(fmt::format("{}: {} is {}: {}. {}.", where, place, what, known, remedy),
                    fmt::format("{}: {} is '{}': {}: {}. {}.", where, place, excerpt(text), what, known, remedy));
}

}  // namespace starling
