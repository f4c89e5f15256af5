/// The slope of a loss as a polynomial with integer coefficients, which parties evaluate on shares
/// (docs/methods/shares.md, "The slope").
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "privacy/shares/ring.hpp"

namespace starling {

/// P(u) = Σ_k c_k u^k on |u| <= 1, with numbers u = U / 2^15 and coefficients c_k = C_k 2^(15 k) / 2^F: the integers
///
///   Σ_k C_k U^k = P(u) 2^F
///
/// are exact modulo 2^128, so that nothing is rounded between the powers. A Truncation by F − f bits then leaves f
/// fractional bits of the slope.
class SlopePolynomial {
 public:
  /// Fractional bits of u.
  static constexpr int argument_bits = 15;
  /// 2^15: the integer of u = 1.
  static constexpr std::int64_t one = std::int64_t{1} << argument_bits;

  /// The Chebyshev interpolation of `slope`, a function of u in [−1, 1], of this degree (1 to 15). `fraction_bits` is
  /// f. Throws UsageError for a slope that is not finite, or larger than 2^40.
  SlopePolynomial(const std::function<double(double u)>& slope, int degree, int fraction_bits);

  [[nodiscard]] int degree() const { return static_cast<int>(coefficients_.size()) - 1; }
  [[nodiscard]] int fraction_bits() const { return fraction_bits_; }
  /// max |P(u) − slope(u)| over all U in [−2^15, 2^15].
  [[nodiscard]] double error() const { return error_; }
  /// max |P'(u)| over [−1, 1], on a grid.
  [[nodiscard]] double steepest() const { return steepest_; }
  /// The least and the largest ⌊P(u) 2^f⌋ over all integers U in [−2^15, 2^15]: exact.
  [[nodiscard]] std::int64_t least() const { return least_; }
  [[nodiscard]] std::int64_t most() const { return most_; }
  /// ⌊P(u) 2^f⌋ for |U| <= 2^15: exact.
  [[nodiscard]] std::int64_t at(std::int64_t argument) const;

  /// The truncation that follows the polynomial.
  [[nodiscard]] Truncation truncation() const { return Truncation(scale_bits_ - fraction_bits_); }
  /// A party's share of P(a + e) 2^F modulo 2^128, from the open e and the party's shares of a, a², …, a^degree. One
  /// party is `first`: it alone adds what is open.
  [[nodiscard]] WideWord share(WideWord e, std::span<const WideWord> power_shares, bool first) const;

 private:
  [[nodiscard]] SignedWide scaled_at(std::int64_t argument) const;

  int fraction_bits_;
  int scale_bits_ = 0;                           ///< F
  std::vector<WideWord> coefficients_;           ///< C_0, …, C_degree in two's complement
  std::vector<std::vector<WideWord>> weighted_;  ///< C_k (k over j) for j <= k, at [j][k − j]
  double error_ = 0;
  double steepest_ = 0;
  std::int64_t least_ = 0;
  std::int64_t most_ = 0;
};

}  // namespace starling
