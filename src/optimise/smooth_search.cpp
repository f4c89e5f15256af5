// The smooth part of the search: gradient steps and quasi-Newton steps.

#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

#include "core/columns.hpp"
#include "core/numerics/kernels.hpp"
#include "core/text/limits.hpp"
#include "mirror/mirror.hpp"
#include "optimise/search.hpp"

namespace starling {

namespace {

/// The inverse Hessian H of a function, estimated from its gradients along a path (L-BFGS: Nocedal 1980).
class CurvatureMemory {
 public:
  /// −H slope; −slope / curvature while the memory is empty.
  [[nodiscard]] Vector direction(View slope, double curvature) const;
  /// Adds a move and the change of the gradient over it; ignores pairs that are not convex.
  void add(Vector move, Vector change);
  void clear() { pairs_.clear(); }
  [[nodiscard]] bool empty() const { return pairs_.empty(); }

 private:
  struct Pair {
    Vector move;
    Vector change;
    double product = 0;
  };
  std::deque<Pair> pairs_;
};

/// The face of the domain on which a gradient step from a point stays: coordinates at their bounds are held, a simplex
/// keeps its sum, and on the rim of a ball no step leads outwards.
class Face {
 public:
  /// The face of the point x with this gradient.
  Face(Domain& domain, View x, View gradient);
  /// Component of a gradient or step along the face.
  [[nodiscard]] Vector along(View vector) const;
  /// Whether steps along the face have to be projected back onto it.
  [[nodiscard]] bool curved() const { return !normal_.empty(); }
  /// Whether both faces hold the same coordinates and are both curved or both flat.
  [[nodiscard]] bool same(const Face& other) const { return held_ == other.held_ && curved() == other.curved(); }

 private:
  std::vector<bool> held_;
  bool fixed_sum_;
  Vector normal_;  ///< normal of a ball's rim; empty elsewhere
};

constexpr std::size_t most_pairs = 60;
constexpr double least_product = 1e-14;  ///< relative
constexpr double trial_length = 1e-3;
constexpr double rim = 1e-10;  ///< relative

Vector CurvatureMemory::direction(View slope, double curvature) const {
  Vector p(slope.begin(), slope.end());
  Vector shares(pairs_.size());
  for (std::size_t i = pairs_.size(); i-- > 0;) {
    shares[i] = dot(pairs_[i].move, p) / pairs_[i].product;
    axpy(-shares[i], pairs_[i].change, p);
  }
  scale(pairs_.empty() ? 1 / curvature : pairs_.back().product / dot(pairs_.back().change, pairs_.back().change), p);
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    axpy(shares[i] - dot(pairs_[i].change, p) / pairs_[i].product, pairs_[i].move, p);
  }
  scale(-1, p);
  return p;
}

void CurvatureMemory::add(Vector move, Vector change) {
  const double product = dot(move, change);
  if (!(product > least_product * norm2(move) * norm2(change))) return;
  if (pairs_.size() == most_pairs) pairs_.pop_front();
  pairs_.push_back({std::move(move), std::move(change), product});
}

Face::Face(Domain& domain, View x, View gradient) : held_(x.size()), fixed_sum_(domain.simplex_mass() > 0) {
  Vector trial(x.begin(), x.end());
  axpy(-trial_length / (1 + norm2(gradient)), gradient, trial);
  domain.project(trial);
  for (std::size_t i = 0; i < x.size(); ++i) held_[i] = gradient[i] != 0 && trial[i] == x[i];
  const double radius = domain.ball_radius();
  if (radius == 0 || norm2(x) < radius * (1 - rim) || dot(gradient, x) >= 0) return;
  normal_.assign(x.begin(), x.end());
  scale(1 / norm2(x), normal_);
}

Vector Face::along(View vector) const {
  Vector slope(vector.begin(), vector.end());
  if (curved()) axpy(-dot(normal_, slope), normal_, slope);
  double total = 0;
  double free = 0;
  for (std::size_t i = 0; i < slope.size(); ++i) {
    if (held_[i]) {
      slope[i] = 0;
    } else {
      total += slope[i];
      ++free;
    }
  }
  if (!fixed_sum_ || free == 0) return slope;
  for (std::size_t i = 0; i < slope.size(); ++i) {
    if (!held_[i]) slope[i] -= total / free;
  }
  return slope;
}

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
