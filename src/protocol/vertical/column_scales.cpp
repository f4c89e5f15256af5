#include "protocol/vertical/column_scales.hpp"

#include <algorithm>
#include <cmath>

#include "privacy/histograms/range_histograms.hpp"

namespace starling {

namespace {

constexpr double clip_of_released = 5;  // deviations
constexpr double least_standard = 0.6;
constexpr double most_standard = 1.8;
constexpr double most_standard_mean = 0.5;
constexpr double smallest_shown = 0x1p-19;  // octaves show no smaller values
constexpr double most_of_one_size = 4;      // a mean of so many deviations: of values in one octave

/// Whether a column is standardised already, as far as octaves can tell.
bool is_standard(const FeatureMoments& moments) {
  return std::abs(moments.mean) <= most_standard_mean && moments.deviation >= least_standard &&
         moments.deviation <= most_standard;
}

/// What a row counts for: of a person all records together 1.
double weight_of(const PartyRows& party, std::size_t row) {
  if (party.records_of_person.empty()) return 1;
  const std::size_t records = party.records_of_person[row];
  return records > 0 ? 1 / static_cast<double>(records) : 0;
}

/// The numbers of a row that are standardised.
void take_values(const PartyRows& party, const Vector& rows, const Vector& labels, std::size_t row, Vector& values) {
  const View own = View(rows).subspan(row * party.columns, party.columns);
  for (std::size_t j = 0; j < party.numbers.size(); ++j) values[j] = own[party.numbers[j]];
  if (party.has_numbers) values.back() = labels[row];
}

/// Counts made of the numbers of each row that counts: of a person of its first record, which stands first in its rows.
template <typename Count>
Secret<Counts> counted_rows(const PartyRows& party, std::size_t length, const Count& count) {
  Secret<Counts> counted;
  const auto count_all = [&](Counts& counts, const Vector& rows, const Vector& labels) {
    counts.assign(length, 0);
    Vector values(party.scaled());
    for (std::size_t i = 0; i * party.columns < rows.size(); ++i) {
      const bool first = i % party.rows_of_person == 0;
      if (!first || weight_of(party, i) == 0) continue;
      take_values(party, rows, labels, i, values);
      count(values, counts);
    }
  };
  counted.update(count_all, party.rows, party.labels);
  return counted;
}

}  // namespace

Secret<Columns> exact_scales(const PartyRows& party) {
  Secret<Columns> scales;
  const auto moments_of = [&](Columns& found, const Vector& rows, const Vector& labels) {
    Vector moments(2 * party.scaled());
    const MutableView means = MutableView(moments).first(party.scaled());
    const MutableView squares = MutableView(moments).last(party.scaled());
    Vector values(party.scaled());
    Vector counts(party.scaled());
    for (std::size_t i = 0; i * party.columns < rows.size(); ++i) {
      const double weight = weight_of(party, i);
      if (weight == 0) continue;
      take_values(party, rows, labels, i, values);
      for (std::size_t j = 0; j < values.size(); ++j) {
        if (std::isnan(values[j])) continue;
        counts[j] += weight;
        const double before = values[j] - means[j];
        means[j] += before * weight / counts[j];
        squares[j] += weight * before * (values[j] - means[j]);
      }
    }
    for (std::size_t j = 0; j < squares.size(); ++j) squares[j] = std::sqrt(squares[j] / counts[j]);
    found = Columns(moments, 1);
  };
  scales.update(moments_of, party.rows, party.labels);
  return scales;
}

std::vector<Standardisation> scales_of_moments(View means_and_deviations) {
  const std::size_t width = means_and_deviations.size() / 2;
  std::vector<Standardisation> scales;
  for (std::size_t j = 0; j < width; ++j) {
    const double mean = means_and_deviations[j];
    const double deviation = means_and_deviations[width + j];
    const bool varies = std::isfinite(deviation) && deviation > 1e-12 * std::abs(mean);
    scales.push_back({std::isfinite(mean) ? mean : 0, varies ? deviation : 1});
  }
  return scales;
}

Secret<Counts> column_counts(const FeatureHistograms& histograms, const PartyRows& party) {
  return counted_rows(party, histograms.length(),
                      [&](const Vector& values, Counts& counts) { histograms.count(values, counts); });
}

ColumnSights::ColumnSights(View counts, double deviation) {
  for (std::size_t from = 0; from < counts.size(); from += FeatureHistograms::bins) {
    Column column{feature_sight(counts.subspan(from, FeatureHistograms::bins), deviation)};
    const FeatureSight& sight = column.sight;
    if (sight.kind == FeatureSight::Kind::values) {
      const double mean = std::abs(sight.moments.mean);
      column.is_far = sight.range.low > 0 || sight.range.high < 0;
      column.is_resolved =
          mean <= most_of_one_size * sight.moments.deviation && mean + sight.moments.deviation > smallest_shown;
    }
    columns_.push_back(column);
  }
}

std::vector<ValueRange> ColumnSights::ranges() const {
  std::vector<ValueRange> ranges;
  for (const Column& column : columns_) {
    if (column.is_far) ranges.push_back(column.sight.range);
  }
  return ranges;
}

Secret<Counts> ColumnSights::counts_within(const RangeHistograms& histograms, const PartyRows& party) const {
  return counted_rows(party, histograms.length(), [&](const Vector& values, Counts& counts) {
    Vector far;
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (columns_[j].is_far) far.push_back(values[j]);
    }
    histograms.count(far, counts);
  });
}

void ColumnSights::look_within(View counts, double deviation, std::size_t contributors) {
  std::size_t from = 0;
  for (Column& column : columns_) {
    if (!column.is_far) continue;
    const std::optional<RangeSight> found =
        sight_within(counts.subspan(from, RangeHistograms::bins), column.sight.range, deviation,
                     static_cast<std::int64_t>(contributors));
    from += RangeHistograms::bins;
    if (!found) continue;
    column.sight.moments = found->moments;
    column.is_resolved = found->resolved;
  }
}

std::vector<Standardisation> ColumnSights::scales() const {
  std::vector<Standardisation> scales;
  for (const Column& column : columns_) {
    const FeatureSight& sight = column.sight;
    if (sight.kind == FeatureSight::Kind::values && !is_standard(sight.moments)) {
      scales.push_back({sight.moments.mean, sight.moments.deviation, clip_of_released});
    } else {
      scales.emplace_back();
    }
  }
  return scales;
}

std::vector<std::size_t> ColumnSights::unresolved() const {
  std::vector<std::size_t> unresolved;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    if (!columns_[j].is_resolved) unresolved.push_back(j);
  }
  return unresolved;
}

void apply_scales(std::span<const Standardisation> scales, std::size_t columns, MutableView rows) {
  for (std::size_t start = 0; start < rows.size(); start += columns) {
    for (std::size_t j = 0; j < columns; ++j) {
      double& value = rows[start + j];
      if (j < scales.size()) value = scales[j].of(value);
      if (std::isnan(value)) value = 0;
    }
  }
}

}  // namespace starling
