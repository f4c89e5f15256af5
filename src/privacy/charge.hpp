/// The privacy cost of one release, in the form that composes best.
#pragma once

#include <cstdint>
#include <limits>

namespace starling {

/// The kind of a charge. Each kind has its own rule of composition (privacy/accounting/accounting.hpp).
enum class ChargeKind {
  pure,         ///< any mechanism with (ε, 0)
  laplace,      ///< Laplace noise, Δ₁/b = ε: (ε, 0), with a tighter composition
  gaussian,     ///< Gaussian noise, Δ₂/σ = μ
  approximate,  ///< any mechanism with (ε, δ)
  unbounded,    ///< nothing is protected
};

/// The privacy loss of one record (or component) by one release. A value that its kind does not use is 0.
struct Charge {
  ChargeKind kind = ChargeKind::pure;
  double epsilon = 0;  ///< for pure, laplace and approximate; infinite for unbounded
  double delta = 0;    ///< for approximate
  double mu = 0;       ///< for gaussian

  [[nodiscard]] static Charge pure(double epsilon) { return {ChargeKind::pure, epsilon, 0, 0}; }
  [[nodiscard]] static Charge laplace(double epsilon) { return {ChargeKind::laplace, epsilon, 0, 0}; }
  [[nodiscard]] static Charge gaussian(double mu) { return {ChargeKind::gaussian, 0, 0, mu}; }
  [[nodiscard]] static Charge approximate(double epsilon, double delta) {
    return {ChargeKind::approximate, epsilon, delta, 0};
  }
  [[nodiscard]] static Charge unbounded() {
    return {ChargeKind::unbounded, std::numeric_limits<double>::infinity(), 0, 0};
  }
  [[nodiscard]] auto operator<=>(const Charge&) const = default;
};

/// The number of releases with the same charge.
struct ChargeGroup {
  Charge charge;
  std::int64_t count = 0;
  [[nodiscard]] bool operator==(const ChargeGroup&) const = default;
};

}  // namespace starling
