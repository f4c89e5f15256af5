#include "bundle.hpp"

#include <algorithm>

#include "starling/core/kernels.hpp"
#include "starling/record/minimise.hpp"

namespace starling {

namespace {

constexpr std::size_t most_planes = 60;
constexpr std::int64_t dual_evaluations = 400;
constexpr double dual_gap = 1e-11;

}  // namespace

void Bundle::add(View y, double value, View gradient) {
  planes_.push_back({value - dot(gradient, y), Vector(gradient.begin(), gradient.end())});
}

double Bundle::at(const Plane& plane, View x) const {
  return plane.offset + dot(plane.slope, x);
}

Bundle::Plane Bundle::combined(View shares) const {
  Plane plane{0, Vector(planes_.front().slope.size(), 0.0)};
  for (std::size_t j = 0; j < planes_.size(); ++j) {
    plane.offset += shares[j] * planes_[j].offset;
    axpy(shares[j], planes_[j].slope, plane.slope);
  }
  return plane;
}

/// argmin over the domain of the plane + (weight/2)‖x − centre‖².
Vector Bundle::nearest(const Plane& plane, View centre, double weight) {
  Vector x(centre.begin(), centre.end());
  axpy(-1 / weight, plane.slope, x);
  domain_.project(x);
  return x;
}

/// The dual: max over shares of min over x of Σ share_j plane_j(x) + (weight/2)‖x − centre‖²; its slope is plane_j(x).
Vector Bundle::shares(View centre, double weight) {
  const auto simplex = domain_table().make("simplex");
  MinimiseSettings settings;
  settings.gap = dual_gap;
  settings.evaluations = dual_evaluations;
  settings.kinks = MinimiseSettings::Kinks::none;
  return minimise(
             [&](View shares, MutableView slope) {
               const Plane plane = combined(shares);
               const Vector x = nearest(plane, centre, weight);
               for (std::size_t j = 0; j < planes_.size(); ++j) slope[j] = -at(planes_[j], x);
               return -at(plane, x) - weight / 2 * squared_distance(x, centre);
             },
             *simplex, planes_.size(), settings)
      .x;
}

void Bundle::thin_out(const Vector& shares, const Plane& combination) {
  if (planes_.size() < most_planes) return;
  std::vector<Plane> kept{combination};
  for (std::size_t j = 0; j < planes_.size(); ++j) {
    if (shares[j] > 0 && kept.size() < most_planes / 2) kept.push_back(std::move(planes_[j]));
  }
  planes_ = std::move(kept);
}

Bundle::Proposal Bundle::propose(View centre, double weight) {
  const Vector share = shares(centre, weight);
  const Plane combination = combined(share);
  Proposal proposal{nearest(combination, centre, weight), 0, 0};
  proposal.planes = at(planes_.front(), proposal.x);
  for (const Plane& plane : planes_) proposal.planes = std::max(proposal.planes, at(plane, proposal.x));
  Vector downhill = combination.slope;
  scale(-1, downhill);
  proposal.minimum = combination.offset - domain_.support(downhill);
  thin_out(share, combination);
  return proposal;
}

}  // namespace starling
