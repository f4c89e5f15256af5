#include <algorithm>
#include <array>
#include <cmath>

#include "loss_distribution.hpp"

namespace starling {

namespace {

using Real = long double;

/// Accumulator of masses, given by logarithm, which normalises the masses at the end.
class Collector {
 public:
  /// Weights are relative to e^base, and at λ + θ to e^further, of the order of the moments.
  Collector(const Lattice& lattice, Real base, Real further)
      : lattice_(lattice), base_(base), further_(further), full_(-std::expm1(-static_cast<Real>(lattice.width))) {
    loss_.masses.assign(lattice.points, 0.0);
    loss_.largest = -1e300;
  }

  /// Mass e^log_mass at the lattice point `index`.
  void at_point(double index, Real log_mass) {
    const Real place = static_cast<Real>(index) * static_cast<Real>(lattice_.width);
    const Real weight = std::exp(log_mass + lattice_.lambda * place - base_);
    sum_ += weight;
    further_sum_ += std::exp(log_mass + (lattice_.lambda + lattice_.theta) * place - further_);
    loss_.masses[slot(index)] += static_cast<double>(weight);
    loss_.largest = std::max(loss_.largest, index);
  }

  /// Mass e^log_mass at any loss: split between its neighbours.
  void at_loss(Real loss, Real log_mass) {
    const double index = cell_of(loss);
    const Real v = from_lower(loss, index);
    const Real w = static_cast<Real>(lattice_.width) - v;
    if (v > 0) at_point(index + 1, log_mass + std::log(-std::expm1(-v) / full_));
    if (w > 0) at_point(index, log_mass - v + std::log(-std::expm1(-w) / full_));
  }

  /// The loss of a Laplace pair between two of its points in one cell, where P has the density e^(−(ε−l)/2)/4.
  void laplace_piece(double index, Real from, Real to, Real epsilon) {
    const Real width = static_cast<Real>(lattice_.width);
    const Real v0 = from_lower(from, index);
    const Real v1 = from_lower(to, index);
    if (v1 <= v0) return;
    const Real log_density = -(epsilon - static_cast<Real>(index) * width) / 2;
    // ∫ (1 − e^(−v)) e^(v/2) dv / 4 from v0 to v1 is cosh(v1/2) − cosh(v0/2); and for the lower point the same with
    // w = h − v.
    const auto share = [&](Real x0, Real x1) {
      return 2 * std::sinh((x1 + x0) / 4) * std::sinh((x1 - x0) / 4) / full_;
    };
    at_point(index + 1, log_density + std::log(share(v0, v1)));
    at_point(index, log_density - width / 2 + std::log(share(width - v1, width - v0)));
  }

  /// The same for whole cells, whose shares are equal: 2 sinh²(h/4)/(1 − e^(−h)) e^(−h/2) e^(−(ε−ih)/2) at the lower
  /// point i, and by the symmetry of the split as much, tilt apart, at the upper one from its own cell.
  void laplace_cells(double first, double last, Real epsilon) {
    const Real width = static_cast<Real>(lattice_.width);
    const Real quarter = std::sinh(width / 4);
    const Real log_share = std::log(2 * quarter * quarter / full_) - width / 2;
    const auto log_mass = [&](double index) { return log_share - (epsilon - static_cast<Real>(index) * width) / 2; };
    at_point(first, log_mass(first));
    at_point(last + 1, log_mass(last + 1));
    if (last > first) laplace_points(first + 1, last, std::log(Real{2}) + log_share - epsilon / 2);
  }

  [[nodiscard]] double cell_of(Real loss) const {
    return static_cast<double>(std::floor(loss / static_cast<Real>(lattice_.width)));
  }

  [[nodiscard]] LatticeLoss finish(double infinite) {
    for (double& mass : loss_.masses) mass = static_cast<double>(static_cast<Real>(mass) / sum_);
    loss_.log_moment = base_ + std::log(sum_);
    loss_.log_further = further_ + std::log(further_sum_);
    loss_.infinite = infinite;
    return std::move(loss_);
  }

 private:
  /// Mass e^(log_scale + ih/2) at each of the points.
  void laplace_points(double first, double last, Real log_scale) {
    const Real width = static_cast<Real>(lattice_.width);
    const Real growth = (lattice_.lambda + 0.5L) * width;
    const Real top = log_scale + static_cast<Real>(last) * growth - base_;
    const auto count = static_cast<std::size_t>(last - first) + 1;
    std::size_t at = slot(last);
    for (std::size_t k = 0; k < count; ++k, at = (at - 1) & (lattice_.points - 1)) {
      const double weight = std::exp(static_cast<double>(top - static_cast<Real>(k) * growth));
      sum_ += static_cast<Real>(weight);
      loss_.masses[at] += weight;
    }
    const Real further_growth = growth + lattice_.theta * width;
    further_sum_ += std::exp(log_scale + static_cast<Real>(last) * further_growth - further_) *
                    std::expm1(-static_cast<Real>(count) * further_growth) / std::expm1(-further_growth);
    loss_.largest = std::max(loss_.largest, last);
  }

