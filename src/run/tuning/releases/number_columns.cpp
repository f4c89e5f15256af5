#include "number_columns.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include <fmt/ranges.h>

#include "run/inputs/inputs.hpp"

namespace starling {

namespace {

constexpr std::size_t most_named = 5;

/// A feature with its column and range, as ranks exchange it.
void append_column(std::vector<std::int64_t>& words, std::size_t feature, std::size_t column,
                   const Standardisation& range) {
  words.insert(words.end(), {static_cast<std::int64_t>(feature), static_cast<std::int64_t>(column),
                             std::bit_cast<std::int64_t>(range.mean), std::bit_cast<std::int64_t>(range.deviation),
                             std::bit_cast<std::int64_t>(range.limit)});
}

/// Takes the columns of a rank that has records; the label's is the last.
void take_columns(NumberColumns& columns, const std::vector<std::int64_t>& words) {
  for (std::size_t at = 0; at < words.size(); at += 5) {
    columns.features.push_back(static_cast<std::size_t>(words[at]));
    columns.column_of.push_back(static_cast<std::size_t>(words[at + 1]));
    columns.ranges.push_back({std::bit_cast<double>(words[at + 2]), std::bit_cast<double>(words[at + 3]),
                              std::bit_cast<double>(words[at + 4])});
  }
  columns.source_columns = columns.column_of.back();
  columns.label_range = columns.ranges.back();
  columns.features.pop_back();
  columns.column_of.pop_back();
  columns.ranges.pop_back();
}

}  // namespace

NumberColumns number_columns(const TuningTerms& run) {
  std::vector<std::int64_t> here;
  if (const auto& constants = run.inputs.dataset.constants) {
    const std::vector<Standardisation>& ranges = constants->standardisation;
    const std::vector<ColumnFeature> made = constants->made_features();
    for (std::size_t j = 0; j < made.size(); ++j) {
      if (made[j].kind != ColumnFeature::Kind::value) continue;
      append_column(here, j, made[j].column, ranges.empty() ? Standardisation() : ranges[made[j].column]);
    }
    append_column(here, made.size(), constants->features, constants->label_standardisation.value_or(Standardisation()));
  }
  NumberColumns columns;
  for (const std::vector<std::int64_t>& each : run.agreement.all_gather(declare_public(std::move(here)))) {
    if (columns.source_columns == 0 && !each.empty()) take_columns(columns, each);
  }
  const std::vector<std::string>& names = run.inputs.dataset.shape.names;
  for (std::size_t k = 0; k < columns.count(); ++k) {
    const std::size_t feature = columns.features[k];
    columns.names.push_back(feature < names.size() ? names[feature] : fmt::format("{}", columns.column_of[k]));
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
