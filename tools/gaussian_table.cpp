/// Makes src/privacy/noise/gaussian_table.inc: the polynomials of gaussian_table.hpp and, for each octave, a bound on
/// the error of `quantile`, which this program proves as it goes. Prints the table; exit 1 if a step of the proof
/// fails.
///
/// z = −Φ⁻¹ satisfies z'(U) = −1/φ(z), so by induction its derivatives are
///    z⁽ⁿ⁾(U) = (−1)ⁿ P_n(z) / φ(z)ⁿ,  P_1 = 1,  P_{n+1} = P_n' + n z P_n,
/// with polynomials P_n whose coefficients are not negative. For z ≥ 0 their magnitude therefore grows with z, and an
/// enclosure of z gives one of every Taylor coefficient, by directed rounding, and of Lagrange's remainder.
///
/// Error of a piece, all in units of 2^-(61+x):
/// 1. z of the centre and of the edge lie in [lower, upper], because Q(upper) ≤ U ≤ Q(lower) in MPFR with directed
///    rounding, Q(z) = erfc(z/√2)/2 being the upper tail.
/// 2. The Taylor polynomial T of degree 24 around the centre differs from z by at most the remainder, taken with the
///    25th derivative at the piece's left edge, where it is largest.
/// 3. P − T, P being the stored polynomial with its rounded coefficients, is written in Chebyshev polynomials; each is
///    at most 1 in magnitude, so the sum of the coefficients' magnitudes bounds |P − T| on the piece. The coefficients
///    of T are known to a relative 2^-200 (step 1, checked) and the arithmetic has 320 bits: what they add is far below
///    the 2^-20 that is added for them.
/// 4. In `quantile`, c0 and c1 t are exact; the term c_k t^k of the rest is off by 2k + 1 roundings at most: k from
///    converting t, one of t², one of the product, and k − 1 of the fused steps at and below it. So the rest is wrong
///    by at most Σ |c_k| 2^-k ((1 + 2^-53)^(2k+1) − 1). It is not negative: c2 outweighs the others, which is checked.
/// 5. Two numbers are rounded down to integers, which takes less than 2; c0 was raised by 1, so that is ± 1.
/// 6. The cell's other points: |z'| ≤ 1/φ at the octave's left edge, times half a cell, 2^-65.
/// The last piece of octave 0 touches z = 0; that the sum cannot fall below 0, where it would wrap, is checked:
/// smallest z − error > −1, and it is an integer.
#include "privacy/noise/gaussian_table.hpp"

#include <cstdio>
#include <cstdlib>
#include <mpfr.h>
#include <utility>
#include <vector>

