/// A test double: the integer path of a mechanism without its noise. Not private.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "privacy/noise/grid.hpp"

namespace starling {

/// Releases the sum rounded to the grid of the norm, and shows the integers.
template <Norm norm>
class ZeroNoise final : public GridMechanism<norm> {
 public:
  explicit ZeroNoise(const ReleaseSettings& settings)
      : GridMechanism<norm>(settings, norm == Norm::l1 ? laplace_reach : gaussian_reach), shown_(settings.dimension) {}

  [[nodiscard]] Charge charge(double /*price*/) const override { return Charge::unbounded(); }
  [[nodiscard]] PriceKind price_kind() const override { return PriceKind::none; }
  [[nodiscard]] std::string description() const override { return "No noise is added to the integers."; }
  /// The integers of the last release.
  [[nodiscard]] const std::vector<std::int64_t>& integers() const { return shown_; }

 protected:
  void add_noise(const ReleaseAddress& /*address*/, double /*price*/, const NoiseKey& /*key*/,
                 std::span<std::int64_t> integers) override {
    std::copy(integers.begin(), integers.end(), shown_.begin());
  }

 private:
  std::vector<std::int64_t> shown_;
};

}  // namespace starling
