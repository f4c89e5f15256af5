/// The example of docs/how-to/add-a-loss.md: a loss that the table does not have.
#pragma once

#include <cmath>

#include "loss/kinds.hpp"

namespace starling::testing_support {

/// c² (√(1 + (r/c)²) − 1) with r = s − y: squared near the label, linear far from it (Charbonnier et al. 1997).
class PseudoHuber final : public Member<PseudoHuber, Regression<CurvedLoss>> {
 public:
  explicit PseudoHuber(double bend)
      : Member({.most_curvature = 1, .most_slope = bend, .has_estimand = true, .is_symmetric = true}), bend_(bend) {}
  [[nodiscard]] double value_at(double score, double label) const override {
    return bend_ * bend_ * (stretch(score - label) - 1);
  }
  [[nodiscard]] double slope(double score, double label) const override {
    return (score - label) / stretch(score - label);
  }
  [[nodiscard]] double curvature(double score, double label) const override {
    return std::pow(stretch(score - label), -3);
  }

 private:
  [[nodiscard]] double stretch(double distance) const { return std::hypot(1, distance / bend_); }

  double bend_;
};

inline LossRow pseudo_huber_row() {
  return {"pseudo-huber",
          "a smooth huber loss, any label",
          {{"c", "where it bends (1.345)"}},
          [](const Spec& spec) -> std::unique_ptr<Loss> {
            const double bend = spec.number("c", 1.345);
            check(bend > 0 && std::isfinite(bend), "'{}': c={}: c must be positive and finite.", spec.text(), bend);
            return std::make_unique<PseudoHuber>(bend);
          }};
}

}  // namespace starling::testing_support