namespace {

using namespace starling::gaussian_table;

constexpr mpfr_prec_t precision = 320;
constexpr int taylor_degree = 24;

/// A number of 320 bits. Operators round to nearest.
class Real {
 public:
  Real(double value = 0) {
    mpfr_init2(value_, precision);
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  Real(const Real& other) : Real() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  Real& operator=(const Real& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~Real() { mpfr_clear(value_); }
  [[nodiscard]] mpfr_ptr raw() { return value_; }
  [[nodiscard]] mpfr_srcptr raw() const { return value_; }
  [[nodiscard]] double up() const { return mpfr_get_d(value_, MPFR_RNDU); }

 private:
  mpfr_t value_;
};

template <class Operation>
Real apply(Operation operation, const Real& a, const Real& b, mpfr_rnd_t rounding = MPFR_RNDN) {
  Real result;
  operation(result.raw(), a.raw(), b.raw(), rounding);
  return result;
}
Real operator+(const Real& a, const Real& b) {
  return apply(mpfr_add, a, b);
}
Real operator-(const Real& a, const Real& b) {
  return apply(mpfr_sub, a, b);
}
Real operator*(const Real& a, const Real& b) {
  return apply(mpfr_mul, a, b);
}
Real operator/(const Real& a, const Real& b) {
  return apply(mpfr_div, a, b);
}
bool operator<=(const Real& a, const Real& b) {
  return mpfr_lessequal_p(a.raw(), b.raw()) != 0;
}
bool operator<(const Real& a, const Real& b) {
  return mpfr_less_p(a.raw(), b.raw()) != 0;
}
Real magnitude(const Real& a) {
  Real result;
  mpfr_abs(result.raw(), a.raw(), MPFR_RNDN);
  return result;
}
Real power_of_two(int exponent) {
  return Real(std::ldexp(1.0, exponent));
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "gaussian_table: not proved: %s\n", what);
  std::exit(1);
}

struct Enclosure {
  Real lower;
  Real upper;
};

Real square_root_of_two(mpfr_rnd_t rounding) {
  Real root;
  mpfr_sqrt_ui(root.raw(), 2, rounding);
  return root;
}

/// A bound on Q(z) from below (MPFR_RNDD) or above (MPFR_RNDU), z ≥ 0.
Real upper_tail(const Real& z, mpfr_rnd_t rounding) {
  const mpfr_rnd_t opposite = rounding == MPFR_RNDD ? MPFR_RNDU : MPFR_RNDD;
  Real tail = apply(mpfr_div, z, square_root_of_two(rounding), opposite);
  mpfr_erfc(tail.raw(), tail.raw(), rounding);
  mpfr_div_2ui(tail.raw(), tail.raw(), 1, rounding);
  return tail;
}

/// √(2π) exp(z²/2) = 1/φ(z).
Real inverse_density(const Real& z, mpfr_rnd_t rounding) {
  Real exponential = apply(mpfr_mul, z, z, rounding);
  mpfr_div_2ui(exponential.raw(), exponential.raw(), 1, rounding);
  mpfr_exp(exponential.raw(), exponential.raw(), rounding);
  Real root;
  mpfr_const_pi(root.raw(), rounding);
  mpfr_mul_2ui(root.raw(), root.raw(), 1, rounding);
  mpfr_sqrt(root.raw(), root.raw(), rounding);
  return apply(mpfr_mul, root, exponential, rounding);
}

/// z(U), 2^-40 < U ≤ 1/2: Newton's iteration, then a proof (step 1).
Enclosure quantile_of(const Real& tail) {
  Real z(std::sqrt(std::max(0.0, -2 * std::log(2 * tail.up()))));
  Real change(1);
  for (int i = 0; i < 60 && power_of_two(-270) < magnitude(change); ++i) {
    change = (upper_tail(z, MPFR_RNDN) - tail) * inverse_density(z, MPFR_RNDN);
    z = z + change;
  }
  Enclosure result{z - power_of_two(-260), z + power_of_two(-260)};
  if (result.lower < Real(0)) result.lower = Real(0);
  require(upper_tail(result.upper, MPFR_RNDU) <= tail && tail <= upper_tail(result.lower, MPFR_RNDD),
          "the enclosure of a quantile");
  return result;
}

/// P_1 … P_25, coefficients in order of powers; integers that 320 bits hold exactly.
std::vector<std::vector<Real>> derivative_polynomials() {
  std::vector<std::vector<Real>> all{{}, {Real(1)}};
  for (int n = 1; n <= taylor_degree; ++n) {
    const std::vector<Real>& last = all.back();
    std::vector<Real> next(last.size() + 1);
    for (std::size_t i = 0; i < last.size(); ++i) {
      if (i > 0) next[i - 1] = next[i - 1] + Real(static_cast<double>(i)) * last[i];
      next[i + 1] = next[i + 1] + Real(n) * last[i];
    }
    all.push_back(next);
  }
  return all;
}

/// |z⁽ᵏ⁾| sᵏ / k! for k = 1 … 25 at the z given, rounded as told: a bound for all smaller (MPFR_RNDU) or all larger z ≥
/// 0.
std::vector<Real> taylor(const Real& z, const Real& step, mpfr_rnd_t rounding) {
  static const std::vector<std::vector<Real>> polynomials = derivative_polynomials();
  const Real slope = apply(mpfr_mul, inverse_density(z, rounding), step, rounding);
  Real factor(1);
  std::vector<Real> result{z};
  for (int k = 1; k <= taylor_degree + 1; ++k) {
    factor = apply(mpfr_mul, factor, slope, rounding);
    factor = apply(mpfr_div, factor, Real(k), rounding);
    Real sum;
    const std::vector<Real>& polynomial = polynomials[static_cast<std::size_t>(k)];
    for (std::size_t i = polynomial.size(); i-- > 0;) {
      sum = apply(mpfr_add, apply(mpfr_mul, sum, z, rounding), polynomial[i], rounding);
    }
    result.push_back(apply(mpfr_mul, sum, factor, rounding));
  }
  return result;
}

/// Coefficients b_j with Σ a_k t^k = Σ b_j T_j(2 t).
std::vector<Real> in_chebyshev(const std::vector<Real>& powers) {
  // By Horner's rule, with t T_0 = T_1 / 2 and t T_j = (T_{j−1} + T_{j+1}) / 4.
  std::vector<Real> sum(powers.size() + 1);
  for (std::size_t k = powers.size(); k-- > 0;) {
    std::vector<Real> next(sum.size());
    for (std::size_t j = 0; j + 1 < sum.size(); ++j) {
      const Real part = sum[j] * Real(j == 0 ? 0.5 : 0.25);
      next[j + 1] = next[j + 1] + part;
      if (j > 0) next[j - 1] = next[j - 1] + part;
    }
    next[0] = next[0] + powers[k];
    sum = next;
  }
  return sum;
}

/// The inverse.
std::vector<Real> in_powers(const std::vector<Real>& chebyshev) {
  std::vector<Real> before{Real(1)};        // T_0
  std::vector<Real> now{Real(0), Real(2)};  // T_1(2 t)
  std::vector<Real> sum(chebyshev.size());
  for (const Real& coefficient : chebyshev) {
    for (std::size_t k = 0; k < before.size(); ++k) sum[k] = sum[k] + coefficient * before[k];
    std::vector<Real> next(now.size() + 1);  // T_{j+2} = 4 t T_{j+1} − T_j
    for (std::size_t k = 0; k < now.size(); ++k) next[k + 1] = Real(4) * now[k];
    for (std::size_t k = 0; k < before.size(); ++k) next[k] = next[k] - before[k];
    before = std::exchange(now, next);
  }
  return sum;
}

struct Made {
  Piece piece;
  double error;  ///< of steps 2 to 5
};

std::int64_t nearest_integer(const Real& value) {
  require(mpfr_fits_slong_p(value.raw(), MPFR_RNDN) != 0, "a coefficient fits 64 bits");
  return mpfr_get_si(value.raw(), MPFR_RNDN);
}

/// The Taylor polynomial of z in units of 2^-(61+x), signs in place, and its remainder (step 2).
std::pair<std::vector<Real>, Real> expand(const Real& left, const Real& width, int extra_bits) {
  const Enclosure centre = quantile_of(left + width / Real(2));
  const std::vector<Real> lower = taylor(centre.lower, width, MPFR_RNDD);
  const std::vector<Real> upper = taylor(centre.upper, width, MPFR_RNDU);
  const Real unit = power_of_two(unit_bits + extra_bits);
  std::vector<Real> result;
  for (std::size_t k = 0; k <= taylor_degree; ++k) {
    require(upper[k] - lower[k] <= upper[k] * power_of_two(-200), "the enclosure of a Taylor coefficient");
    result.push_back(upper[k] * unit * Real(k % 2 == 0 ? 1 : -1));
  }
  const Real half = width / Real(2);
  return {result, taylor(quantile_of(left).upper, half, MPFR_RNDU).back() * unit};
}

/// Rounds the truncated Chebyshev series to the stored form.
Piece rounded(const std::vector<Real>& series) {
  std::vector<Real> chebyshev = in_chebyshev(series);
  chebyshev.resize(degree + 1);
  const std::vector<Real> powers = in_powers(chebyshev);
  Piece piece{};
  mpfr_t whole;
  mpfr_init2(whole, precision);
  mpfr_round(whole, powers[0].raw());
  require(mpfr_fits_ulong_p(whole, MPFR_RNDN) != 0, "c0 fits 64 bits");
  piece.c0 = mpfr_get_ui(whole, MPFR_RNDN) + 1;  // step 5
  mpfr_clear(whole);
  piece.c1 = nearest_integer(powers[1]);
  for (int k = 2; k <= degree; ++k) {
    const double coefficient = mpfr_get_d(powers[static_cast<std::size_t>(k)].raw(), MPFR_RNDN);
    piece.rest[static_cast<std::size_t>(k - 2)] = std::ldexp(coefficient, -64 * k);
  }
  return piece;
}

/// The stored polynomial without the 1 of step 5.
std::vector<Real> stored(const Piece& piece) {
  std::vector<Real> result(2);
  mpfr_set_ui(result[0].raw(), piece.c0 - 1, MPFR_RNDN);
  mpfr_set_si(result[1].raw(), piece.c1, MPFR_RNDN);
  for (int k = 2; k <= degree; ++k)
    result.emplace_back(std::ldexp(piece.rest[static_cast<std::size_t>(k - 2)], 64 * k));
  return result;
}

/// Step 4.
Real rounding_of_rest(const std::vector<Real>& polynomial) {
  Real total;
  Real others;
  for (int k = 2; k <= degree; ++k) {
    const Real size = magnitude(polynomial[static_cast<std::size_t>(k)]) * power_of_two(-k);
    total = total + size * Real((2 * k + 1) * 0x1.0001p-53);  // (1 + u)^15 − 1 < 15 u (1 + 2^-16)
    if (k > 2) others = others + size;
  }
  require(others < polynomial[2] * Real(0.25) * Real(0.999), "the rest is not negative");
  return total;
}

Made make_piece(const Real& left, const Real& width, int extra_bits) {
  const auto [series, remainder] = expand(left, width, extra_bits);
  Made made{rounded(series), 0};
  std::vector<Real> difference = stored(made.piece);
  const Real evaluation = rounding_of_rest(difference);
  difference.resize(series.size());
  for (std::size_t k = 0; k < series.size(); ++k) difference[k] = difference[k] - series[k];
  Real total = Real(1) + evaluation + remainder + Real(0x1p-20);
  for (const Real& coefficient : in_chebyshev(difference)) total = total + magnitude(coefficient);
  made.error = total.up();
  return made;
}

void print(const Piece& piece) {
  std::printf("   {0x%016lxU, %ld,\n    {%a, %a, %a,\n     %a, %a, %a}},\n", static_cast<unsigned long>(piece.c0),
              static_cast<long>(piece.c1), piece.rest[0], piece.rest[1], piece.rest[2], piece.rest[3], piece.rest[4],
              piece.rest[5]);
}

}  // namespace

int main() {
  std::array<Octave, octaves> octave_rows{};
  std::vector<Piece> piece_rows;
  for (int j = 0; j < octaves; ++j) {
    const Real left = power_of_two(-(j + 2));
    const Real width = power_of_two(-(j + 2) - piece_bits);
    const Enclosure largest = quantile_of(left);
    int extra_bits = 0;
    while (largest.upper < power_of_two(2 - extra_bits)) ++extra_bits;
    double error = 0;
    for (int i = 0; i < pieces; ++i) {
      const Made made = make_piece(left + Real(i) * width, width, extra_bits);
      error = std::max(error, made.error);
      piece_rows.push_back(made.piece);
    }
    const Real unit = power_of_two(unit_bits + extra_bits);
    if (j == 0) {  // the smallest z of a cell's centre, 1/2 − 2^-65
      const Real smallest = quantile_of(Real(0.5) - power_of_two(-65)).lower * unit;
      require(Real(error) - smallest < Real(0.999), "no quantile falls below 0");
    }
    const Real cell = inverse_density(largest.upper, MPFR_RNDU) * power_of_two(-65) * unit;
    octave_rows[static_cast<std::size_t>(j)] = {extra_bits,
                                                static_cast<std::uint64_t>(std::ceil((Real(error) + cell).up()))};
    std::fprintf(stderr, "octave %d: x = %d, polynomial %.3f, cell %.3f\n", j, extra_bits, error, cell.up());
  }
  std::printf("// Made by tools/gaussian_table.cpp, which explains it. Do not edit.\n{{{\n");
  for (const Octave& octave : octave_rows) {
    std::printf("   {%d, %lu},\n", octave.extra_bits, static_cast<unsigned long>(octave.error));
  }
  std::printf("  }},\n  {{\n");
  for (const Piece& piece : piece_rows) print(piece);
  std::printf("  }}};\n");
  return 0;
}
