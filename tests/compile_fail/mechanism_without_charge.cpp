// A mechanism that does not say what a release costs does not exist.
// Expected: starling::Charge starling::Protection::charge|::Careless' is an abstract class
#include "starling/privacy/mechanism.hpp"

class Careless final : public starling::Mechanism {
 public:
  using Mechanism::Mechanism;
  [[nodiscard]] starling::Clip clip() const override { return {starling::ClipKind::l1, 1}; }
#ifndef STARLING_MUST_FAIL
  [[nodiscard]] starling::Charge charge(double /*price*/) const override {
    return starling::Charge::pure(1);
  }
#endif
  [[nodiscard]] starling::PriceKind price_kind() const override {
    return starling::PriceKind::none;
  }
  [[nodiscard]] std::string description() const override {
    return "Trust me.";
  }
  void release(const starling::ReleaseAddress& /*address*/, double /*price*/, const starling::NoiseKey& /*key*/,
               const starling::Secret<starling::Vector>& sum, starling::Released<starling::Vector>& mean) override {
    publish_unprotected(sum, 1, mean);
  }
};

Careless make() {
  return Careless(starling::ReleaseSettings());
}
