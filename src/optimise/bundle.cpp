#include "bundle.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

constexpr std::size_t most_planes = 60;
constexpr std::size_t most_borders = 30;
/// Steps that may be projected onto the domain before one is taken as it is.
constexpr int most_bends = 8;
/// Largest distance of a step from its projection, as a share of the step.
constexpr double small_bend = 1e-3;

}  // namespace

void Bundle::add(View y, double value, View gradient) {
  planes_.push_back({value - dot(gradient, y), Vector(gradient.begin(), gradient.end())});
}

double Bundle::at(const Plane& plane, View x) const {
  return plane.offset + dot(plane.slope, x);
}

/// Combination of the planes, without the borders.
Bundle::Plane Bundle::combined(View shares) const {
  Plane plane{0, Vector(planes_.front().slope.size(), 0.0)};
  for (std::size_t j = 0; j < planes_.size(); ++j) {
    if (shares[j] == 0) continue;
    plane.offset += shares[j] * planes_[j].offset;
    axpy(shares[j], planes_[j].slope, plane.slope);
  }
  return plane;
}

/// argmin of the planes' maximum + (weight/2)‖x − centre‖² within the borders, by its dual: x = centre − Σ share_j
/// slope_j / weight.
Vector Bundle::step(View centre, double weight) {
  std::vector<View> slopes;
  Vector heights;
  for (const auto* list : {&planes_, &borders_}) {
    for (const Plane& plane : *list) {
      slopes.push_back(plane.slope);
      heights.push_back(weight * at(plane, centre));
    }
  }
  // Shares of planes sum to one, so a common height has no effect.
  const double top = *std::max_element(heights.begin(), heights.begin() + static_cast<std::ptrdiff_t>(planes_.size()));
  for (std::size_t j = 0; j < planes_.size(); ++j) heights[j] -= top;
  shares_ = solve_shares(slopes, heights, planes_.size());
  Vector x(centre.begin(), centre.end());
  for (std::size_t j = 0; j < slopes.size(); ++j) {
    if (shares_[j] != 0) axpy(-shares_[j] / weight, slopes[j], x);
  }
  return x;
}

void Bundle::thin_out(const Plane& combination) {
  if (borders_.size() >= most_borders) borders_.erase(borders_.begin(), borders_.begin() + most_borders / 2);
  if (planes_.size() < most_planes) return;
  std::vector<Plane> kept{combination};
  for (std::size_t j = 0; j < planes_.size(); ++j) {
    if (shares_[j] > 0 && kept.size() < most_planes / 2) kept.push_back(std::move(planes_[j]));
  }
  planes_ = std::move(kept);
}

Bundle::Proposal Bundle::propose(View centre, double weight) {
  Vector x;
  for (int bends = 0; bends < most_bends; ++bends) {
    x = step(centre, weight);
    Vector inside = x;
    domain_.project(inside);
    Vector outwards = x;
    axpy(-1, inside, outwards);
    const double bend = norm2(outwards);
    x = std::move(inside);
    if (bend <= small_bend * std::sqrt(squared_distance(x, centre)) + rounding * (1 + norm2(x))) break;
    scale(1 / bend, outwards);
    borders_.push_back({-dot(outwards, x), std::move(outwards)});
  }
  const Plane combination = combined(shares_);
  Proposal proposal{x, at(planes_.front(), x), 0, at(combination, centre), norm2(combination.slope)};
  for (const Plane& plane : planes_) proposal.planes = std::max(proposal.planes, at(plane, x));
  Vector downhill = combination.slope;
  scale(-1, downhill);
  proposal.minimum = combination.offset - domain_.support(downhill);
  thin_out(combination);
  return proposal;
}

}  // namespace starling
