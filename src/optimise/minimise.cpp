#include "optimise/minimise.hpp"

#include <algorithm>
#include <cmath>

#include "bundle.hpp"
#include "core/numerics/kernels.hpp"
#include "core/text/limits.hpp"
#include "search.hpp"

namespace starling {

namespace {

constexpr double least_curvature = 1e-12;
constexpr std::int64_t few_evaluations = 40;  ///< evaluations of gradient steps before quasi-Newton steps
constexpr int most_turns = 4;                 ///< most turns of gradient and quasi-Newton steps
// Constants of the bundle method.
constexpr std::size_t most_recent = 30;
constexpr std::int64_t first_cuts = 200;
constexpr double needed_share = 0.1;
constexpr double serious_step_relief = 0.5;
constexpr double null_step_strain = 1.05;
constexpr double overshoot_strain = 1.5;

}  // namespace

Minimum Search::run(std::size_t dimension) {
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

void Search::take_turns(std::int64_t most_evaluations, double share) {
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

void Search::cut_until(std::int64_t most_evaluations) {
  most_evaluations_ = std::min(most_evaluations, settings_.evaluations);
  cut();
}

Search::Point Search::evaluate(Vector x) {
  Point point{std::move(x), 0, {}};
  point.gradient.resize(point.x.size());
  point.value = f_(point.x, point.gradient);
  ++evaluations_;
  lower_ = std::max(lower_, lower_bound(point));
  if (settings_.kinks == MinimiseSettings::Kinks::possible && std::isfinite(point.value)) {
    if (recent_.size() == most_recent) recent_.pop_front();
    recent_.push_back(point);
  }
  return point;
}

double Search::lower_bound(const Point& y) const {
  if (!std::isfinite(y.value)) return -infinity;
  Vector downhill = y.gradient;
  scale(-1, downhill);
  double bound = y.value - dot(y.gradient, y.x) - domain_.support(downhill);
  if (settings_.strong_convexity > 0) {
    bound = std::max(bound, y.value - dot(y.gradient, y.gradient) / (2 * settings_.strong_convexity));
  }
  return std::isnan(bound) ? -infinity : bound;
}

Vector Search::stepped(const Point& from, double length) const {
  Vector x = from.x;
  axpy(-length, from.gradient, x);
  domain_.project(x);
  return x;
}

double Search::residual(const Point& point) const {
  return std::sqrt(squared_distance(point.x, stepped(point, 1)));
}

bool Search::may_go_on() {
  if (is_over()) return false;
  if (!settings_.go_on()) ending_ = Minimum::Ending::interrupted;
  if (!std::isfinite(best_.value) || norm2(best_.x) > largest_norm) ending_ = Minimum::Ending::unbounded;
  return !ending_;
}

void Search::cut() {
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

bool Search::falls_beyond() {
  if (certified_by_gap() || norm2(best_.x) == 0) return false;
  Vector twice = best_.x;
  scale(2, twice);
  return evaluate(std::move(twice)).value < best_.value - rounding_of_values * std::abs(best_.value);
}

Minimum Search::result() {
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

const char* name_of(Minimum::Certificate kind) {
  return kind == Minimum::Certificate::gap ? "gap" : "gradient norm";
}

Minimum minimise(const ConvexFunction& f, Domain& domain, std::size_t dimension, const MinimiseSettings& settings) {
  return Search(f, domain, settings).run(dimension);
}

}  // namespace starling
