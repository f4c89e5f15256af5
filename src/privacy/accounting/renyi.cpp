#include "renyi.hpp"

#include <algorithm>
#include <cmath>

namespace starling {

namespace {

/// Production noise is discrete: moments exceed those of Laplace noise by at most this factor per release
/// (loss_distribution.hpp), and rounding is far below it.
constexpr long double log_slack_per_release = 0x1.0p-40L;

/// λ times the ε of a mechanism whose Rényi divergence of order α = 1 + λ is at most r, r + ln(1 − 1/α) − ln(δα)/(α −
/// 1) (Canonne, Kamath and Steinke 2020, proposition 12; Balle et al. 2020, theorem 21).
long double scaled(long double lambda, long double log_moment, long double log_delta) {
  return log_moment + lambda * (std::log(lambda) - std::log1p(lambda)) - log_delta - std::log1p(lambda);
}

class Curve {
 public:
  Curve(const Losses& losses, double delta) : losses_(losses), log_delta_(std::log(static_cast<long double>(delta))) {}
  /// ε from the order 1 + e^t.
  [[nodiscard]] long double operator()(long double t) const {
    const long double lambda = std::exp(t);
    const long double moment = losses_.log_moment(lambda) + losses_.releases * log_slack_per_release;
    return scaled(lambda, moment, log_delta_) / lambda;
  }

 private:
  const Losses& losses_;
  long double log_delta_;
};

/// Golden-section search from a grid's best point. Any result is a valid order.
long double least(const Curve& curve, long double low, long double high) {
  constexpr long double golden = 0.618033988749894848L;
  long double a = high - golden * (high - low);
  long double b = low + golden * (high - low);
  long double at_a = curve(a);
  long double at_b = curve(b);
  for (int step = 0; step < 40; ++step) {
    if (at_a < at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - golden * (high - low);
      at_a = curve(a);
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + golden * (high - low);
      at_b = curve(b);
    }
  }
  return at_a < at_b ? a : b;
}

}  // namespace

RenyiLoss renyi_loss(const Losses& losses, double delta) {
  // Any order is valid. The search uses few classes; the final figure uses all classes.
  const Losses few = merged(losses, 64);
  const Curve sought(few, delta);
  constexpr long double step = 0.25L;
  const long double end = std::log(1e12L);
  long double best = 0;
  long double best_value = sought(best);
  const auto steps = static_cast<int>(2 * end / step);
  for (int k = 0; k <= steps; ++k) {
    const long double t = -end + step * static_cast<long double>(k);
    if (const long double value = sought(t); value < best_value) {
      best_value = value;
      best = t;
    }
  }
  const long double refined = least(sought, best - step, best + step);
  if (sought(refined) < best_value) best = refined;
  const long double value = Curve(losses, delta)(best);
  const auto epsilon = static_cast<double>(value + std::abs(value) * 1e-15L);
  return {std::max(0.0, epsilon * (1 + 1e-10)), std::exp(best)};
}

}  // namespace starling
