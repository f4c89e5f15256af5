/// Charges, sorted into kinds. The moments and the distribution of the privacy loss are known for each kind.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "privacy/charge.hpp"

namespace starling {

/// The kind of dominating pair (privacy/accounting/accounting.hpp).
enum class LossKind {
  laplace,   ///< Laplace noise of scale 1 around 0 and around `size` = ε
  response,  ///< randomised response: any mechanism that is (`size` = ε, 0)
  gaussian,  ///< N(0, 1) and N(`size` = μ, 1)
};

/// Releases with one kind of loss.
struct LossClass {
  LossKind kind = LossKind::laplace;
  double size = 0;        ///< ε or μ, positive and finite
  long double count = 0;  ///< an integer, which the type holds exactly; 1 for all Gaussian releases together
};

/// Everything that was charged.
struct Losses {
  std::vector<LossClass> classes;  ///< distinct, by kind and size
  long double releases = 0;        ///< of all charges, those that cost nothing included
  long double leak = 0;            ///< probability that one of the approximate charges fails altogether, rounded up
  bool unbounded = false;
  bool all_gaussian = true;  ///< no charge is of another kind

  /// Whether no release has Gaussian noise.
  [[nodiscard]] bool is_pure_but_for_leak() const;
  /// Σ ε, rounded up; infinite with Gaussian noise.
  [[nodiscard]] double pure_sum() const;
  /// μ of all Gaussian releases, rounded up.
  [[nodiscard]] double mu() const;
  /// ln E_P e^(λL) of the sum L of all losses but leaks: λ times the Rényi divergence of order λ + 1; any real λ.
  [[nodiscard]] long double log_moment(long double lambda) const;
};

/// Sorted charges, independent of the order of the groups. Throws UsageError for values out of range.
[[nodiscard]] Losses losses_of(std::span<const ChargeGroup> groups);

/// At most `most` classes, at least 3: neighbouring sizes of a kind take the largest among them, which is never less
/// loss. Cuts make the classes about equally wide, each weighted with its share of the variance of the loss.
[[nodiscard]] Losses merged(const Losses& losses, std::size_t most);

}  // namespace starling
