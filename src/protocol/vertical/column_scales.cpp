#include "protocol/vertical/column_scales.hpp"

#include <cmath>
#include <optional>

namespace starling {

namespace {

constexpr double clip_of_released = 5;  // deviations
// Deviations of the noise from which a bin is taken for records: of 129 bins noise alone has one in 2,000 columns.
constexpr double least_of_bin = 4.5;
// The size and the mean of a column that may be standardised: of a long tail the histogram shows the bulk, which is
// smaller.
constexpr double least_standard = 0.125;
constexpr double most_standard = 3;
constexpr double most_standard_mean = 1.5;

/// Whether a column is standardised already, as far as octaves can tell.
bool is_standard(const FeatureMoments& moments) {
  const double size = std::hypot(moments.mean, moments.deviation);
  return std::abs(moments.mean) <= most_standard_mean && size >= least_standard && size <= most_standard;
}

/// The moments of values that lie evenly in the bins with at least so many of them; none where all of these are 0, or
/// there are none.
std::optional<FeatureMoments> moments_of_bins(View counts, double least) {
  double all = counts[0] >= least ? counts[0] : 0;
  double sum = 0;
  double squares = 0;
  for (std::size_t k = 0; k < FeatureHistograms::magnitudes; ++k) {
    const double low = std::ldexp(1.0, FeatureHistograms::lowest_exponent + static_cast<int>(k));
    for (const double sign : {1.0, -1.0}) {
      const double count = counts[1 + k + (sign < 0 ? FeatureHistograms::magnitudes : 0)];
      if (count < least) continue;
      all += count;
      sum += sign * 1.5 * low * count;
      squares += 7.0 / 3 * low * low * count;
    }
  }
  if (squares == 0) return std::nullopt;
  const double mean = sum / all;
  return FeatureMoments{mean, std::sqrt(squares / all - mean * mean)};
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
    const std::optional<FeatureMoments> seen =
        moments_of_bins(counts.subspan(from, FeatureHistograms::bins), deviation * least_of_bin);
    if (!seen || is_standard(*seen)) {
      scales.emplace_back();
      continue;
    }
    scales.push_back({seen->mean, seen->deviation, clip_of_released});
  }
  return scales;
}

void apply_scales(std::span<const Standardisation> scales, std::size_t columns, MutableView rows) {
  for (std::size_t start = 0; start < rows.size(); start += columns) {
    for (std::size_t j = 0; j < scales.size(); ++j) rows[start + j] = scales[j].of(rows[start + j]);
  }
}

}  // namespace starling
