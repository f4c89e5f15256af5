#include "quasi_newton.hpp"

#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

constexpr std::size_t most_pairs = 60;
constexpr double least_product = 1e-14;  ///< relative
constexpr double trial_length = 1e-3;
constexpr double rim = 1e-10;  ///< relative

}  // namespace

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

}  // namespace starling
