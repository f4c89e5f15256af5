#include <cmath>
#include <numbers>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "generators.hpp"

namespace starling {

/// y = ±1 at random; a ~ N(mean(y, t), I), then a / ‖a‖₂.
std::unique_ptr<Generator> make_drift(const Spec& spec, const Audience&) {
  const std::size_t features = features_of(spec, "d", 5);
  const bool informative = integer_within(spec, "informative", 0, 0, 1) == 1;
  const std::int64_t records = records_of(spec);
  check(!informative || features >= 4,
        "'{}': d={}: informative=1 has directions in four coordinates. Give d=4 or more.", spec.text(), features);
  // Plain: y + t/2 in every coordinate. Informative: y v + sin(2πt/100)/2 u with v = (e₁ + e₂)/√2, u = (e₃ + e₄)/√2
  // (docs/methods/decentralized.md).
  const auto mean = [=](double y, Round t, std::size_t j) {
    if (!informative) return y + 0.5 * static_cast<double>(t);
    constexpr double half_root = std::numbers::sqrt2 / 2;
    if (j < 2) return y * half_root;
    if (j < 4) return 0.5 * std::sin(2 * std::numbers::pi * static_cast<double>(t % 100) / 100) * half_root;
    return 0.0;
  };
  const auto draw = [=](Round t, Client, AddressedRandom& random, MutableView values) {
    const double y = (random() >> 63) != 0 ? 1 : -1;
    for (std::size_t j = 0; j < values.size(); ++j) values[j] = mean(y, t, j) + random.normal();
    const double norm = norm2(values);
    for (double& value : values) value /= norm;
    return y;
  };
  return std::make_unique<Generator>(features, records, draw);
}

}  // namespace starling
