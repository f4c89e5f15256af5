#include "starling/record/minimise.hpp"

#include "bundle.hpp"
#include "quasi_newton.hpp"
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "starling/core/kernels.hpp"

namespace starling {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Models beyond it have no digits left to improve.
constexpr double largest_norm = 1e15;
/// Values closer than this, relatively, differ by rounding.
constexpr double rounding = 1e-13;
/// Steps in a row that may fail to lower the value.
constexpr int most_idle_steps = 30;
constexpr double curvature_relief = 0.9;
/// Backtracking to below this, relatively, means a kink, or that there is nothing left to gain.
constexpr double shortest_step = 1e-9;
constexpr double probe_length = 1e-3;
constexpr double least_curvature = 1e-12;
// Of quasi-Newton steps.
constexpr std::int64_t few_evaluations = 40;  ///< before them, by gradient steps
constexpr int most_turns = 4;                 ///< of the two
constexpr double sufficient_decrease = 1e-4;
constexpr double sufficient_flattening = 0.9;
constexpr int most_bisections = 30;
constexpr double rounding_of_domain = 1e-12;
constexpr int most_bent_steps = 10;  ///< in a row, without another face
constexpr std::size_t patience = 30;  ///< steps, and two per coordinate, in which the gradient has to halve
// Of the bundle method.
constexpr std::size_t most_recent = 30;
constexpr std::int64_t first_cuts = 200;
constexpr double needed_share = 0.1;
constexpr double serious_step_relief = 0.5;
constexpr double null_step_strain = 1.05;
constexpr double overshoot_strain = 1.5;

struct Point {
  Vector x;
  double value = infinity;
  Vector gradient;
};

class Search {
 public:
  Search(const ConvexFunction& f, Domain& domain, const MinimiseSettings& settings)
      : f_(f), domain_(domain), settings_(settings), most_evaluations_(settings.evaluations) {}

  Minimum run(std::size_t dimension) {
    Vector start = settings_.start;
    start.resize(dimension);
    if (settings_.start.empty()) {
      domain_.centre(start);
    } else {
      domain_.project(start);
    }
    best_ = evaluate(std::move(start));
    gradient_tolerance_ = settings_.gradient_norm * std::max(1.0, norm2(best_.gradient));
    best_residual_ = residual(best_);
    guess_curvature();
    const bool cuts = settings_.kinks == MinimiseSettings::Kinks::possible;
    const std::int64_t smooth = cuts ? settings_.evaluations / 2 : settings_.evaluations;
    take_turns(smooth, needed_share);
    if (cuts) cut_until(evaluations_ + first_cuts);
    take_turns(smooth, 1);
    if (cuts) cut_until(settings_.evaluations);
    return result();
  }

 private:
  /// Gradient steps and quasi-Newton steps in turn, as long as each turn leaves no more than this share of the
  /// certificate; with all of it, gradient steps end them.
  void take_turns(std::int64_t most_evaluations, double share) {
    for (int turn = 0; turn < most_turns; ++turn) {
      most_evaluations_ = std::min(evaluations_ + few_evaluations, most_evaluations);
      idle_steps_ = 0;
      descend();
      const double before = certificate();
      most_evaluations_ = most_evaluations;
      refine();
      if (is_over() || certificate() > share * before) break;
    }
    if (share < 1) return;
    idle_steps_ = 0;
    descend();
  }

  void cut_until(std::int64_t most_evaluations) {
    most_evaluations_ = std::min(most_evaluations, settings_.evaluations);
    cut();
  }

  [[nodiscard]] Point evaluate(Vector x) {
    Point point{std::move(x), 0, {}};
    point.gradient.resize(point.x.size());
    point.value = f_(point.x, point.gradient);
    ++evaluations_;
    lower_ = std::max(lower_, lower_bound(point));
    if (settings_.kinks == MinimiseSettings::Kinks::possible) {
      if (recent_.size() == most_recent) recent_.pop_front();
      recent_.push_back(point);
    }
    return point;
  }

