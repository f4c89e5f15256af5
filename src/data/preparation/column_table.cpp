#include "column_table.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/cells/number.hpp"
#include "data/formats/readers.hpp"

namespace starling {

namespace {

/// Reads the file as records whose key is the column `feature`, with the last column of numbers as the label.
std::unique_ptr<RecordReader> open_table(const std::string& path, const ColumnTableForm& form) {
  ReadSettings settings;
  settings.key = "feature";
  settings.label = form.numbers.back();
  if (form.numbers.size() == 1) settings.labels = ReadSettings::Labels::alone;
  const std::vector<std::string> others(form.numbers.begin(), form.numbers.end() - 1);
  auto reader = open_constants(form.option, path, settings, Part::records, others);
  const std::string before_last = others.empty() ? "" : ", " + others.front();
  check<DataError>(
      reader != nullptr,
      "{}: its columns are not feature{} and {}: {} takes these, with a line of their names. Correct the first line.",
      path, before_last, form.numbers.back(), form.option);
  return reader;
}

/// The feature that a name, or else a number from 0, means.
std::optional<std::size_t> feature_of(const std::string& key, const std::vector<std::string>& names,
                                      std::size_t features) {
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (names[j] == key) return j;
  }
  const ParsedNumber number = read_number(key);
  const bool whole = number.fault == NumberFault::none && number.value == std::floor(number.value);
  if (!whole || number.value < 0 || number.value >= static_cast<double>(features)) return std::nullopt;
  return static_cast<std::size_t>(number.value);
}

/// First field of the label's line in a table.
std::string label_called(const RecordReader& source) {
  return source.label_name().empty() ? "label" : source.label_name();
}

bool is_ambiguous(const std::string& name, const std::vector<std::string>& names) {
  return std::ranges::count(names, name) > 1;
}

/// A few of the columns of numbers without a line.
std::string columns_without_line(const ColumnTable& table, const PublicConstants& source) {
  constexpr std::size_t most = 20;
  std::vector<std::string> missing;
  for (std::size_t j = 0; j < table.features.size(); ++j) {
    if (table.features[j] || source.one_hot(j) != nullptr) continue;
    const bool ambiguous = !source.columns.empty() && is_ambiguous(source.columns[j], source.columns);
    missing.push_back(ambiguous ? fmt::format("{} (of several called '{}': give its number)", j, source.columns[j])
                                : shown_column(j, source.columns));
  }
  const std::size_t more = missing.size() > most ? missing.size() - most : 0;
  missing.resize(missing.size() - more);
  return fmt::format("{}{}", fmt::join(missing, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

/// Puts a line into its place in the table.
void take_line(const std::string& where, const Record& record, const ColumnTableForm& form, const RecordReader& source,
               const PublicConstants& constants, ColumnTable& table) {
  const std::size_t features = table.features.size();
  const std::string label = label_called(source);
  const auto j = feature_of(record.key, constants.columns, features);
  check<DataError>(j || record.key == label,
                   "{}: the source has no feature '{}': it has {}; features have names, or numbers from 0 as `data "
                   "describe` shows them, and the label is '{}'. Remove the line.",
                   where, excerpt(record.key), features, excerpt(label));
  check<DataError>(j || form.why_no_label.empty(), "{}: a line for the label '{}': {}. Remove the line.", where,
                   excerpt(label), form.why_no_label);
  check<DataError>(!j || constants.one_hot(*j) == nullptr,
                   "{}: column '{}' has a feature of 0 and 1 for each category: --encode onehot:. Remove the line.",
                   where, excerpt(record.key));
  std::optional<ColumnLine>& line = j ? table.features[*j] : table.label;
  check<DataError>(
      !line || !is_ambiguous(record.key, constants.columns),
      "{}: several features are called '{}', and the name means the first. Give the others' numbers, from 0.", where,
      excerpt(record.key));
  check<DataError>(!line, "{}: {} '{}' stands there twice. Remove a line.", where, j ? "feature" : "the label",
                   excerpt(record.key));
  line = ColumnLine{record.values.empty() ? record.label : record.values[0], record.label};
  form.check_line(where, *line);
}

}  // namespace

std::string shown_column(std::size_t column, const std::vector<std::string>& names) {
  return names.empty() ? std::to_string(column) : fmt::format("'{}'", names[column]);
}

ColumnTable read_column_table(const std::string& path, const ColumnTableForm& form, const RecordReader& source) {
  const PublicConstants constants = source.constants();
  ColumnTable table;
  table.features.resize(constants.features);
  showing_values([&] {
    const auto reader = open_table(path, form);
    Record record;
    while (reader->next(record)) take_line(reader->where(), record, form, source, constants, table);
  });
  const std::string missing = columns_without_line(table, constants);
  check<DataError>(missing.empty(), "{}: no constants for feature {}: every feature needs a line; {}. Add them.", path,
                   missing, form.hint);
  return table;
}

}  // namespace starling
