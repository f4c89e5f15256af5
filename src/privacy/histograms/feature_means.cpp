#include "privacy/histograms/feature_means.hpp"

#include <algorithm>
#include <cmath>

namespace starling {

namespace {

constexpr double variance_of_means = 1.0 / 3;  ///< evenly in −1 … 1
constexpr double variance_of_values = 0.09;    ///< about their mean

}  // namespace

NoisyCounts::Form FeatureMeans::form_of(std::size_t features) {
  return {"means of features", "--feature-share", "means", features, 1, 1, true};
}

FeatureMeans::FeatureMeans(std::size_t features, double mu, std::int64_t records)
    : NoisyCounts(form_of(features), ChargeKind::gaussian, mu, records) {}

void FeatureMeans::add(View values, Counts& sums) {
  for (std::size_t j = 0; j < values.size(); ++j) {
    const double value = std::isnan(values[j]) ? 0 : std::clamp(values[j], -1.0, 1.0);
    sums[j] += static_cast<std::int64_t>(std::floor((value + 1) / 2 * static_cast<double>(most_of_sum)));
  }
}

MeansWithinRanges means_within_ranges(View summed, double deviation, std::int64_t records) {
  const double of_unit = 2 / static_cast<double>(records);
  const double noise = deviation * of_unit * deviation * of_unit;
  const double kept = variance_of_means / (variance_of_means + noise);
  MeansWithinRanges found;
  for (const double each : summed) found.means.push_back(std::clamp(kept * (each * of_unit - 1), -1.0, 1.0));
  found.deviation = std::sqrt(variance_of_values + kept * noise);
  return found;
}

}  // namespace starling
