#include "protocol/vertical/column_scales.hpp"

#include <cmath>

namespace starling {

namespace {

constexpr double clip_of_released = 5;  // deviations
constexpr double most_of_standard =
    3;  // a deviation up to which, and from whose inverse on, a column may be standardised

/// Whether a column is standardised already, as far as octaves can tell.
bool is_standard(const FeatureMoments& moments) {
  return std::abs(moments.mean) <= 1 && moments.deviation <= most_of_standard &&
         moments.deviation * most_of_standard >= 1;
}

/// What a row counts for: of a person all records together 1.
double weight_of(const PartyRows& party, std::size_t row) {
  if (party.records_of_person.empty()) return 1;
  const std::size_t records = party.records_of_person[row];
  return records > 0 ? 1 / static_cast<double>(records) : 0;
}

}  // namespace

Secret<Columns> exact_scales(const PartyRows& party) {
  return party.rows.map([&](const Vector& rows) {
    Vector moments(2 * party.width);
    const MutableView means = MutableView(moments).first(party.width);
    const MutableView squares = MutableView(moments).last(party.width);
    double count = 0;
    for (std::size_t i = 0; i * party.columns < rows.size(); ++i) {
      const double weight = weight_of(party, i);
      if (weight == 0) continue;
      count += weight;
      for (std::size_t j = 0; j < party.width; ++j) {
        const double before = rows[i * party.columns + j] - means[j];
        means[j] += before * weight / count;
        squares[j] += weight * before * (rows[i * party.columns + j] - means[j]);
      }
    }
    for (double& each : squares) each = std::sqrt(each / count);
    return Columns(moments, 1);
  });
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
  return party.rows.map([&](const Vector& rows) {
    Counts counts(histograms.length());
    for (std::size_t i = 0; i * party.columns < rows.size(); ++i) {
      const bool first = i % party.rows_of_person == 0;  // a person's records come first in its rows
      if (first && weight_of(party, i) > 0)
        histograms.count(View(rows).subspan(i * party.columns, party.width), counts);
    }
    return counts;
  });
}

std::vector<Standardisation> scales_of_counts(View counts, double deviation) {
  std::vector<Standardisation> scales;
  for (std::size_t from = 0; from < counts.size(); from += FeatureHistograms::bins) {
    const FeatureSight sight = feature_sight(counts.subspan(from, FeatureHistograms::bins), deviation);
    if (sight.kind != FeatureSight::Kind::values || !(sight.moments.deviation > 0) || is_standard(sight.moments)) {
      scales.emplace_back();
      continue;
    }
    scales.push_back({sight.moments.mean, sight.moments.deviation, clip_of_released});
  }
  return scales;
}

void apply_scales(std::span<const Standardisation> scales, std::size_t columns, MutableView rows) {
  for (std::size_t start = 0; start < rows.size(); start += columns) {
    for (std::size_t j = 0; j < scales.size(); ++j) rows[start + j] = scales[j].of(rows[start + j]);
  }
}

}  // namespace starling
