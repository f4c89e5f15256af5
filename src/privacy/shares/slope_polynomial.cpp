#include "privacy/shares/slope_polynomial.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/check.hpp"
#include "core/columns.hpp"

namespace starling {

namespace {

constexpr int most_degree = 15;
constexpr double largest_slope = 0x1p40;

/// Coefficients c_0, …, c_degree of the polynomial that equals `slope` at the degree + 1 Chebyshev nodes.
Vector interpolated(const std::function<double(double)>& slope, int degree) {
  const int nodes = degree + 1;
  Vector chebyshev(static_cast<std::size_t>(nodes));
  for (int i = 0; i < nodes; ++i) {
    const double angle = std::numbers::pi * (i + 0.5) / nodes;
    const double value = slope(std::cos(angle));
    for (int k = 0; k < nodes; ++k) {
      chebyshev[static_cast<std::size_t>(k)] += value * std::cos(k * angle) * (k == 0 ? 1.0 : 2.0) / nodes;
    }
  }
  // T_0 = 1, T_1 = u, T_(k+1) = 2 u T_k − T_(k−1), in powers of u.
  Vector powers(chebyshev.size());
  Vector before;
  Vector now{1.0};
  for (const double weight : chebyshev) {
    for (std::size_t j = 0; j < now.size(); ++j) powers[j] += weight * now[j];
    Vector next(now.size() + 1);
    const double doubled = before.empty() ? 1 : 2;
    for (std::size_t j = 0; j < now.size(); ++j) next[j + 1] = doubled * now[j];
    for (std::size_t j = 0; j < before.size(); ++j) next[j] -= before[j];
    before = std::move(now);
    now = std::move(next);
  }
  return powers;
}

double real_value(const Vector& powers, double u) {
  double value = 0;
  for (auto c = powers.rbegin(); c != powers.rend(); ++c) value = value * u + *c;
  return value;
}

WideWord binomial(std::size_t n, std::size_t k) {
  WideWord result = 1;
  for (std::size_t i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

}  // namespace

SlopePolynomial::SlopePolynomial(const std::function<double(double u)>& slope, int degree, int fraction_bits)
    : fraction_bits_(fraction_bits) {
  check<FailureError>(degree >= 1 && degree <= most_degree, "a polynomial of degree {}: 1 to {}.", degree, most_degree);
  const Vector powers = interpolated(slope, degree);
  double largest = 0;
  for (int i = -256; i <= 256; ++i) largest = std::max(largest, std::abs(real_value(powers, i / 256.0)));
  check(largest <= largest_slope, "a loss with a slope of {:.3g} on its scores: at most {:.3g}. Scale the labels.",
        largest, largest_slope);
  // |P| 2^F < 2^125, also between the points of that grid.
  scale_bits_ = 123 - static_cast<int>(std::ceil(std::log2(largest + 1)));
  for (std::size_t k = 0; k < powers.size(); ++k) {
    const double scaled = std::ldexp(powers[k], scale_bits_ - argument_bits * static_cast<int>(k));
    coefficients_.push_back(static_cast<WideWord>(static_cast<SignedWide>(std::nearbyint(scaled))));
  }
  for (std::size_t j = 0; j < coefficients_.size(); ++j) {
    weighted_.emplace_back();
    for (std::size_t k = j; k < coefficients_.size(); ++k) weighted_[j].push_back(coefficients_[k] * binomial(k, j));
  }
  least_ = most_ = at(0);
  double before = std::ldexp(static_cast<double>(scaled_at(-one)), -scale_bits_);
  for (std::int64_t argument = -one; argument <= one; ++argument) {
    const std::int64_t value = at(argument);
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
    const double u = static_cast<double>(argument) / static_cast<double>(one);
    const double here = std::ldexp(static_cast<double>(scaled_at(argument)), -scale_bits_);
    error_ = std::max(error_, std::abs(here - slope(u)));
    if (argument > -one) steepest_ = std::max(steepest_, std::abs(here - before) * static_cast<double>(one));
    before = here;
  }
}

SignedWide SlopePolynomial::scaled_at(std::int64_t argument) const {
  const auto u = static_cast<WideWord>(SignedWide{argument});
  WideWord value = 0;
  for (auto c = coefficients_.rbegin(); c != coefficients_.rend(); ++c) value = value * u + *c;
  return static_cast<SignedWide>(value);
}

std::int64_t SlopePolynomial::at(std::int64_t argument) const {
  return static_cast<std::int64_t>(scaled_at(argument) >> (scale_bits_ - fraction_bits_));
}

// P(a + e) = Σ_j a^j Σ_(k >= j) C_k (k over j) e^(k−j).
WideWord SlopePolynomial::share(WideWord e, std::span<const WideWord> power_shares, bool first) const {
  WideWord result = 0;
  for (std::size_t j = first ? 0 : 1; j < weighted_.size(); ++j) {
    WideWord factor = 0;
    for (auto c = weighted_[j].rbegin(); c != weighted_[j].rend(); ++c) factor = factor * e + *c;
    result += j == 0 ? factor : factor * power_shares[j - 1];
  }
  return result;
}

}  // namespace starling
