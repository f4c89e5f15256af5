#include "privacy/histograms/noisy_counts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/check.hpp"
#include "privacy/noise/grid.hpp"
#include "privacy/parts.hpp"

namespace starling {

namespace {

constexpr std::int64_t gaussian_unit = NoisyCounts::most_of_sum;
constexpr double laplace_scale = static_cast<double>(std::int64_t{1} << laplace_scale_bits);

/// What a record moves the histograms by in L1, in counts.
double moved(const NoisyCounts::Form& form) {
  return 2 * static_cast<double>(form.histograms - 1 + form.weight);
}

/// √(2(H − 1 + w²))·2^20, or √(H − 1 + 1/w²)·2^20 or 2^20 of sums, rounded up.
double gaussian_sensitivity(const NoisyCounts::Form& form) {
  const auto others = static_cast<double>(form.histograms - 1);
  const auto square = static_cast<double>(form.weight * form.weight);
  const double moved = form.together ? 1 : form.sums ? others + 1 / square : 2 * (others + square);
  return std::nextafter(std::sqrt(moved) * static_cast<double>(gaussian_unit), 1e300);
}

/// ⌊ε·2^40/2H⌋, or what keeps all counts within 2^61. 2H of these are at most ε·2^40, the scale of the noise times ε.
std::int64_t laplace_unit(const NoisyCounts::Form& form, double epsilon, std::int64_t records) {
  const double most = 0x1p61 / static_cast<double>(std::max<std::int64_t>(records, 1));
  const double unit = std::floor(std::min(epsilon * laplace_scale / moved(form), most));
  check(unit >= 1, "epsilon={:.6g} of the {}: noise can be drawn from {:.3g} on. Raise {}.", epsilon, form.name,
        moved(form) / laplace_scale, form.option);
  return static_cast<std::int64_t>(unit);
}

double gaussian_sigma_of(const NoisyCounts::Form& form, double mu, const PairTerms& pairs) {
  const double sensitivity = pairs.shift(gaussian_sensitivity(form), static_cast<double>(form.moved()));
  const double sigma = gaussian_sigma({sensitivity}, mu);
  check(sigma >= GaussianNoise::smallest_sigma && sigma <= GaussianNoise::largest_sigma,
        "mu={:.6g} of the {}: noise can be drawn for {:.3g} to {:.3g}. Change {}.", mu, form.name,
        sensitivity / GaussianNoise::largest_sigma, sensitivity / GaussianNoise::smallest_sigma, form.option);
  if (pairs.ratio > 0) check_pairs(pairs, mu, sigma);
  return sigma;
}

}  // namespace

NoisyCounts::NoisyCounts(Form form, ChargeKind noise, double price, std::int64_t records, const PairTerms& pairs)
    : form_(std::move(form)), price_(price), records_(records), unit_(gaussian_unit), in_pairs_(pairs.ratio > 0) {
  check(records >= 0 && records <= most_records / static_cast<std::int64_t>(form_.weight),
        "a {} of {} records: counts up to 2^40 have noise.", form_.name, records);
  check(noise == ChargeKind::gaussian || noise == ChargeKind::laplace,
        "a {} under noise that is neither Gaussian nor Laplace. Give {} 0.", form_.name, form_.option);
  check<FailureError>(!form_.sums || (noise == ChargeKind::gaussian && form_.bins == 1),
                      "sums are released under Gaussian noise, one by one");
  if (noise == ChargeKind::gaussian) {
    noise_.emplace(gaussian_sigma_of(form_, price, pairs));
  } else {
    check<FailureError>(!in_pairs_, "Laplace noise between pairs");
    unit_ = laplace_unit(form_, price, records);
  }
}

Charge NoisyCounts::charge() const {
  if (noise_) return Charge::gaussian(price_);
  return Charge::laplace(laplace_epsilon({moved(form_) * static_cast<double>(unit_)}));
}

double NoisyCounts::scale() const {
  return noise_ ? noise_->sigma() : laplace_scale;
}

double NoisyCounts::deviation() const {
  return (noise_ ? 1 : std::numbers::sqrt2) * scale() / static_cast<double>(unit_);
}

void NoisyCounts::release(const ReleaseAddress& address, const std::string& run_id, const NoiseKey& key,
                          const Secret<Counts>& counts, Released<Vector>& noisy, PairNoise* pairs) {
  check<FailureError>((pairs != nullptr) == in_pairs_, "a {} with the price of other noise", form_.name);
  std::vector<std::int64_t> integers = open(counts);
  check<FailureError>(integers.size() == length(), "a {} with {} counts: it has {}.", form_.name, integers.size(),
                      length());
  const std::int64_t most_of_record = form_.sums ? most_of_sum : static_cast<std::int64_t>(form_.weight);
  for (std::int64_t& each : integers) {
    check<FailureError>(each >= 0 && each <= records_ * most_of_record, "a {} counts more records than there are",
                        form_.name);
    if (!form_.sums) each *= unit_;
  }
  if (pairs != nullptr) pairs->add(address, scale(), integers);
  const std::string stream = form_.stream + (noise_ ? "-gaussian" : "-laplace");
  words_.restart(
      release_stream(keys_, key, run_id, address, stream.c_str(), scale(), 1 / static_cast<double>(unit_), integers));
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

}  // namespace starling
