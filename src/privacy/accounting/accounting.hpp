/// The composition of many releases (docs/methods/privacy.md, "Accounting").
///
/// Every figure is an upper bound that holds in floating point: approximations are rounded towards more loss.
///
/// Each charge stands for a dominating pair of distributions. A bound on the composition of the pairs is a bound on the
/// composition of the releases, also where a later release depends on earlier ones (Zhu, Dong and Wang 2022, theorem
/// 10). The pairs: for `pure` and `approximate` randomised response (Kairouz, Oh and Viswanath 2015), for `gaussian`
/// N(0, 1) and N(μ, 1), for `laplace` Laplace noise around 0 and around ε. All pairs are symmetric.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "privacy/charge.hpp"

namespace starling {

/// A privacy loss (ε, δ), and the accountant that gave it.
struct PrivacyLoss {
  double epsilon = 0;  ///< infinite where nothing is protected, or where no finite ε has this δ
  double delta = 0;
  std::optional<double> mu;     ///< total μ, where all charges are Gaussian
  std::optional<double> renyi;  ///< ε by Rényi accounting at the same δ; none at δ = 0
  /// The accountant that gave `epsilon`: "pure", "gdp", "pld" or "renyi"; "none" without any charge, and where no
  /// accountant gives a finite ε.
  std::string method;
};

/// The privacy loss of a record that entered all these releases, 0 <= delta <= 1. At delta = 0 losses are pure: Σ ε,
/// infinite unless all charges are pure or Laplace. Gaussian charges alone: μ² adds up ("gdp"). Else the least of Σ ε
/// ("pure"), Rényi accounting ("renyi") and the privacy loss distribution ("pld"), all of them valid; the last is left
/// out beyond 10^9 releases, and keeps at most 128 different charges apart: others are merged into dearer ones. The δ
/// of approximate charges are subtracted first; a `delta` that is less than they come to by a relative 1e-12 or less,
/// as rounded sums are, is raised to that. The order of the groups does not matter. Throws UsageError for values out of
/// range.
[[nodiscard]] PrivacyLoss compose(std::span<const ChargeGroup> groups, double delta);

/// The charge to the owner of `members` >= 1 records of a batch (group privacy): pure, Laplace and Gaussian charges are
/// multiplied. None for approximate charges, for which no such figure is claimed.
[[nodiscard]] std::optional<Charge> of_group(const Charge& charge, double members);

/// Gaussian noise, μ = Δ₂/σ: δ = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2), and its inverses by bisection, rounded towards
/// more loss (Balle and Wang 2018, theorem 8; Dong, Roth and Su 2022, corollary 2.13).
[[nodiscard]] double gaussian_delta(double mu, double epsilon);
[[nodiscard]] double gaussian_epsilon(double mu, double delta);
/// The largest μ whose releases are (ε, δ). Throws UsageError unless ε >= 0 and 0 < δ < 1.
[[nodiscard]] double gaussian_mu(double epsilon, double delta);

/// The largest μ of a Gaussian release of which `releases` >= 1 come to at most (epsilon, delta), 0 < delta < 1; and
/// the same for a total μ. Rounded down.
[[nodiscard]] double largest_gaussian_mu(double epsilon, double delta, std::int64_t releases);
[[nodiscard]] double largest_gaussian_mu(double mu, std::int64_t releases);
/// The largest ε of a Laplace release of which `releases` >= 1 come to at most (epsilon, delta) by `compose`: less than
/// the true one by a relative 1e-5 at most, 0 <= delta < 1 and epsilon > 0.
[[nodiscard]] double largest_laplace_epsilon(double epsilon, double delta, std::int64_t releases);

}  // namespace starling
