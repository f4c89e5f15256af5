#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <tuple>
#include <utility>

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/tools/roots.hpp>

#include "core/check.hpp"
#include "core/numerics/gram.hpp"
#include "core/random.hpp"
#include "inference/path_intervals.hpp"

namespace starling {

namespace {

/// √(u / sinh u) for u >= 0.
double root_of_bridge(double u) {
  if (u < 1e-4) return 1 - u * u / 12;
  return std::sqrt(2 * u / -std::expm1(-2 * u)) * std::exp(-u / 2);
}

/// x >= 0 where the falling function `tail` (1 at 0) is 1 − level, to 1e-10 relative or better.
template <class Tail>
double where_tail_is(double level, Tail tail) {
  check(level > 0 && level < 1, "level {}: it must be strictly between 0 and 1. Choose one such as 0.95.", level);
  const auto excess = [&](double x) { return tail(x) - (1 - level); };
  double high = 1;
  while (excess(high) > 0) high *= 2;
  double low = high / 2;
  while (excess(low) < 0) low /= 2;
  const auto close = [](double a, double b) { return b - a <= 1e-12 * b; };
  std::uintmax_t steps = 200;
  const auto [below, above] = boost::math::tools::toms748_solve(excess, low, high, close, steps);
  return 0.5 * (below + above);
}

/// Two independent standard normal numbers by Box and Muller.
std::pair<double, double> normal_pair(AddressedRandom& random) {
  const double radius = std::sqrt(-2 * std::log(random.positive_uniform()));
  const double angle = 2 * std::numbers::pi * random.uniform();
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Draws of ∫ W̄ W̄' for p coordinates: the first terms of its expansion, and the mean of the rest.
class BridgeSquares {
 public:
  BridgeSquares(std::size_t p, std::size_t terms) : p_(p), terms_(terms), normals_(p + 1), matrix_(p * p) {
    rest_ = 1.0 / 6;
    for (std::size_t k = 1; k <= terms_; ++k) rest_ -= term(k);
  }

  /// (∫ W̄ W̄')⁻¹_pp: one over the last pivot of Cholesky's factorization.
  double last_of_inverse(AddressedRandom& random) {
    draw(random);
    for (std::size_t j = 0; j + 1 < p_; ++j) {
      for (std::size_t i = j + 1; i < p_; ++i) {
        const double factor = matrix_[i * p_ + j] / matrix_[j * p_ + j];
        for (std::size_t k = j + 1; k <= i; ++k) matrix_[i * p_ + k] -= factor * matrix_[k * p_ + j];
      }
    }
    return 1 / matrix_.back();
  }

 private:
  /// 1/(πk)².
  static double term(std::size_t k) {
    const double frequency = std::numbers::pi * static_cast<double>(k);
    return 1 / (frequency * frequency);
  }

  /// The lower triangle.
  void draw(AddressedRandom& random) {
    std::fill(matrix_.begin(), matrix_.end(), 0.0);
    for (std::size_t i = 0; i < p_; ++i) matrix_[i * p_ + i] = rest_;
    for (std::size_t k = 1; k <= terms_; ++k) {
      for (std::size_t j = 0; j < p_; j += 2) std::tie(normals_[j], normals_[j + 1]) = normal_pair(random);
      const double weight = term(k);
      for (std::size_t i = 0; i < p_; ++i) {
        const double weighted = weight * normals_[i];
        for (std::size_t j = 0; j <= i; ++j) matrix_[i * p_ + j] += weighted * normals_[j];
      }
    }
  }

  std::size_t p_;
  std::size_t terms_;
  double rest_ = 0;  ///< Σ_{k > terms} 1/(πk)²
  Vector normals_;
  Vector matrix_;  ///< p × p, row after row
};

}  // namespace

double random_scaling_tail(double c) {
  check(c >= 0, "a tail beyond {}: |T| is not negative. Ask for c >= 0.", c);
  const auto density = [c](double phi) { return phi > 0 ? root_of_bridge(c / std::sin(phi)) : c > 0 ? 0.0 : 1.0; };
  using Rule = boost::math::quadrature::gauss_kronrod<double, 61>;
  return 2 / std::numbers::pi * Rule::integrate(density, 0.0, std::numbers::pi / 2, 15, 1e-13);
}

double random_scaling_quantile(double level) {
  return where_tail_is(level, random_scaling_tail);
}

double joint_quantile(std::size_t coordinates, double level) {
  check(coordinates > 0, "a joint region of no coordinates. Name some.");
  if (coordinates == 1) {
    const double quantile = random_scaling_quantile(level);
    return quantile * quantile;
  }
  constexpr std::size_t draws = 20000;
  BridgeSquares squares(coordinates, 60 + 20 * coordinates);
  Vector inverses(draws);
  for (std::size_t i = 0; i < draws; ++i) {
    AddressedRandom random(20250704, Purpose::experiment, coordinates, i);
    inverses[i] = squares.last_of_inverse(random);
  }
  const double half = 0.5 * static_cast<double>(coordinates);
  return where_tail_is(level, [&](double x) {
    double total = 0;
    for (const double inverse : inverses) total += boost::math::gamma_q(half, 0.5 * x / inverse);
    return total / static_cast<double>(draws);
  });
}

}  // namespace starling
