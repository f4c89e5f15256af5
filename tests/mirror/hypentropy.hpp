/// The example of docs/how-to/add-a-mirror-map.md: a mirror map that the table does not have.
#pragma once

#include <algorithm>
#include <cmath>

#include "mirror/member.hpp"

namespace starling::testing_support {

/// R = Σ x_i asinh(x_i / β) − √(x_i² + β²) on R^d, with ∇R = asinh(x / β) (Ghai, Hazan and Singer 2020).
class Hypentropy final : public MirrorMap {
 public:
  explicit Hypentropy(double beta) : beta_(beta) {}
  void step(MutableView state, double eta, View gradient) override {
    for (std::size_t i = 0; i < state.size(); ++i) {
      const double dual = std::asinh(state[i] / beta_) - eta * gradient[i];
      state[i] = beta_ * std::sinh(std::clamp(dual, -most_dual, most_dual));
    }
  }

 private:
  static constexpr double most_dual = 500;  ///< sinh overflows from 710 on
  double beta_;
};

inline MirrorMember hypentropy_map() {
  return {{"hypentropy",
           "R = sum x asinh(x/beta) - sqrt(x^2 + beta^2): between euclidean and entropic; domain free",
           {{"beta", "width of the region where steps are nearly euclidean (1)"}},
           [](const Spec& spec, Domain& domain) -> std::unique_ptr<MirrorMap> {
             const double beta = spec.number("beta", 1);
             check(beta > 0 && std::isfinite(beta), "'{}': beta={}: beta must be positive and finite.", spec.text(),
                   beta);
             check(domain.is_everything(), "mirror map '{}': it has no step on this domain. Use --domain free.",
                   spec.name());
             return std::make_unique<Hypentropy>(beta);
           }}};
}

}  // namespace starling::testing_support
