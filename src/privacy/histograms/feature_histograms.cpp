#include "privacy/histograms/feature_histograms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/check.hpp"
#include "core/numerics/distributions.hpp"

namespace starling {

namespace {

constexpr double false_bins = 0.001;       ///< probability of any bin that holds noise alone
constexpr double least_counts_of_all = 8;  ///< of which all records must have so many
constexpr double least_deviation = 0.1;    ///< in root mean squares: bins are no finer
constexpr double apart = 4.0 / 3;          ///< least counts that one bin of a group must have
constexpr std::size_t nearby = 4;          ///< octaves between bins of a group, at most

constexpr double like_sizes = 8;  ///< times that a root mean square of features of one scale may be another

/// The bins of magnitude k of either sign.
std::pair<std::size_t, std::size_t> bins_of(std::size_t k) {
  return {1 + k, 1 + FeatureHistograms::magnitudes + k};
}

/// The histogram without the bins that count as empty.
Vector kept_bins(View summed, double least) {
  constexpr std::size_t none = FeatureHistograms::magnitudes;
  Vector kept(summed.begin(), summed.end());
  for (double& count : kept) count = count < least ? 0 : count;
  const auto fuller = [&](std::size_t k) { return std::max(kept[bins_of(k).first], kept[bins_of(k).second]); };
  double most = 0;
  for (std::size_t k = 0; k < none; ++k) most = std::max(most, fuller(k));
  for (std::size_t k = 0; k < none;) {
    double most_here = 0;
    std::size_t last = none;  // of this group
    for (std::size_t i = k; i < none && (last == none || i <= last + nearby); ++i) {
      if (fuller(i) == 0) continue;
      most_here = std::max(most_here, fuller(i));
      last = i;
    }
    if (last == none) break;
    for (; k <= last; ++k) {
      if (most_here < std::min(apart * least, most)) kept[bins_of(k).first] = kept[bins_of(k).second] = 0;
    }
  }
  return kept;
}

}  // namespace

NoisyCounts::Form FeatureHistograms::form_of(std::size_t features) {
  return {"histogram of features", "--feature-share", "feature", features, bins};
}

FeatureHistograms::FeatureHistograms(std::size_t features, double mu, std::int64_t records)
    : NoisyCounts(form_of(features), ChargeKind::gaussian, mu, records) {}

std::optional<std::size_t> FeatureHistograms::bin_of(double value) {
  if (value == 0) return 0;
  if (!std::isfinite(value)) return std::nullopt;
  const int exponent = std::clamp(std::ilogb(value) - lowest_exponent, 0, static_cast<int>(magnitudes) - 1);
  return static_cast<std::size_t>(exponent) + (value > 0 ? 1 : 1 + magnitudes);
}

void FeatureHistograms::count(View values, Counts& counts) const {
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (const auto bin = bin_of(values[j])) ++counts[bins * j + *bin];
  }
}

double least_count_of_features(View variances, std::size_t features) {
  const double all = static_cast<double>(2 * FeatureHistograms::magnitudes * features);
  const double z = -normal_quantile(false_bins / all);
  return z * std::sqrt(std::accumulate(variances.begin(), variances.end(), 0.0));
}

std::int64_t records_for_features(double least) {
  return static_cast<std::int64_t>(std::ceil(std::min(least_counts_of_all * least, 0x1p62)));
}

bool have_one_scale(std::span<const FeatureMoments> features) {
  double means = 0;
  double variances = 0;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const FeatureMoments& each : features) {
    means += each.mean * each.mean;
    variances += each.deviation * each.deviation;
    const double size = std::hypot(each.mean, each.deviation);
    least = std::min(least, size);
    most = std::max(most, size);
  }
  return most <= like_sizes * least && means <= variances;
}

std::optional<FeatureMoments> feature_moments(View summed, double least, std::int64_t records) {
  check<FailureError>(summed.size() == FeatureHistograms::bins, "a histogram of {} bins: it has {}.", summed.size(),
                      FeatureHistograms::bins);
  const Vector kept = kept_bins(summed, least);
  double others = 0;
  double sum = 0;
  double squares = 0;
  for (std::size_t k = 0; k < FeatureHistograms::magnitudes; ++k) {
    const double low = std::ldexp(1.0, FeatureHistograms::lowest_exponent + static_cast<int>(k));
    const double positive = kept[bins_of(k).first];
    const double negative = kept[bins_of(k).second];
    others += positive + negative;
    sum += 1.5 * low * (positive - negative);
    squares += 7.0 / 3 * low * low * (positive + negative);
  }
  if (!(others > 0)) return std::nullopt;
  const double all = others + kept[0];
  if (all < static_cast<double>(records) / 2) return FeatureMoments{0, std::sqrt(squares / others)};
  const double square = squares / all;
  const double mean = sum / all;
  return FeatureMoments{mean, std::sqrt(std::max(square - mean * mean, least_deviation * least_deviation * square))};
}

}  // namespace starling