  [[nodiscard]] Real from_lower(Real loss, double index) const {
    const Real width = static_cast<Real>(lattice_.width);
    return std::clamp(loss - static_cast<Real>(index) * width, Real{0}, width);
  }
  [[nodiscard]] std::size_t slot(double index) const {
    return static_cast<std::size_t>(static_cast<long long>(index)) & (lattice_.points - 1);
  }

  const Lattice& lattice_;
  Real base_;
  Real further_;
  Real full_;  // 1 − e^(−h)
  Real sum_ = 0;
  Real further_sum_ = 0;
  LatticeLoss loss_;
};

/// Atoms ½ at ε and e^(−ε)/2 at −ε, and the density e^(−(ε−l)/2)/4 between. Losses so far below ε that they have no
/// weight are raised.
void add_laplace(const LossClass& one, const Lattice& lattice, Collector& collector) {
  const Real epsilon = one.size;
  const Real log_half = -std::log(Real{2});
  const Real lowest = std::max(-epsilon, epsilon - 80 / (lattice.lambda + 0.5L));
  collector.at_loss(epsilon, log_half);
  collector.at_loss(lowest, log_half - (epsilon - lowest) / 2);  // all that is not above: ½ e^(−(ε−l)/2)
  const double first = collector.cell_of(lowest);
  const double last = collector.cell_of(epsilon);
  const auto end_of = [&](double index) { return static_cast<Real>(index + 1) * static_cast<Real>(lattice.width); };
  collector.laplace_piece(first, lowest, std::min(epsilon, end_of(first)), epsilon);
  if (last > first) collector.laplace_piece(last, end_of(last - 1), epsilon, epsilon);
  if (last > first + 1) collector.laplace_cells(first + 1, last - 1, epsilon);
}

/// ε with probability e^ε/(1 + e^ε), else −ε.
void add_response(const LossClass& one, Collector& collector) {
  const Real epsilon = one.size;
  const Real log_whole = std::log1p(std::exp(-epsilon));
  collector.at_loss(epsilon, -log_whole);
  collector.at_loss(-epsilon, -epsilon - log_whole);
}

/// Abscissae and weights of Gauss and Legendre's rule with five points on [−1, 1].
constexpr std::array<std::pair<Real, Real>, 5> legendre{
    {{-0.906179845938663992797626878299L, 0.236926885056189087514264040720L},
     {-0.538469310105683091036314420700L, 0.478628670499366468041291514836L},
     {0.0L, 0.568888888888888888888888888889L},
     {0.538469310105683091036314420700L, 0.478628670499366468041291514836L},
     {0.906179845938663992797626878299L, 0.236926885056189087514264040720L}}};

/// L ~ N(μ²/2, μ²) = μ²/2 + μ Y. Panels are at most μ/16 wide; over one, the weighted density changes by less than a
/// factor e^(3/2), and the rule errs by less than 1e-13 of it. Y below `low` is raised to it, which adds less than
/// e^-50 to the moment; Y above `high` is taken for an infinite loss. Returns the mass of that.
double add_gaussian(const LossClass& one, const Lattice& lattice, Collector& collector) {
  const Real mu = one.size;
  const Real centre = lattice.lambda * mu;  // of Y, under the tilt
  const Real reach = 10;
  const Real low = centre <= reach ? centre - reach : std::min(centre - reach, centre / 2 - 50 / centre);
  const Real tail = std::sqrt(-2 * std::log(static_cast<Real>(lattice.negligible)));
  const Real high = std::max(centre + reach, tail);
  const Real log_norm = -std::log(std::sqrt(Real{6.283185307179586476925286766559L}));
  const auto loss_of = [mu](Real y) { return mu * mu / 2 + mu * y; };
  collector.at_loss(loss_of(low), std::log(std::erfc(-low / std::sqrt(Real{2})) / 2));
  // Panels end at lattice points: inside a cell the shares are smooth.
  double index = collector.cell_of(loss_of(low));
  Real from = low;
  while (from < high) {
    const Real boundary = static_cast<Real>(index + 1) * static_cast<Real>(lattice.width) / mu - mu / 2;
    if (boundary <= from) {
      ++index;
      continue;
    }
    const Real to = std::min({high, boundary, from + 1 / Real{16}});
    for (const auto& [at, share] : legendre) {
      const Real y = (from + to) / 2 + (to - from) / 2 * at;
      collector.at_loss(loss_of(y), log_norm - y * y / 2 + std::log(share * (to - from) / 2));
    }
    from = to;
  }
  return lattice.negligible;  // Φ(−z) ≤ e^(−z²/2)
}

}  // namespace

LatticeLoss on_lattice(const LossClass& one, const Lattice& lattice) {
  Losses alone;
  alone.classes.push_back({one.kind, one.size, 1});
  Collector collector(lattice, alone.log_moment(lattice.lambda), alone.log_moment(lattice.lambda + lattice.theta));
  double infinite = 0;
  switch (one.kind) {
    case LossKind::laplace:
      add_laplace(one, lattice, collector);
      break;
    case LossKind::response:
      add_response(one, collector);
      break;
    case LossKind::gaussian:
      infinite = add_gaussian(one, lattice, collector);
      break;
  }
  return collector.finish(infinite);
}

}  // namespace starling
