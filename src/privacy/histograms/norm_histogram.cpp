#include "privacy/histograms/norm_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/check.hpp"
#include "privacy/noise/laplace_tail.hpp"

namespace starling {

namespace {

constexpr double bins_above_noise = 3.5;       ///< deviations of Gaussian noise
constexpr double well_above_noise = 10.0 / 7;  ///< times as much: no noise to speak of

}  // namespace

NoisyCounts::Form NormHistogram::form_of(ChargeKind noise, bool labels) {
  const std::size_t histograms = (noise == ChargeKind::laplace ? 2 : 1) + (labels ? 1 : 0);
  return {"histogram of norms", "--scale-share", "norm", histograms, bins};
}

NormHistogram::NormHistogram(ChargeKind noise, double price, std::int64_t records, bool labels)
    : NoisyCounts(form_of(noise, labels), noise, price, records), labels_(labels) {}

std::optional<std::size_t> NormHistogram::bin_of(double norm) {
  if (!(norm > 0) || !std::isfinite(norm)) return std::nullopt;
  const int exponent = std::ilogb(norm) - lowest_exponent;
  return static_cast<std::size_t>(std::clamp(exponent, 0, static_cast<int>(bins) - 1));
}

void NormHistogram::count(const RowNorms& norms, Counts& counts) const {
  if (const auto bin = bin_of(norms.l2)) ++counts[*bin];
  if (const auto bin = bin_of(norms.l1); bin && has_l1()) ++counts[bins + *bin];
  if (const auto bin = bin_of(norms.label); bin && labels_) ++counts[length() - bins + *bin];
}

double least_count(ChargeKind noise, View variances) {
  if (noise != ChargeKind::laplace) {
    return bins_above_noise * std::sqrt(std::accumulate(variances.begin(), variances.end(), 0.0));
  }
  if (variances.empty()) return 0;
  const double false_bin = std::erfc(bins_above_noise / std::numbers::sqrt2) / 2;
  // Two histograms have twice as many bins: (1 − p)² is the same as 1 − false_bin.
  return laplace_sum_quantile(variances, 1 - std::sqrt(1 - false_bin));
}

std::optional<double> typical_norm(View summed, double least, std::int64_t records) {
  check<FailureError>(summed.size() == NormHistogram::bins, "a histogram of {} bins: it has {}.", summed.size(),
                      NormHistogram::bins);
  if (static_cast<double>(records) < least) return std::nullopt;  // what stands out is noise
  const auto kept = [&](double count) { return count < least ? 0 : count; };
  double all = 0;
  for (const double count : summed) all += kept(count);
  if (!(all > 0)) return std::nullopt;
  double below = 0;
  std::size_t bin = 0;
  while (bin + 1 < summed.size() && (below += kept(summed[bin])) < all / 2) ++bin;
  return std::ldexp(1.0, NormHistogram::lowest_exponent + static_cast<int>(bin));
}

bool may_be_noise(View summed, double least, std::int64_t records) {
  double kept = 0;
  for (const double count : summed) {
    if (count >= least * well_above_noise) return false;
    kept += count < least ? 0 : count;
  }
  return kept > 0 && kept < static_cast<double>(records) / 2;
}

std::optional<double> typical_label(View summed, double least, std::int64_t records) {
  const std::optional<double> lower = typical_norm(summed, least * well_above_noise, records);
  return lower ? std::optional(2 * *lower) : std::nullopt;
}

}  // namespace starling
