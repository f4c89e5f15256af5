// The smooth part of the search: gradient steps and quasi-Newton steps.
#include <algorithm>
#include <cmath>

#include "core/numerics/kernels.hpp"
#include "core/text/limits.hpp"
#include "quasi_newton.hpp"
#include "search.hpp"

namespace starling {

namespace {

/// Most steps in a row that do not lower the value.
constexpr int most_idle_steps = 30;
constexpr double curvature_relief = 0.9;
/// Relative length of backtracking that means a kink, or that no decrease is left.
constexpr double shortest_step = 1e-9;
constexpr double probe_length = 1e-3;
constexpr double least_smooth_curvature = 1e-12;
// Constants of quasi-Newton steps.
constexpr double sufficient_decrease = 1e-4;
constexpr double sufficient_flattening = 0.9;
constexpr int most_bisections = 30;
constexpr double rounding_of_domain = 1e-12;
constexpr int most_bent_steps = 10;   ///< most projected steps in a row on one face
constexpr std::size_t patience = 30;  ///< steps, plus two per coordinate, in which the gradient has to halve

}  // namespace

void Search::guess_curvature() {
  const double slope = norm2(best_.gradient);
  if (slope == 0) return;
  Vector x = best_.x;
  axpy(-probe_length / slope, best_.gradient, x);
  const Point probe = evaluate(std::move(x));
  curvature_ = std::max(std::sqrt(squared_distance(probe.gradient, best_.gradient)) / probe_length,
                        least_smooth_curvature * std::max(1.0, slope));
}

bool Search::fits(const Point& y, const Point& x) const {
  Vector move = x.x;
  axpy(-1, y.x, move);
  const double parabola = curvature_ * dot(move, move);
  if (x.value <= y.value + dot(y.gradient, move) + parabola / 2) return true;
  return parabola <= rounding_of_values * (1 + std::abs(y.value)) &&
         dot(x.gradient, move) - dot(y.gradient, move) <= parabola;
}

std::optional<Search::Point> Search::step_from(const Point& y) {
  while (may_go_on()) {
    Point x = evaluate(stepped(y, 1 / curvature_));
    if (!std::isfinite(x.value) && norm2(x.x) > largest_norm) {
      ending_ = Minimum::Ending::unbounded;
      return std::nullopt;
    }
    if (fits(y, x)) {
      curvature_ *= curvature_relief;
      return x;
    }
    curvature_ *= 2;
    if (std::sqrt(squared_distance(x.x, y.x)) < shortest_step * (1 + norm2(y.x))) return std::nullopt;
  }
  return std::nullopt;
}

void Search::keep_best(const Point& x) {
  if (x.value < best_.value - rounding_of_values * std::abs(best_.value)) {
    idle_steps_ = 0;
  } else {
    ++idle_steps_;
  }
  const double its_residual = residual(x);
  const bool lower = certified_by_gap() ? x.value < best_.value
                                        : x.value <= best_.value + rounding_of_values * std::abs(best_.value) &&
                                              (x.value < best_.value || its_residual < best_residual_);
  if (!lower) return;
  best_ = x;
  best_residual_ = its_residual;
}

void Search::descend() {
  Point x = best_;
  Point y = best_;
  double t = 1;
  while (may_go_on() && idle_steps_ < most_idle_steps) {
    std::optional<Point> next = step_from(y);
    if (!next) return;
    keep_best(*next);
    Vector move = next->x;  // x⁺ − x
    axpy(-1, x.x, move);
    const bool uphill = dot(y.x, move) > dot(next->x, move) || next->value > x.value;
    if (t > 1 && uphill) {
      if (next->value < x.value) x = std::move(*next);
      t = 1;
      y = x;
      continue;
    }
    const double grown = (1 + std::sqrt(1 + 4 * t * t)) / 2;
    const double momentum = (t - 1) / grown;
    t = grown;
    x = std::move(*next);
    if (momentum == 0) {
      y = x;
      continue;
    }
    Vector ahead = x.x;
    axpy(momentum, move, ahead);
    y = evaluate(std::move(ahead));
  }
}

std::optional<Search::Point> Search::along(const Point& x, const Vector& p, double slope, bool& bent) {
  std::optional<Point> lower;
  double low = 0;
  double high = infinity;
  double length = 1;
  for (int i = 0; i < most_bisections && may_go_on(); ++i) {
    Vector target = x.x;
    axpy(length, p, target);
    const bool outside = domain_.violation(target) > rounding_of_domain * (1 + norm2(target));
    if (outside && low > 0) return lower;
    bent = outside;
    if (outside) domain_.project(target);
    Point next = evaluate(std::move(target));
    const double flatter = dot(next.gradient, p);
    const double promised = sufficient_decrease * (outside ? towards(x, next) : length * slope);
    const bool descends =
        next.value <= x.value + promised || (next.value <= x.value + rounding_of_values * (1 + std::abs(x.value)) &&
                                             std::abs(flatter) < sufficient_flattening * std::abs(slope));
    if (!descends) {
      high = length;
    } else if (outside || flatter >= sufficient_flattening * slope) {
      return next;
    } else {
      low = length;
      lower = std::move(next);
    }
    length = std::isfinite(high) ? (low + high) / 2 : 2 * low;
  }
  return lower;
}

double Search::towards(const Point& x, const Point& y) {
  return dot(x.gradient, y.x) - dot(x.gradient, x.x);
}

void Search::refine() {
  Point x = best_;
  Face face(domain_, x.x, x.gradient);
  Vector slope = face.along(x.gradient);
  CurvatureMemory memory;
  double halved = norm2(slope);
  std::size_t since = 0;
  int bends = 0;
  while (may_go_on() && norm2(slope) > 0 && since++ < patience + 2 * x.x.size() && bends < most_bent_steps) {
    Vector p = face.along(memory.direction(slope, curvature_));
    if (!(dot(p, slope) < 0)) {
      memory.clear();
      p = memory.direction(slope, curvature_);
    }
    bool bent = false;
    std::optional<Point> next = along(x, p, dot(p, slope), bent);
    if (!next && memory.empty()) return;
    if (!next) {
      memory.clear();
      continue;
    }
    keep_best(*next);
    Face there(domain_, next->x, next->gradient);
    Vector slope_there = there.along(next->gradient);
    const bool same = there.same(face) && (!bent || face.curved());
    bends = bent && there.same(face) && !face.curved() ? bends + 1 : 0;
    if (!same) {
      memory.clear();
    } else {
      Vector move = next->x;
      axpy(-1, x.x, move);
      Vector change = slope_there;
      axpy(-1, slope, change);
      memory.add(std::move(move), std::move(change));
    }
    x = std::move(*next);
    face = std::move(there);
    slope = std::move(slope_there);
    if (norm2(slope) > halved / 2) continue;
    halved = norm2(slope);
    since = 0;
  }
}

}  // namespace starling
