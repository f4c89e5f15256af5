/// An example of a noise mechanism in one file: the conformance tests run it beside the members of the table. The page
/// docs/how-to/add-a-mechanism.md shows this file.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <string>

#include "privacy/keys/keystream.hpp"
#include "privacy/noise/grid.hpp"

namespace starling {

/// Laplace noise drawn in floating point and rounded to integers, charged as any pure mechanism.
class ToyMechanism final : public GridMechanism<Norm::l1> {
 public:
  explicit ToyMechanism(const ReleaseSettings& settings) : GridMechanism(settings, laplace_reach) {}

  [[nodiscard]] Charge charge(double price) const override { return Charge::pure(laplace_epsilon(sensitivity(price))); }
  [[nodiscard]] PriceKind price_kind() const override { return PriceKind::epsilon; }
  [[nodiscard]] std::string description() const override {
    return clipping() + ", and rounded Laplace noise is added to each component of the mean.";
  }

 protected:
  void add_noise(const ReleaseAddress& address, double price, const NoiseKey& key,
                 std::span<std::int64_t> integers) override {
    constexpr double scale = 0x1p40;  // of laplace_epsilon
    Keystream& words = noise_words("toy", scale, address, price, key, integers);
    for (std::int64_t& value : integers) value += std::llround(floating_laplace(words, scale));
  }
};

inline MechanismRow toy_row() {
  return {{"toy", "rounded Laplace noise, for tests", {}, make_mechanism<ToyMechanism>}, ChargeKind::pure};
}

}  // namespace starling
