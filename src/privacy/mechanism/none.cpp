#include <cmath>

#include "core/check.hpp"
#include "privacy/rows.hpp"

namespace starling {

namespace {

class None final : public Mechanism {
 public:
  explicit None(const ReleaseSettings& settings) : Mechanism(settings) {
    check(settings.clip > 0, "clip={}: must be positive. Leave it out for no clipping.", settings.clip);
    check(settings.batch >= 1, "batch={}: must be at least 1.", settings.batch);
  }

  [[nodiscard]] Clip clip() const override {
    if (std::isinf(settings_.clip)) return {};
    return {ClipKind::l2, settings_.clip};
  }
  [[nodiscard]] Charge charge(double /*price*/) const override { return Charge::unbounded(); }
  [[nodiscard]] PriceKind price_kind() const override { return PriceKind::none; }
  [[nodiscard]] std::optional<double> own_deviation(double /*price*/) const override { return 0; }
  [[nodiscard]] std::string description() const override {
    return "No noise is added: the mean gradients are released as they are, and nothing is proved of them.";
  }
  void release(const ReleaseAddress& address, double /*price*/, const NoiseKey& /*key*/, const Secret<Vector>& sum,
               Released<Vector>& noisy_mean) override {
    check_sum(address, open(sum));
    publish_unprotected(sum, static_cast<double>(settings_.batch), noisy_mean);
  }
};

}  // namespace

MechanismRow none_row() {
  return {{"none", "no noise: nothing is protected, and the run says so", {}, make_mechanism<None>},
          ChargeKind::unbounded};
}

}  // namespace starling
