#include "rows.hpp"
#include <cmath>

#include "starling/privacy/grid.hpp"
#include "starling/privacy/keystream.hpp"

namespace starling {

namespace {

/// Discrete Laplace noise of scale t = 2^40 on the grid (method 6, release, items 2 to 4).
class Laplace final : public GridMechanism {
 public:
  using GridMechanism::GridMechanism;

  /// ε = 2·N1 / t: exact in double, N1 having at most 53 significant bits.
  [[nodiscard]] Charge charge() const override {
    return Charge::laplace(std::ldexp(static_cast<double>(grid().reach), 1 - laplace_scale_bits));
  }
  [[nodiscard]] std::string description() const override {
    const std::string clipped =
        settings_.unit == PrivacyUnit::record
            ? fmt::format("Each record's gradient is clipped to an L1 norm of {:g}", settings_.clip)
            : fmt::format("Each component of a record's gradient is clipped to [-{0:g}, {0:g}]", settings_.clip);
    const double mean_noise = std::ldexp(grid().step, laplace_scale_bits) / static_cast<double>(settings_.batch);
    return clipped +
           fmt::format(
               ", and discrete Laplace noise with a mean absolute value of {:.6g} is added to each component of "
               "the mean over {} record(s). The noise is drawn exactly, in integers, from ChaCha20 keystreams: "
               "epsilon is pure (delta = 0) and holds for the arithmetic of the machine, unless that cipher is "
               "broken.",
               mean_noise, settings_.batch);
  }

 protected:
  void add_noise(const ReleaseAddress& address, const NoiseKey& key, std::span<std::int64_t> integers) override {
    constexpr double scale = static_cast<double>(std::int64_t{1} << laplace_scale_bits);
    words_.restart(release_key(key, settings_.run_id, address, "laplace", scale, grid().step, integers));
    for (std::int64_t& q : integers) q += discrete_laplace(words_);
  }

 private:
  Keystream words_{NoiseKey(NoiseKey::Bytes{})};
};

}  // namespace

std::unique_ptr<Mechanism> make_laplace(const Spec& /*spec*/, const ReleaseSettings& settings) {
  return std::make_unique<Laplace>(settings);
}

}  // namespace starling
