#include "privacy/noise/laplace_tail.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

namespace starling {

namespace {

/// In deviations of the sum. No quantile of the documented probabilities is beyond, not even of one Laplace variable,
/// whose tail is the heaviest.
constexpr double furthest = 10;
/// The period of the series: what it folds back has a probability below 1e-17.
constexpr double period = 40;

/// Values of the characteristic function ∏ 1/(1 + v_i t²/2) of the standardised sum at t = (k + ½) 2π/period, as long
/// as they matter.
std::vector<double> characteristic_values(View variances, double total) {
  std::map<double, double> times;  // prices are often alike
  for (const double each : variances) ++times[each / total];
  std::vector<double> values;
  for (double middle = 0.5;; ++middle) {
    const double t = middle * 2 * std::numbers::pi / period;
    double log_value = 0;
    for (const auto& [variance, count] : times) log_value -= count * std::log1p(variance * t * t / 2);
    if (log_value < std::log(1e-10 * middle)) return values;
    values.push_back(std::exp(log_value));
  }
}

/// P(sum > x) = ½ − Σ_k φ(t_k) sin(t_k x)/(π (k + ½)) (Davies, "Numerical inversion of a characteristic function",
/// 1973, for a symmetric distribution).
double tail(const std::vector<double>& values, double x) {
  double sum = 0;
  double middle = 0.5;
  for (const double value : values) {
    sum += value * std::sin(middle * 2 * std::numbers::pi / period * x) / (std::numbers::pi * middle);
    ++middle;
  }
  return 0.5 - sum;
}

}  // namespace

double laplace_sum_quantile(View variances, double probability) {
  double total = 0;
  for (const double each : variances) total += each;
  const std::vector<double> values = characteristic_values(variances, total);
  double below = 0;
  double above = furthest;
  while (above - below > 1e-9) {
    const double middle = (below + above) / 2;
    (tail(values, middle) > probability ? below : above) = middle;
  }
  return above * std::sqrt(total);
}

}  // namespace starling
