#include "safeguarded_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

constexpr double least_tau = 1e-12;              ///< below it A is H
constexpr double rounding_of_objective = 1e-14;  ///< relative
constexpr double least_gain = 1e-26;             ///< promised, relative to the objective; far below its rounding

}  // namespace

SafeguardedNewton::SafeguardedNewton(Vector start, BlockCurvature majoriser, std::string where)
    : where_(std::move(where)),
      best_(std::move(start)),
      candidate_(best_),
      majoriser_(majoriser),
      at_best_{0, {}, std::move(majoriser)} {}

/// If values differ by rounding only, gradients are compared.
bool SafeguardedNewton::falls(const Expansion& at_point) const {
  if (!std::isfinite(at_point.value)) return false;
  if (at_point.value < at_best_.value * (1 - rounding_of_objective)) return true;
  return at_point.value <= at_best_.value * (1 + rounding_of_objective) &&
         norm2(at_point.gradient) < norm2(at_best_.gradient);
}

void SafeguardedNewton::take(Expansion at_point) {
  if (!started_ || falls(at_point)) {
    if (started_) tau_ = tau_ < least_tau ? 0 : tau_ / 16;
    started_ = true;
    best_ = candidate_;
    at_best_ = std::move(at_point);
  } else if (tau_ == 1) {
    converged_ = true;  // rounding hides the decrease that the majoriser promises
    return;
  } else {
    tau_ = std::min(1.0, std::max(64 * tau_, 1e-6));
  }
  choose_candidate();
}

void SafeguardedNewton::choose_candidate() {
  const Vector step = direction();
  const double promised = dot(at_best_.gradient, step) / 2;
  converged_ = promised <= least_gain * std::abs(at_best_.value);
  candidate_ = best_;
  axpy(-1, step, candidate_);
}

bool SafeguardedNewton::is_short(View step) const {
  return norm2(step) <= 1e-6 * (1 + norm2(best_));
}

bool SafeguardedNewton::is_minimum() const {
  const std::optional<Vector> step = at_best_.curvature.try_solve(at_best_.gradient);
  return step && is_short(*step);
}

bool SafeguardedNewton::runs_away() const {
  if (at_best_.value < std::numeric_limits<double>::min()) return true;
  if (const auto step = at_best_.curvature.try_solve(at_best_.gradient)) return !is_short(*step);
  // Without curvature, which a flat part lacks too: longer coefficients lower the objective by a share of it.
  return std::abs(dot(at_best_.gradient, best_)) > 1e-6 * at_best_.value;
}

Vector SafeguardedNewton::direction() {
  while (true) {
    BlockCurvature mixed = at_best_.curvature;
    mixed.scale(1 - tau_);
    mixed.add(majoriser_, tau_);
    if (tau_ == 1) return mixed.solve(at_best_.gradient, where_);  // throws if not even that is positive definite
    if (auto step = mixed.try_solve(at_best_.gradient)) return *std::move(step);
    tau_ = std::min(1.0, std::max(64 * tau_, 1e-6));
  }
}

}  // namespace starling
