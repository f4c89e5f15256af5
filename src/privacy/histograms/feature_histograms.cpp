#include "privacy/histograms/feature_histograms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/check.hpp"

namespace starling {

namespace {

constexpr std::size_t widest = 6;        ///< octaves of a window
constexpr std::size_t least_usual = 13;  ///< magnitudes of 2^-7 …
constexpr std::size_t most_usual = 41;   ///< … 2^21: beyond, values are few, and noise is likelier
constexpr double doubt = 2;              ///< deviations by which windows beyond must stand out more
constexpr std::size_t nearby = 4;        ///< octaves from a window to bins that belong to it, at most
constexpr double noticed = 4.5;          ///< deviations of a bin beside a window that belongs to it
constexpr double part_far_away = 0.02;   ///< of the window's records, from which a bin far away belongs to it too
constexpr double least_in_window = 1;    ///< likewise of a bin inside
constexpr double least_of_zeros = 2;     ///< likewise of the bin of zeros, beside others
constexpr double least_deviation = 0.1;  ///< in root mean squares: bins are no finer
constexpr double like_sizes = 8;         ///< times that a root mean square of features of one scale may be another

/// The bins of magnitude k of either sign.
std::pair<std::size_t, std::size_t> bins_of(std::size_t k) {
  return {1 + k, 1 + FeatureHistograms::magnitudes + k};
}

/// Consecutive octaves of one sign, or of both.
struct OctaveWindow {
  std::size_t first = 0;
  std::size_t last = 0;  ///< one past the end
  bool positive = true;
  bool negative = true;
  double count = 0;
  double signal = 0;  ///< the same in deviations of the noise on it
};

/// The window of most signal: values that are spread over several bins stand out of noise where none of these does.
OctaveWindow fullest_window(View summed, double deviation) {
  OctaveWindow fullest;
  const auto look = [&](std::size_t first, std::size_t width, bool positive, bool negative, double count) {
    const auto bins = static_cast<double>(width * (positive && negative ? 2 : 1));
    const bool usual = first >= least_usual && first + width <= most_usual;
    const double signal = count / (deviation * std::sqrt(bins)) - (usual ? 0 : doubt);
    if (signal > fullest.signal) fullest = {first, first + width, positive, negative, count, signal};
  };
  for (std::size_t first = 0; first < FeatureHistograms::magnitudes; ++first) {
    double positive = 0;
    double negative = 0;
    for (std::size_t width = 1; width <= std::min(widest, FeatureHistograms::magnitudes - first); ++width) {
      positive += summed[bins_of(first + width - 1).first];
      negative += summed[bins_of(first + width - 1).second];
      look(first, width, true, false, positive);
      look(first, width, false, true, negative);
      look(first, width, true, true, positive + negative);
    }
  }
  return fullest;
}

/// The values of a window, with half as much again, and zero where that stands out beside them.
ValueRange range_of(const OctaveWindow& window, bool has_zeros) {
  const auto bound = [](std::size_t k) {
    return std::ldexp(1.0, FeatureHistograms::lowest_exponent + static_cast<int>(k));
  };
  const double high = bound(window.last);
  const double low = window.positive && window.negative ? -high : bound(window.first);
  const double more = (high - low) / 4;
  const ValueRange range =
      window.positive ? ValueRange{low - more, high + more} : ValueRange{-high - more, -low + more};
  return has_zeros ? ValueRange{std::min(range.low, 0.0), std::max(range.high, 0.0)} : range;
}

/// The histogram without the bins that count as empty, given where its values are.
Vector kept_bins(View summed, double deviation, const OctaveWindow& window) {
  Vector kept(summed.size(), 0.0);
  if (summed[0] >= least_of_zeros * deviation) kept[0] = summed[0];
  for (std::size_t k = 0; k < FeatureHistograms::magnitudes; ++k) {
    const bool inside = k >= window.first && k < window.last;
    const bool beside = k + nearby >= window.first && k < window.last + nearby;
    const auto keep = [&](std::size_t bin, bool sign) {
      const double least = inside && sign ? least_in_window * deviation
                           : beside       ? noticed * deviation
                                          : std::max(noticed * deviation, part_far_away * window.count);
      if (summed[bin] >= least) kept[bin] = summed[bin];
    };
    keep(bins_of(k).first, window.positive);
    keep(bins_of(k).second, window.negative);
  }
  return kept;
}

/// FeatureSight::known of a histogram, by its bins that are not empty.
ValueRange known_of(View kept) {
  ValueRange known{infinity, -infinity};
  const auto take = [&known](double low, double high) {
    known = {std::min(known.low, high), std::max(known.high, low)};
  };
  if (kept[0] > 0) take(0, 0);
  for (std::size_t k = 0; k < FeatureHistograms::magnitudes; ++k) {
    const double low = std::ldexp(1.0, FeatureHistograms::lowest_exponent + static_cast<int>(k));
    if (kept[bins_of(k).first] > 0) take(low, 2 * low);
    if (kept[bins_of(k).second] > 0) take(-2 * low, -low);
  }
  return known;
}

}  // namespace

NoisyCounts::Form FeatureHistograms::form_of(std::size_t features, std::size_t weight) {
  return {"histogram of features", "--feature-share", "feature", features, bins, weight};
}

FeatureHistograms::FeatureHistograms(std::size_t features, double mu, std::int64_t records, std::size_t weight)
    : NoisyCounts(form_of(features, weight), ChargeKind::gaussian, mu, records),
      weight_(static_cast<std::int64_t>(weight)) {}

std::optional<std::size_t> FeatureHistograms::bin_of(double value) {
  if (value == 0) return 0;
  if (!std::isfinite(value)) return std::nullopt;
  const int exponent = std::clamp(std::ilogb(value) - lowest_exponent, 0, static_cast<int>(magnitudes) - 1);
  return static_cast<std::size_t>(exponent) + (value > 0 ? 1 : 1 + magnitudes);
}

Vector FeatureHistograms::counts_of_classes(View summed, std::size_t classes) {
  const View counts = summed.subspan(bin_of(1).value(), classes);
  return {counts.begin(), counts.end()};
}

void FeatureHistograms::count(View values, Counts& counts) const {
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (const auto bin = bin_of(values[j])) counts[bins * j + *bin] += j + 1 == histograms() ? weight_ : 1;
  }
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

FeatureSight feature_sight(View summed, double deviation, double least) {
  check<FailureError>(summed.size() == FeatureHistograms::bins, "a histogram of {} bins: it has {}.", summed.size(),
                      FeatureHistograms::bins);
  const OctaveWindow window = fullest_window(summed, deviation);
  if (window.last == 0 || window.signal < least) {
    if (summed[0] < least * deviation) return {};
    FeatureSight zeros{FeatureSight::Kind::zeros};
    zeros.others = least * deviation / summed[0];
    return zeros;
  }
  const Vector kept = kept_bins(summed, deviation, window);
  double all = kept[0];
  double sum = 0;
  double squares = 0;
  for (std::size_t k = 0; k < FeatureHistograms::magnitudes; ++k) {
    const double low = std::ldexp(1.0, FeatureHistograms::lowest_exponent + static_cast<int>(k));
    const double positive = kept[bins_of(k).first];
    const double negative = kept[bins_of(k).second];
    all += positive + negative;
    sum += 1.5 * low * (positive - negative);
    squares += 7.0 / 3 * low * low * (positive + negative);
  }
  const double square = squares / all;
  const double mean = sum / all;
  const double variance = std::max(square - mean * mean, least_deviation * least_deviation * square);
  return {FeatureSight::Kind::values,
          {mean, std::sqrt(variance)},
          range_of(window, summed[0] >= noticed * deviation),
          known_of(kept)};
}

}  // namespace starling