  /// min_{s ∈ X} of what convexity lets f be: f(y) + ⟨g, s − y⟩, and with curvature μ f(y) − ‖g‖²/(2μ).
  [[nodiscard]] double lower_bound(const Point& y) const {
    if (!std::isfinite(y.value)) return -infinity;
    Vector downhill = y.gradient;
    scale(-1, downhill);
    double bound = y.value - dot(y.gradient, y.x) - domain_.support(downhill);
    if (settings_.strong_convexity > 0) {
      bound = std::max(bound, y.value - dot(y.gradient, y.gradient) / (2 * settings_.strong_convexity));
    }
    return std::isnan(bound) ? -infinity : bound;
  }

  [[nodiscard]] Vector stepped(const Point& from, double length) const {
    Vector x = from.x;
    axpy(-length, from.gradient, x);
    domain_.project(x);
    return x;
  }

  /// ‖x − Π_X(x − ∇f(x))‖.
  [[nodiscard]] double residual(const Point& point) const {
    return std::sqrt(squared_distance(point.x, stepped(point, 1)));
  }

  [[nodiscard]] bool certified_by_gap() const { return lower_ > -infinity; }
  [[nodiscard]] double gap() const { return std::max(best_.value - lower_, 0.0); }
  [[nodiscard]] double gap_tolerance() const { return settings_.gap * std::max(1.0, std::abs(best_.value)); }
  [[nodiscard]] double certificate() const { return certified_by_gap() ? gap() : best_residual_; }
  [[nodiscard]] bool reached() const {
    return certified_by_gap() ? gap() <= gap_tolerance() : best_residual_ <= gradient_tolerance_;
  }

  [[nodiscard]] bool is_over() const { return reached() || evaluations_ >= most_evaluations_ || ending_; }
  [[nodiscard]] bool may_go_on() {
    if (is_over()) return false;
    if (!settings_.go_on()) ending_ = Minimum::Ending::interrupted;
    if (!std::isfinite(best_.value) || norm2(best_.x) > largest_norm) ending_ = Minimum::Ending::unbounded;
    return !ending_;
  }

  void guess_curvature() {
    const double slope = norm2(best_.gradient);
    if (slope == 0) return;
    Vector x = best_.x;
    axpy(-probe_length / slope, best_.gradient, x);
    const Point probe = evaluate(std::move(x));
    curvature_ = std::max(std::sqrt(squared_distance(probe.gradient, best_.gradient)) / probe_length,
                          least_curvature * std::max(1.0, slope));
  }

  /// Whether f lies below its parabola of the present curvature between y and x. Where values differ by rounding alone,
  /// gradients tell.
  [[nodiscard]] bool fits(const Point& y, const Point& x) const {
    Vector move = x.x;
    axpy(-1, y.x, move);
    const double parabola = curvature_ * dot(move, move);
    if (x.value <= y.value + dot(y.gradient, move) + parabola / 2) return true;
    return parabola <= rounding * (1 + std::abs(y.value)) && dot(x.gradient, move) - dot(y.gradient, move) <= parabola;
  }

