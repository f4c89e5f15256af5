/// The search of minimise(). Internal to the optimise module.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "optimise/minimise.hpp"

namespace starling {

/// One search. Construct, then call run() once.
class Search {
 public:
  Search(const ConvexFunction& f, Domain& domain, const MinimiseSettings& settings)
      : f_(f), domain_(domain), settings_(settings), most_evaluations_(settings.evaluations) {}

  Minimum run(std::size_t dimension);

 private:
  struct Point {
    Vector x;
    double value = std::numeric_limits<double>::infinity();
    Vector gradient;
  };

  /// Gradient steps and quasi-Newton steps in turn, while each turn reduces the certificate to at most this share.
  void take_turns(std::int64_t most_evaluations, double share);
  void cut_until(std::int64_t most_evaluations);
  [[nodiscard]] Point evaluate(Vector x);
  /// Lower bound of f on X from y: min_{s ∈ X} f(y) + ⟨g, s − y⟩, and with μ also f(y) − ‖g‖²/(2μ).
  [[nodiscard]] double lower_bound(const Point& y) const;
  [[nodiscard]] Vector stepped(const Point& from, double length) const;
  /// ‖x − Π_X(x − ∇f(x))‖.
  [[nodiscard]] double residual(const Point& point) const;
  [[nodiscard]] bool may_go_on();
  /// Proximal steps around the best point. A step is accepted if it brings a tenth of the promised decrease.
  void cut();
  /// Whether f is lower at 2x, as if its minimum is at infinity. For domains without a lower bound.
  [[nodiscard]] bool falls_beyond();
  [[nodiscard]] Minimum result();

  [[nodiscard]] bool certified_by_gap() const { return std::isfinite(lower_); }
  [[nodiscard]] double gap() const { return std::max(best_.value - lower_, 0.0); }
  [[nodiscard]] double gap_tolerance() const { return settings_.gap * std::max(1.0, std::abs(best_.value)); }
  [[nodiscard]] double certificate() const { return certified_by_gap() ? gap() : best_residual_; }
  [[nodiscard]] bool reached() const {
    return certified_by_gap() ? gap() <= gap_tolerance() : best_residual_ <= gradient_tolerance_;
  }
  [[nodiscard]] bool is_over() const { return reached() || evaluations_ >= most_evaluations_ || ending_; }

  void guess_curvature();
  /// Whether f lies below its parabola of the current curvature between y and x. If values differ by rounding only,
  /// gradients are compared.
  [[nodiscard]] bool fits(const Point& y, const Point& x) const;
  /// A gradient step from y with a curvature, raised as needed, that fits. Empty when the search has to end.
  [[nodiscard]] std::optional<Point> step_from(const Point& y);
  void keep_best(const Point& x);
  void descend();
  /// A point along p from x that satisfies the Wolfe conditions (by slopes only if values differ by rounding). If x + p
  /// is outside the domain, sets `bent` and returns the projection of a lower point.
  [[nodiscard]] std::optional<Point> along(const Point& x, const Vector& p, double slope, bool& bent);
  /// ⟨∇f(x), y − x⟩.
  [[nodiscard]] static double towards(const Point& x, const Point& y);
  /// Quasi-Newton steps within the domain and along its flat faces.
  void refine();

  const ConvexFunction& f_;
  Domain& domain_;
  const MinimiseSettings& settings_;
  Point best_;
  std::deque<Point> recent_;  ///< last points evaluated, for the bundle
  double best_residual_ = std::numeric_limits<double>::infinity();
  double lower_ = -std::numeric_limits<double>::infinity();
  double curvature_ = 1;
  double gradient_tolerance_ = 0;
  std::int64_t evaluations_ = 0;
  std::int64_t most_evaluations_;
  int idle_steps_ = 0;
  std::optional<Minimum::Ending> ending_;
};

/// Relative difference of values that counts as rounding.
constexpr double rounding_of_values = 1e-13;
/// Largest norm of a model that can be improved.
constexpr double largest_norm = 1e15;

}  // namespace starling
