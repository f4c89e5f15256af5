/// What many releases cost together (method 6, "Accounting").
///
/// Every figure is an upper bound that holds in floating point: approximations are rounded towards more loss.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "starling/privacy/charge.hpp"

namespace starling {

/// A loss (ε, δ) with the ways to it.
struct PrivacyLoss {
  double epsilon = 0;  ///< infinite where nothing is protected, or where no finite ε has this δ
  double delta = 0;
  std::optional<double> mu;     ///< total μ, where all charges are Gaussian
  std::optional<double> renyi;  ///< ε by Rényi accounting at the same δ; none at δ = 0
  std::string method;           ///< what gave `epsilon`: "pure", "gdp", "pld" or "renyi"; "none" without any charge
};

/// The loss of somebody whose records entered all these releases. At delta = 0 losses are pure: Σ ε, infinite unless
/// all charges are pure or Laplace. Throws UsageError for values out of range.
[[nodiscard]] PrivacyLoss compose(std::span<const ChargeGroup> groups, double delta);

/// The charge to somebody to whom `members` of a batch's records belong (group privacy), `members` >= 1: pure, Laplace
/// and Gaussian charges are multiplied; none for approximate ones, of which no such figure is claimed.
[[nodiscard]] std::optional<Charge> of_group(const Charge& charge, double members);

/// Gaussian noise, μ = Δ₂/σ: δ = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2), and its inverses by bisection, rounded towards
/// more loss (Balle and Wang 2018, theorem 8; Dong, Roth and Su 2022, corollary 2.13).
[[nodiscard]] double gaussian_delta(double mu, double epsilon);
[[nodiscard]] double gaussian_epsilon(double mu, double delta);
/// The largest μ whose releases are (ε, δ). Throws UsageError unless ε >= 0 and 0 < δ < 1.
[[nodiscard]] double gaussian_mu(double epsilon, double delta);

}  // namespace starling