  /// A step from y that the curvature, raised as needed, vouches for. Empty when the search has to end.
  [[nodiscard]] std::optional<Point> step_from(const Point& y) {
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

  void keep_best(const Point& x) {
    if (x.value < best_.value - rounding * std::abs(best_.value)) {
      idle_steps_ = 0;
    } else {
      ++idle_steps_;
    }
    const double its_residual = residual(x);
    const bool lower = certified_by_gap() ? x.value < best_.value
                                          : x.value <= best_.value + rounding * std::abs(best_.value) &&
                                                (x.value < best_.value || its_residual < best_residual_);
    if (!lower) return;
    best_ = x;
    best_residual_ = its_residual;
  }

  void descend() {
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

  /// A point along p from x that is lower and flatter enough (Wolfe; by slopes alone where values differ by rounding).
  /// Where x + p is outside the domain, `bent` is set, and the point is the projection of a lower one.
  [[nodiscard]] std::optional<Point> along(const Point& x, const Vector& p, double slope, bool& bent) {
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
      const bool descends = next.value <= x.value + promised ||
                            (next.value <= x.value + rounding * (1 + std::abs(x.value)) &&
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

  /// ⟨∇f(x), y − x⟩.
  [[nodiscard]] static double towards(const Point& x, const Point& y) {
    return dot(x.gradient, y.x) - dot(x.gradient, x.x);
  }

  /// Quasi-Newton steps within the domain and along its flat faces.
  void refine() {
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

  /// Proximal steps around the best point; a step counts that brings a tenth of what the planes promise.
  void cut() {
    if (!may_go_on()) return;
    Bundle bundle(domain_);
    for (const Point& point : recent_) bundle.add(point.x, point.value, point.gradient);
    bundle.add(best_.x, best_.value, best_.gradient);
    double weight = std::max(norm2(best_.gradient), least_curvature);
    while (may_go_on()) {
      const Bundle::Proposal proposal = bundle.propose(best_.x, weight);
      lower_ = std::max(lower_, proposal.minimum);
      // A combination of subgradients near x that hardly slopes, where no gap can be had.
      if (best_.value - proposal.at_centre <= gap_tolerance()) {
        best_residual_ = std::min(best_residual_, proposal.slope);
      }
      if (reached()) return;
      Point x = evaluate(proposal.x);
      bundle.add(x.x, x.value, x.gradient);
      const double promised = best_.value - proposal.planes;
      if (x.value < best_.value - needed_share * promised) {
        best_ = std::move(x);
        best_residual_ = residual(best_);
        weight *= serious_step_relief;
      } else {
        weight *= x.value - best_.value > promised ? overshoot_strain : null_step_strain;
      }
    }
  }

  /// Without a lower bound a small gradient may belong to a minimum at infinity: then twice x is better still.
  [[nodiscard]] bool falls_beyond() {
    if (certified_by_gap() || norm2(best_.x) == 0) return false;
    Vector twice = best_.x;
    scale(2, twice);
    return evaluate(std::move(twice)).value < best_.value - rounding * std::abs(best_.value);
  }

  [[nodiscard]] Minimum result() {
    Minimum minimum;
    const bool by_gap = certified_by_gap();
    minimum.kind = by_gap ? Minimum::Certificate::gap : Minimum::Certificate::gradient_norm;
    minimum.certificate = certificate();
    minimum.tolerance = by_gap ? gap_tolerance() : gradient_tolerance_;
    minimum.ending = ending_          ? *ending_
                     : falls_beyond() ? Minimum::Ending::not_attained
                     : reached()      ? Minimum::Ending::reached
                                      : Minimum::Ending::gave_up;
    minimum.x = best_.x;
    minimum.value = best_.value;
    minimum.evaluations = evaluations_;
    return minimum;
  }

  const ConvexFunction& f_;
  Domain& domain_;
  const MinimiseSettings& settings_;
  Point best_;
  std::deque<Point> recent_;  ///< evaluated last, for the bundle
  double best_residual_ = infinity;
  double lower_ = -infinity;
  double curvature_ = 1;
  double gradient_tolerance_ = 0;
  std::int64_t evaluations_ = 0;
  std::int64_t most_evaluations_;
  int idle_steps_ = 0;
  std::optional<Minimum::Ending> ending_;
};

}  // namespace

const char* name_of(Minimum::Certificate kind) {
  return kind == Minimum::Certificate::gap ? "gap" : "gradient norm";
}

Minimum minimise(const ConvexFunction& f, Domain& domain, std::size_t dimension, const MinimiseSettings& settings) {
  return Search(f, domain, settings).run(dimension);
}

}  // namespace starling
