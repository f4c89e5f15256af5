#include <cmath>
#include <numbers>

#include "privacy/keys/keystream.hpp"
#include "privacy/noise/grid.hpp"
#include "privacy/rows.hpp"

namespace starling {

namespace {

/// Discrete Laplace noise of scale t = 2^40 on the grid (docs/methods/privacy.md, "One release").
class Laplace final : public GridMechanism<Norm::l1> {
 public:
  explicit Laplace(const ReleaseSettings& settings) : GridMechanism(settings, laplace_reach) {}

  [[nodiscard]] Charge charge(double price) const override {
    return Charge::laplace(laplace_epsilon(sensitivity(price)));
  }
  [[nodiscard]] PriceKind price_kind() const override { return PriceKind::epsilon; }
  [[nodiscard]] std::optional<double> own_deviation(double price) const override {
    return std::numbers::sqrt2 * mean_noise(price);
  }
  [[nodiscard]] std::string description() const override {
    return clipping() +
           fmt::format(
               ", and discrete Laplace noise with a mean absolute value of {} is added to each component of "
               "the mean over {} {}(s). The noise is drawn exactly, in integers, from ChaCha20 keystreams: "
               "epsilon is pure (delta = 0) and holds for the arithmetic of the machine, unless that cipher is "
               "broken.",
               size_range(mean_noise(settings_.price.most), mean_noise(settings_.price.least)), settings_.batch,
               summand_of(settings_.unit));
  }

 protected:
  void add_noise(const ReleaseAddress& address, double price, const NoiseKey& key,
                 std::span<std::int64_t> integers) override {
    constexpr double scale = static_cast<double>(std::int64_t{1} << laplace_scale_bits);
    add_discrete_laplace(noise_words("laplace", scale, address, price, key, integers), integers);
  }

 private:
  /// The mean absolute noise of a component of the mean.
  [[nodiscard]] double mean_noise(double price) const {
    return std::ldexp(step(price), laplace_scale_bits) / static_cast<double>(settings_.batch);
  }
};

}  // namespace

MechanismRow laplace_row() {
  return {{"laplace", "discrete Laplace noise on integers: pure epsilon, exact", {}, make_mechanism<Laplace>},
          ChargeKind::laplace};
}

}  // namespace starling
