// Eigenvalues of topologies that are the same seen from every client: their eigenvectors are the characters of the
// group, for all phases the same ones, and orthogonal.
#include "graph/families/cayley.hpp"
#include "spectrum.hpp"
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <utility>

namespace starling {

namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();  // log of 0

/// A phase's eigenvalue own + Σ_h weight_h χ(h) for one character χ after the other, of client 0's arcs from hops h.
/// Angles of χ(h) are whole numbers, parts of a circle of the group's exponent, so that no error adds up.
class PhaseEigenvalue {
 public:
  PhaseEigenvalue(const AbelianGroup& group, const CayleyGraph::Phase& phase) : circle_(group.exponent()) {
    double sum = phase.own;
    for (const Arc& arc : phase.in) sum += arc.weight;
    own_ = phase.own / sum;
    for (const Arc& arc : phase.in) {
      const std::vector<Client> digits = group.digits(arc.peer);
      std::vector<std::int64_t> turns;
      for (std::size_t j = 0; j < digits.size(); ++j) turns.push_back(digits[j] * (circle_ / group.sides()[j]));
      hops_.push_back({arc.weight / sum, 0, std::move(turns)});
    }
  }

  /// Goes on to the character whose number m has one more in digit j.
  void turn(std::size_t j) {
    for (Hop& hop : hops_) {
      hop.turned += hop.turns[j];
      if (hop.turned >= circle_) hop.turned -= circle_;
    }
  }

  /// log of the modulus, −∞ where nothing is left but what rounding leaves.
  [[nodiscard]] double log_modulus() const {
    std::complex<double> sum = own_;
    for (const Hop& hop : hops_) sum += std::polar(hop.weight, angle(hop));
    const double modulus = std::abs(sum);
    if (modulus < 1e-12) return nothing;
    return modulus < 0.5 ? std::log(modulus) : std::log1p(-distance_to_one(std::arg(sum)));
  }

 private:
  struct Hop {
    double weight;
    std::int64_t turned;              ///< angle of χ(h)
    std::vector<std::int64_t> turns;  ///< what it has more in the next character, by digit
  };

  /// From −π to π.
  [[nodiscard]] double angle(const Hop& hop) const {
    const std::int64_t turned = 2 * hop.turned > circle_ ? hop.turned - circle_ : hop.turned;
    return 2 * std::numbers::pi * static_cast<double>(turned) / static_cast<double>(circle_);
  }
  /// 1 − |λ| to the last digits, however little that is: Σ_h weight_h (1 − cos(angle_h − arg λ)), for weights sum to
  /// one.
  [[nodiscard]] double distance_to_one(double argument) const {
    double distance = own_ * one_minus_cosine(argument);
    for (const Hop& hop : hops_) distance += hop.weight * one_minus_cosine(angle(hop) - argument);
    return distance;
  }
  static double one_minus_cosine(double x) {
    const double sine = std::sin(x / 2);
    return 2 * sine * sine;
  }

  std::int64_t circle_;
  double own_ = 0;
  std::vector<Hop> hops_;
};

/// Largest log of a modulus over the characters u → exp(2πi Σ_j m_j u_j / sides[j]), 0 < m < end, of a period's
/// product.
double log_of_slowest(const CayleyGraph& graph, Client end) {
  const AbelianGroup& group = graph.group;
  std::vector<PhaseEigenvalue> phases;
  for (const CayleyGraph::Phase& phase : graph.phases) phases.emplace_back(group, phase);
  std::vector<Client> digits = group.digits(0);
  double slowest = nothing;
  for (Client m = 1; m < end; ++m) {
    group.count_up(digits, [&](std::size_t j) {
      for (PhaseEigenvalue& phase : phases) phase.turn(j);
    });
    double log = 0;
    for (std::size_t k = 0; k < phases.size(); ++k) {
      log += phases[k].log_modulus() * static_cast<double>(graph.phases[k].rounds);
    }
    slowest = std::max(slowest, log);
  }
  return slowest;
}

/// Of n clients.
Spectrum spectrum_of(const CayleyGraph& graph, Client n, double slowest) {
  Spectrum spectrum;
  spectrum.perron.assign(static_cast<std::size_t>(n), 1.0 / static_cast<double>(n));
  const double of_round = slowest / static_cast<double>(graph.period());
  spectrum.second = std::exp(of_round);
  spectrum.gap = -std::expm1(of_round);
  // What turns for ever comes out at some 1e-32 a round.
  spectrum.resolution = 1e-20 * static_cast<double>(graph.period());
  if (std::isinf(slowest)) {
    spectrum.exact_after = 1;
    if (graph.phases.size() > 1) spectrum.rounds = graph.period();
  }
  return spectrum;
}

}  // namespace

Spectrum cayley_spectrum(const CayleyGraph& graph) {
  const AbelianGroup& group = graph.group;
  // Characters m and −m are conjugate: it is enough to go with the first digit up to half its side.
  const Client end = group.place(0) * (group.sides()[0] / 2 + 1);
  return spectrum_of(graph, group.order(), log_of_slowest(graph, end));
}

Spectrum folded_spectrum(const CayleyGraph& circle) {
  // Of the waves m and −m of the circle the path has cos(π m (u + ½)/n), which its ends reflect; the n-th has none.
  const Client n = circle.group.order() / 2;
  return spectrum_of(circle, n, log_of_slowest(circle, n));
}

}  // namespace starling
