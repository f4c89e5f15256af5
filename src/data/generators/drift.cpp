#include "generators.hpp"
#include <cmath>
#include <numbers>

#include "starling/core/check.hpp"
#include "starling/core/numerics/kernels.hpp"

namespace starling {

namespace {

/// y = ±1 at random; a ~ N(mean(y, t), I), then a / ‖a‖₂.
class Drift final : public Generator {
 public:
  enum class Mean { plain, informative };
  Drift(std::size_t features, std::int64_t records, Mean mean) : features_(features), records_(records), mean_(mean) {}

  [[nodiscard]] std::size_t features() const override { return features_; }
  [[nodiscard]] std::int64_t records() const override { return records_; }

  [[nodiscard]] double draw(Round t, Client, AddressedRandom& random, MutableView values) const override {
    const double y = (random() >> 63) != 0 ? 1 : -1;
    for (std::size_t j = 0; j < features_; ++j) values[j] = mean(y, t, j) + random.normal();
    const double norm = norm2(values);
    for (double& value : values) value /= norm;
    return y;
  }

 private:
  /// Plain: y + t/2 in every coordinate. Informative: y v + sin(2πt/100)/2 u with v = (e₁ + e₂)/√2, u = (e₃ + e₄)/√2
  /// (docs/methods/decentralized.md).
  [[nodiscard]] double mean(double y, Round t, std::size_t j) const {
    if (mean_ == Mean::plain) return y + 0.5 * static_cast<double>(t);
    constexpr double half_root = std::numbers::sqrt2 / 2;
    if (j < 2) return y * half_root;
    if (j < 4) return 0.5 * std::sin(2 * std::numbers::pi * static_cast<double>(t % 100) / 100) * half_root;
    return 0;
  }

  std::size_t features_;
  std::int64_t records_;
  Mean mean_;
};

}  // namespace

std::unique_ptr<Generator> make_drift(const Spec& spec, const Audience&) {
  const long long features = integer_within(spec, "d", 5, 1, 100'000'000);
  const bool informative = integer_within(spec, "informative", 0, 0, 1) == 1;
  const long long records = integer_within(spec, "n", 0, 0, 1'000'000'000'000);
  check(!informative || features >= 4, "'{}': d={} (informative=1 has directions in four coordinates) give d=4 or more",
        spec.text(), features);
  return std::make_unique<Drift>(static_cast<std::size_t>(features), records,
                                 informative ? Drift::Mean::informative : Drift::Mean::plain);
}

}  // namespace starling
