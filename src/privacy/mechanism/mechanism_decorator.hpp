/// The base of mechanisms that add to what another does.
#pragma once

#include "privacy/mechanism.hpp"

namespace starling {

/// A mechanism that has another one's protection. A derived class releases through `inner()`.
class MechanismDecorator : public Mechanism {
 public:
  /// Keeps a reference.
  explicit MechanismDecorator(Mechanism& inner) : Mechanism(inner.settings()), inner_(inner) {}

  [[nodiscard]] Clip clip() const override { return inner_.clip(); }
  [[nodiscard]] Charge charge(double price) const override { return inner_.charge(price); }
  [[nodiscard]] PriceKind price_kind() const override { return inner_.price_kind(); }
  [[nodiscard]] std::optional<double> own_deviation(double price) const override { return inner_.own_deviation(price); }
  [[nodiscard]] Accumulation accumulation() const override { return inner_.accumulation(); }
  [[nodiscard]] PrivacyUnit unit() const override { return inner_.unit(); }
  [[nodiscard]] std::string neighbours() const override { return inner_.neighbours(); }
  [[nodiscard]] std::string description() const override { return inner_.description(); }
  void persist(Snapshot& snapshot) override { inner_.persist(snapshot); }
  void begin_chains() override { inner_.begin_chains(); }

 protected:
  [[nodiscard]] Mechanism& inner() const { return inner_; }

 private:
  Mechanism& inner_;
};

}  // namespace starling
