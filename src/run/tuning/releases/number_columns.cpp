#include "number_columns.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include <fmt/ranges.h>

namespace starling {

namespace {

constexpr std::size_t most_named = 5;

/// A column with its range, as ranks exchange it.
void append_column(std::vector<std::int64_t>& words, std::size_t column, const Standardisation& range) {
  words.insert(words.end(), {static_cast<std::int64_t>(column), std::bit_cast<std::int64_t>(range.mean),
                             std::bit_cast<std::int64_t>(range.deviation), std::bit_cast<std::int64_t>(range.limit)});
}

/// Takes the columns of the first rank that has records; the label's is the last.
void take_columns(NumberColumns& columns, const std::vector<std::int64_t>& words) {
  for (std::size_t at = 0; at < words.size(); at += 4) {
    columns.column_of.push_back(static_cast<std::size_t>(words[at]));
    columns.ranges.push_back({std::bit_cast<double>(words[at + 1]), std::bit_cast<double>(words[at + 2]),
                              std::bit_cast<double>(words[at + 3])});
  }
  columns.source_columns = columns.column_of.back();
  columns.column_of.pop_back();
  columns.label_range = columns.ranges.back();
  columns.ranges.pop_back();
}

}  // namespace

NumberColumns number_columns(const TuningTerms& run) {
  NumberColumns columns;
  std::vector<std::int64_t> here;
  if (const auto& constants = run.inputs.dataset.constants) {
    const std::vector<Standardisation>& ranges = constants->standardisation;
    const std::vector<ColumnFeature> made = constants->made_features();
    for (std::size_t j = 0; j < made.size(); ++j) {
      if (made[j].kind != ColumnFeature::Kind::value) continue;
      columns.features.push_back(j);
      append_column(here, made[j].column, ranges.empty() ? Standardisation() : ranges[made[j].column]);
    }
    append_column(here, constants->features, constants->label_standardisation.value_or(Standardisation()));
  }
  for (const std::vector<std::int64_t>& each : run.agreement.all_gather(declare_public(std::move(here)))) {
    if (columns.source_columns == 0 && !each.empty()) take_columns(columns, each);
  }
  const std::vector<std::string>& names = run.inputs.dataset.shape.names;
  for (const std::size_t column : columns.column_of) {
    const bool has_name = names.size() == columns.source_columns;
    columns.names.push_back(has_name ? names[column] : fmt::format("{}", column));
  }
  return columns;
}

bool NumberColumns::all_have_ranges() const {
  return std::all_of(ranges.begin(), ranges.end(), [](const Standardisation& each) { return each.is_clipped(); });
}

std::string NumberColumns::some_of(const std::vector<std::size_t>& columns) const {
  const std::size_t count = std::min(columns.size(), most_named);
  std::vector<std::string> some;
  for (std::size_t k = 0; k < count; ++k) some.push_back(names[columns[k]]);
  return fmt::format("{}{}", fmt::join(some, ", "),
                     columns.size() > count ? fmt::format(" and {} more", columns.size() - count) : "");
}

}  // namespace starling
