#include "gaussian_exact.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace starling {

namespace {

/// The digits of U, of which the first is a 0.
std::uint64_t below_half(std::uint64_t word) {
  return word & ~(std::uint64_t{1} << 63);
}

/// A lower bound of Q(x) = erfc(x/√2)/2 for x = (m − 1/2)/σ; Q(x) is less than two units in the last place above it.
///
/// MPFR rounds erfc correctly, here downwards: one unit. Its argument is too large by a factor of at most 1 + η, η =
/// 2^(3−p), p being the argument's precision; as φ(x)/Q(x) ≤ x + 1/x (Gordon 1941), Q loses a relative η (x² + 1) (1 +
/// 2^-20) at most. With p = the result's precision + 8 + 2 log2(x + 1) that is less than 2^-4 units.
void upper_tail(Real& result, std::int64_t m, double sigma) {
  const double size = static_cast<double>(m) / sigma + 1;
  const mpfr_prec_t precision = mpfr_get_prec(result) + 10 + 2 * mpfr_prec_t{std::ilogb(size)};
  Real divisor(precision);
  Real argument(precision);
  mpfr_set_ui(divisor, 8, MPFR_RNDD);  // x/√2 = (2m − 1)/(σ √8)
  mpfr_sqrt(divisor, divisor, MPFR_RNDD);
  mpfr_mul_d(divisor, divisor, sigma, MPFR_RNDD);
  mpfr_set_si(argument, 2 * m - 1, MPFR_RNDN);  // exact
  mpfr_div(argument, argument, divisor, MPFR_RNDU);
  mpfr_erfc(result, argument, MPFR_RNDD);
  mpfr_div_2ui(result, result, 1, MPFR_RNDD);
}

constexpr mpfr_prec_t least_precision = 96;

/// Whether σ z(U) ≥ m − 1/2, for m ≥ 1: then U ≤ Q((m − 1/2)/σ), and the other way round. Equality has probability 0.
bool reaches(std::int64_t m, double sigma, LazyUniform& tail) {
  for (mpfr_prec_t precision = least_precision;;) {
    Real bound(precision);
    upper_tail(bound, m, sigma);
    if (mpfr_lessequal_p(tail.upper(), bound) != 0) return true;
    const mpfr_exp_t unit = mpfr_zero_p(bound) != 0 ? mpfr_get_emin() : mpfr_get_exp(bound) - precision;
    mpfr_nextabove(bound);
    mpfr_nextabove(bound);
    if (mpfr_greaterequal_p(tail.lower(), bound) != 0) return false;
    if (unit > -tail.digits() - 8) {
      precision += 64;  // Q is known less precisely than U
    } else {
      tail.refine();
    }
  }
}

/// The largest m with σ z(U) ≥ m − 1/2, which lies in [lowest, highest].
std::int64_t bisect(std::int64_t lowest, std::int64_t highest, double sigma, LazyUniform& tail) {
  while (lowest < highest) {
    const std::int64_t middle = highest - (highest - lowest) / 2;
    if (reaches(middle, sigma, tail)) {
      lowest = middle;
    } else {
      highest = middle - 1;
    }
  }
  return lowest;
}

}  // namespace

std::int64_t choose_gaussian_magnitude(double sigma, std::uint64_t word, const MoreWords& more, std::int64_t lowest,
                                       std::int64_t highest) {
  LazyUniform tail(below_half(word), more);
  return bisect(lowest, highest, sigma, tail);
}

std::int64_t find_gaussian_magnitude(double sigma, std::uint64_t word, const MoreWords& more, std::int64_t hint,
                                     std::int64_t bound) {
  LazyUniform tail(below_half(word), more);
  const auto within = [&](std::int64_t m) { return m <= 0 || reaches(m, sigma, tail); };
  std::int64_t lowest = std::clamp(hint, std::int64_t{0}, bound - 1);
  std::int64_t beyond = lowest;
  if (within(lowest)) {
    for (std::int64_t step = 1;; step *= 2) {
      beyond = std::min(lowest + step, bound);
      if (!within(beyond)) break;
      check<FailureError>(beyond < bound, "the noise generator is broken: a Gaussian draw of {} steps or more.", bound);
      lowest = beyond;
    }
  } else {
    for (std::int64_t step = 1;; step *= 2) {
      lowest = std::max(beyond - step, std::int64_t{0});
      if (within(lowest)) break;
      beyond = lowest;
    }
  }
  return bisect(lowest, beyond - 1, sigma, tail);
}

}  // namespace starling
