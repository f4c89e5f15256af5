#include "starling/privacy/mechanism/norm_histogram.hpp"

#include "privacy/noise/laplace_tail.hpp"
#include "privacy/parts.hpp"
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "starling/core/check.hpp"
#include "starling/privacy/noise/grid.hpp"

namespace starling {

namespace {

constexpr std::int64_t gaussian_unit = std::int64_t{1} << 20;
constexpr double laplace_scale = static_cast<double>(std::int64_t{1} << laplace_scale_bits);
constexpr double bins_above_noise = 3.5;  ///< deviations of Gaussian noise

/// What a record moves so many histograms by in L1, in counts.
double moved(std::size_t histograms) {
  return 2 * static_cast<double>(histograms);
}

/// √(2H)·2^20, rounded up.
double gaussian_sensitivity(std::size_t histograms) {
  return std::nextafter(std::sqrt(moved(histograms)) * static_cast<double>(gaussian_unit), 1e300);
}

/// ⌊ε·2^40/2H⌋, or what keeps all counts within 2^61. 2H of these are at most ε·2^40, the scale of the noise times ε.
std::int64_t laplace_unit(double epsilon, std::int64_t records, std::size_t histograms) {
  const double most = 0x1p61 / static_cast<double>(std::max<std::int64_t>(records, 1));
  const double unit = std::floor(std::min(epsilon * laplace_scale / moved(histograms), most));
  check(unit >= 1, "epsilon={:.6g} of the histogram of norms: noise can be drawn from {:.3g} on. Raise --scale-share.",
        epsilon, moved(histograms) / laplace_scale);
  return static_cast<std::int64_t>(unit);
}

double gaussian_sigma_of(double mu, std::size_t histograms) {
  const double sensitivity = gaussian_sensitivity(histograms);
  const double sigma = gaussian_sigma({sensitivity}, mu);
  check(sigma >= GaussianNoise::smallest_sigma && sigma <= GaussianNoise::largest_sigma,
        "mu={:.6g} of the histogram of norms: noise can be drawn for {:.3g} to {:.3g}. Change --scale-share.", mu,
        sensitivity / GaussianNoise::largest_sigma, sensitivity / GaussianNoise::smallest_sigma);
  return sigma;
}

}  // namespace

NormHistogram::NormHistogram(ChargeKind noise, double price, std::int64_t records, bool labels)
    : price_(price), records_(records), labels_(labels), unit_(gaussian_unit) {
  check(records >= 0 && records <= most_records, "a histogram of the norms of {} records (2^40 at most)", records);
  check(noise == ChargeKind::gaussian || noise == ChargeKind::laplace,
        "a histogram of norms under noise that is neither Gaussian nor Laplace. Give --scale-share 0.");
  if (noise == ChargeKind::gaussian) {
    noise_.emplace(gaussian_sigma_of(price, labels ? 2 : 1));
  } else {
    unit_ = laplace_unit(price, records, histograms());
  }
}

Charge NormHistogram::charge() const {
  if (noise_) return Charge::gaussian(price_);
  return Charge::laplace(laplace_epsilon({moved(histograms()) * static_cast<double>(unit_)}));
}

double NormHistogram::scale() const {
  return noise_ ? noise_->sigma() : laplace_scale;
}

double NormHistogram::deviation() const {
  return (noise_ ? 1 : std::numbers::sqrt2) * scale() / static_cast<double>(unit_);
}

std::optional<std::size_t> NormHistogram::bin_of(double norm) {
  if (!(norm > 0) || !std::isfinite(norm)) return std::nullopt;
  const int exponent = std::ilogb(norm) - lowest_exponent;
  return static_cast<std::size_t>(std::clamp(exponent, 0, static_cast<int>(bins) - 1));
}

void NormHistogram::count(const RowNorms& norms, NormCounts& counts) const {
  if (const auto bin = bin_of(norms.l2)) ++counts[*bin];
  if (const auto bin = bin_of(norms.l1); bin && has_l1()) ++counts[bins + *bin];
  if (const auto bin = bin_of(norms.label); bin && labels_) ++counts[length() - bins + *bin];
}

void NormHistogram::release(const ReleaseAddress& address, const std::string& run_id, const NoiseKey& key,
                            const Secret<NormCounts>& counts, Released<Vector>& noisy) {
  std::vector<std::int64_t> integers = open(counts);
  check<FailureError>(integers.size() == length(), "a histogram of {} counts (it has {})", integers.size(), length());
  for (std::int64_t& each : integers) {
    check<FailureError>(each >= 0 && each <= records_, "a histogram of norms counts more records than there are");
    each *= unit_;
  }
  words_.restart(release_stream(keys_, key, run_id, address, noise_ ? "norm-gaussian" : "norm-laplace", scale(),
                                1 / static_cast<double>(unit_), integers));
  if (noise_) {
    noise_->add(words_, integers);
  } else {
    add_discrete_laplace(words_, integers);
  }
  Vector result(integers.size());
  std::transform(integers.begin(), integers.end(), result.begin(),
                 [unit = static_cast<double>(unit_)](std::int64_t each) { return static_cast<double>(each) / unit; });
  noisy = make(std::move(result));
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
  check<FailureError>(summed.size() == NormHistogram::bins, "a histogram of {} bins (it has {})", summed.size(),
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

std::optional<double> typical_label(View summed, double least, std::int64_t records) {
  const std::optional<double> lower = typical_norm(summed, least * 10 / 7, records);
  return lower ? std::optional(2 * *lower) : std::nullopt;
}

double NormShare::of_histogram(double price) const {
  return (gaussian_ ? std::sqrt(share_ * uses_) : std::sqrt(share_) * uses_) * price * short_of_one;
}

double NormShare::of_gradients(double price) const {
  if (!any()) return price;
  return (gaussian_ ? std::sqrt(1 - share_) : 1 - std::sqrt(share_)) * price * short_of_one;
}

}  // namespace starling
