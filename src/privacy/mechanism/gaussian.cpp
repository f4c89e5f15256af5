#include "core/check.hpp"
#include "correlated_gaussian.hpp"
#include "privacy/noise/gaussian_noise.hpp"
#include "privacy/noise/grid.hpp"
#include "privacy/pairs/pair_noise.hpp"
#include "privacy/rows.hpp"

namespace starling {

namespace {

/// A Gaussian of standard deviation σ = 2N/μ, N = 2^40, rounded to the nearest integer, on the grid
/// (docs/methods/privacy.md, "One release"). Integers plus a rounded Gaussian are the rounding of integers plus a
/// Gaussian: post-processing of the continuous mechanism, so that μ is exact.
class Gaussian final : public GridMechanism<Norm::l2> {
 public:
  explicit Gaussian(const ReleaseSettings& settings)
      : GridMechanism(settings, gaussian_reach), noise_(sigma_in_range(settings.price.least)) {
    noise_ = GaussianNoise(sigma_in_range(settings.price.most));
  }

  [[nodiscard]] Charge charge(double price) const override { return Charge::gaussian(price); }
  [[nodiscard]] PriceKind price_kind() const override { return PriceKind::mu; }
  [[nodiscard]] std::optional<double> own_deviation(double price) const override { return deviation(price); }
  [[nodiscard]] std::string description() const override {
    return clipping() +
           fmt::format(
               ", and Gaussian noise with a standard deviation of {} is added to each component of the mean over {} "
               "{}(s). The noise is a Gaussian rounded correctly to integers, with bits from ChaCha20 keystreams: "
               "mu is exact and holds for the arithmetic of the machine, unless that cipher is broken.",
               size_range(deviation(settings_.price.most), deviation(settings_.price.least)), settings_.batch,
               summand_of(settings_.unit)) +
           in_words(settings_.pairs.get());
  }

 protected:
  void add_noise(const ReleaseAddress& address, double price, const NoiseKey& key,
                 std::span<std::int64_t> integers) override {
    if (sigma(price) != noise_.sigma()) noise_ = GaussianNoise(sigma(price));
    if (settings_.pairs) settings_.pairs->add(address, noise_.sigma(), integers);
    noise_.add(noise_words("gaussian", noise_.sigma(), address, price, key, integers), integers);
  }

 private:
  /// Of the client's own noise.
  [[nodiscard]] double sigma(double price) const {
    const auto entries = static_cast<double>(settings_.dimension);
    return gaussian_sigma({terms_of(settings_).shift(sensitivity(price).value, entries)}, price);
  }
  [[nodiscard]] double sigma_in_range(double price) const {
    const double least = sensitivity(price).value / GaussianNoise::largest_sigma;
    const double most = sensitivity(price).value / GaussianNoise::smallest_sigma;
    check(price > least && price < most, "mu={}: Gaussian noise can be drawn for {:.3g} to {:.3g}. Choose another.",
          price, least, most);
    check_pairs(settings_, sigma(price));
    return sigma(price);
  }
  /// The standard deviation of the noise of a component of the mean.
  [[nodiscard]] double deviation(double price) const {
    return sigma(price) * step(price) / static_cast<double>(settings_.batch);
  }

  GaussianNoise noise_;  // of the last price
};

std::unique_ptr<Mechanism> make_gaussian(const Spec& /*spec*/, const ReleaseSettings& settings) {
  if (settings.correlation) return make_correlated_gaussian(settings);
  return std::make_unique<Gaussian>(settings);
}

}  // namespace

MechanismRow gaussian_row() {
  return {{"gaussian", "Gaussian noise, rounded correctly to integers: exact mu-GDP", {}, make_gaussian},
          ChargeKind::gaussian};
}

}  // namespace starling
