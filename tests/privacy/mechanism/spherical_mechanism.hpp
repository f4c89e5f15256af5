/// A second example of a noise mechanism, for the conformance tests: its noise is drawn for all components at once, and
/// its largest privacy loss is that of rare releases. The page docs/how-to/add-a-mechanism.md names this file.
#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <string>

#include "privacy/keys/keystream.hpp"
#include "privacy/noise/grid.hpp"
#include "privacy/rows.hpp"

namespace starling::testing_support {

/// Noise of density ∝ exp(−‖x‖₂/b) on R^d, rounded to integers (Chaudhuri, Monteleoni and Sarwate 2011, section 3.2).
///
/// Its cost. Sums that differ by Δ have log-densities that differ by |‖x‖₂ − ‖x − Δ‖₂|/b ≤ ‖Δ‖₂/b, so ε = ‖Δ‖₂/b. The
/// integers of the sum are exact, so rounding the noise is rounding the noisy sum: post-processing. The noise is drawn
/// in double precision, which this proof leaves out (Mironov 2012).
class Spherical final : public GridMechanism<Norm::l2> {
 public:
  explicit Spherical(const ReleaseSettings& settings)
      : GridMechanism(settings, laplace_reach), direction_(settings.dimension) {}

  [[nodiscard]] Charge charge(double price) const override { return Charge::pure(sensitivity(price).value / scale); }
  [[nodiscard]] PriceKind price_kind() const override { return PriceKind::epsilon; }
  [[nodiscard]] std::string description() const override {
    return clipping() + ", and noise of a random direction and a gamma distributed length is added to the mean.";
  }

 protected:
  void add_noise(const ReleaseAddress& address, double price, const NoiseKey& key,
                 std::span<std::int64_t> integers) override {
    Keystream& words = noise_words("spherical", scale, address, price, key, integers);
    std::normal_distribution<double> normal;
    double squares = 0;
    double length = 0;
    for (double& component : direction_) {
      component = normal(words);
      squares += component * component;
      length += std::abs(floating_laplace(words, scale));  // exponential: a sum of d has the law Gamma(d, b)
    }
    for (std::size_t j = 0; j < integers.size(); ++j) {
      integers[j] += std::llround(length * (direction_[j] / std::sqrt(squares)));
    }
  }

 private:
  static constexpr double scale = 0x1p40;  ///< b, in integers: that of laplace_reach
  Vector direction_;
};

inline MechanismRow spherical_row() {
  return {{"spherical", "noise of a random direction, an example", {}, make_mechanism<Spherical>}, ChargeKind::pure};
}

}  // namespace starling::testing_support
