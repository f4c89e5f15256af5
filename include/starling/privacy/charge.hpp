/// What one release costs, kept in the form that composes best.
#pragma once

#include <cstdint>
#include <limits>

namespace starling {

/// Known of a release, beside its figures; each kind has its own rule of composition
/// (privacy/accounting/accounting.hpp).
enum class ChargeKind {
  pure,         ///< some mechanism with (ε, 0)
  laplace,      ///< Laplace noise, Δ₁/b = ε: (ε, 0), and more is known of it
  gaussian,     ///< Gaussian noise, Δ₂/σ = μ
  approximate,  ///< some mechanism with (ε, δ)
  unbounded,    ///< nothing is protected
};

/// What one release of a record's (or component's) gradient costs that record. A value that is not of the kind is 0.
struct Charge {
  ChargeKind kind = ChargeKind::pure;
  double epsilon = 0;  ///< of kinds pure, laplace and approximate; infinite for unbounded
  double delta = 0;    ///< of kind approximate
  double mu = 0;       ///< of kind gaussian

  [[nodiscard]] static Charge pure(double epsilon) { return {ChargeKind::pure, epsilon, 0, 0}; }
  [[nodiscard]] static Charge laplace(double epsilon) { return {ChargeKind::laplace, epsilon, 0, 0}; }
  [[nodiscard]] static Charge gaussian(double mu) { return {ChargeKind::gaussian, 0, 0, mu}; }
  [[nodiscard]] static Charge approximate(double epsilon, double delta) {
    return {ChargeKind::approximate, epsilon, delta, 0};
  }
  [[nodiscard]] static Charge unbounded() {
    return {ChargeKind::unbounded, std::numeric_limits<double>::infinity(), 0, 0};
  }
  [[nodiscard]] bool operator==(const Charge&) const = default;
};

/// Releases of one charge that somebody's records entered.
struct ChargeGroup {
  Charge charge;
  std::int64_t count = 0;
  [[nodiscard]] bool operator==(const ChargeGroup&) const = default;
};

}  // namespace starling
