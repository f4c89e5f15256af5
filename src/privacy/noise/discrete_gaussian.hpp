/// Exact discrete Gaussian noise: integers k with P(k) ∝ exp(−k²/(2σ²)), whose sums are again nearly such.
///
/// A draw is a correctly rounded Gaussian, P_R(k) = ∫ over [k − ½, k + ½] of the density of N(0, σ²), which is
/// proportional to exp(−k²/(2σ²)) I(k) with
///
///   I(k) = ∫_{−½}^{½} exp(−k x/σ² − x²/(2σ²)) dx = ∫_{−½}^{½} cosh(k x/σ²) exp(−x²/(2σ²)) dx,
///
/// and is kept with probability A(k) = I(0)/I(k), else drawn again (von Neumann's rejection): what is kept has exactly
/// P(k) ∝ exp(−k²/(2σ²)). As cosh grows, I grows with |k|, and so A(k) <= 1; and as |x| <= ½ and cosh y <= exp(y²/2),
///
///   1 − A(k) <= k²/(8σ⁴).                                                                                        (*)
///
/// Whether to keep is decided by a uniform V in (0, 1), of as many digits as are needed: again iff V < 1 − A(k). The
/// first 64 digits decide by (*), unless they are below k²/(8σ⁴) 2^64 + 1; then 1 − A(k) is enclosed in MPFR with
/// directed rounding, more and more closely, until it is proven to lie on one side of V.
///
/// With E k² <= (σ + ½)² a draw is drawn again with a probability of at most 0.14/σ²: 2^-10 at the least σ, 2^-70 at
/// the 2^34 of 100 clients' shares at μ = 10. Rejection therefore costs nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lazy_uniform.hpp"
#include "privacy/noise/gaussian_noise.hpp"

namespace starling {

/// The noise of one scale.
class DiscreteGaussian {
 public:
  /// σ in integers. Throws UsageError as GaussianNoise.
  explicit DiscreteGaussian(double sigma) : proposals_(sigma) {}

  [[nodiscard]] double sigma() const { return proposals_.sigma(); }

  /// Adds to each integer its own draw. Throws as GaussianNoise::add.
  void add(Keystream& words, std::span<std::int64_t> integers);

  /// Whether a proposal is kept: `word` holds V's first 64 digits, `more` gives the next ones.
  [[nodiscard]] bool keeps(std::int64_t proposal, std::uint64_t word, const MoreWords& more) const;
  /// The same, in MPFR from the start.
  [[nodiscard]] bool keeps_exactly(std::int64_t proposal, std::uint64_t word, const MoreWords& more) const;

 private:
  GaussianNoise proposals_;
  std::vector<std::int64_t> draws_;  ///< wiped after each use
  std::vector<std::uint64_t> words_;
};

}  // namespace starling
