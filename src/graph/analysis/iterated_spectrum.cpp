// Eigenvalues of many clients, by iterations over their links.
#include "deflation.hpp"
#include "krylov.hpp"
#include "spectrum.hpp"
#include <algorithm>
#include <utility>

namespace starling {

namespace {

using namespace spectral;

/// One period as a map, or one round where all are the same, by the links; transposed where asked.
class PeriodMap {
 public:
  PeriodMap(const Topology& topology, bool transposed) : topology_(topology), transposed_(transposed) {}

  VectorXd operator()(VectorXd x) const {
    const std::size_t count = topology_.phases();
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t phase = transposed_ ? count - 1 - k : k;
      for (Round r = 0; r < rounds_of(phase); ++r) x = round(phase, x);
    }
    return x;
  }

  /// Edges visited by one application, self loops included.
  [[nodiscard]] double cost() const {
    double cost = 0;
    for (std::size_t phase = 0; phase < topology_.phases(); ++phase) {
      const std::size_t edges = static_cast<std::size_t>(topology_.clients()) + topology_.receivers(phase).peers.size();
      cost += static_cast<double>(edges) * static_cast<double>(rounds_of(phase));
    }
    return cost;
  }

  /// Whether a generic disagreement falls to nothing in a single round of so many applications.
  [[nodiscard]] bool vanishes_in_a_round(Round applications) const {
    VectorXd v = generic_vector(topology_.clients());
    v.array() -= v.mean();
    for (Round k = 0; k < applications; ++k) {
      for (std::size_t phase = 0; phase < topology_.phases(); ++phase) {
        for (Round r = 0; r < rounds_of(phase); ++r) {
          v = round(phase, v.normalized());
          v.array() -= v.mean();
          if (v.norm() < vanishing) return true;
        }
      }
    }
    return v.size() == 1;
  }

 private:
  [[nodiscard]] Round rounds_of(std::size_t phase) const {
    return topology_.phases() == 1 ? 1 : topology_.phase_rounds(phase);
  }
  [[nodiscard]] VectorXd round(std::size_t phase, const VectorXd& x) const {
    VectorXd y(x.size());
    for (Client u = 0; u < topology_.clients(); ++u) {
      const Topology::Row row = topology_.row(phase, u);
      const ArcView& arcs = transposed_ ? row.out : row.in;
      double sum = row.own * x[u];
      for (std::size_t k = 0; k < arcs.size(); ++k) sum += arcs.weight(k) * x[arcs.peer(k)];
      y[u] = sum;
    }
    return y;
  }

  const Topology& topology_;
  bool transposed_;
};

/// Power iteration on (I + M)/2, which converges where M alone would oscillate; empty where the work does not suffice.
std::vector<double> iterated_stationary(const Map& map, double cost, Index n) {
  VectorXd p = VectorXd::Constant(n, 1.0 / static_cast<double>(n));
  for (auto left = static_cast<long>(work_limit / cost); left > 0; --left) {
    const VectorXd next = (p + map(p)) / 2;
    const double change = (next - p).lpNorm<1>();
    p = next;
    if (change < 1e-14) return normalised(p);
  }
  return {};
}

bool is_symmetric(const Topology& topology) {
  if (topology.phases() > 1) return false;
  for (Client u = 0; u < topology.clients(); ++u) {
    const Topology::Row row = topology.row(0, u);
    if (row.in.size() != row.out.size()) return false;
    for (std::size_t k = 0; k < row.in.size(); ++k) {
      if (row.in.peer(k) != row.out.peer(k) || row.in.weight(k) != row.out.weight(k)) return false;
    }
  }
  return true;
}

}  // namespace

Spectrum iterated_spectrum(const Topology& topology, PerronSide side, bool connected) {
  Spectrum spectrum;
  spectrum.second = unknown;
  spectrum.rounds = topology.phases() == 1 ? 1 : topology.period();
  if (!connected || side == PerronSide::free) return spectrum;
  const Index n = topology.clients();
  const PeriodMap period(topology, false);
  const double cost = period.cost();
  if (cost > work_limit / 30) return spectrum;
  if (side == PerronSide::both) {
    spectrum.perron.assign(static_cast<std::size_t>(n), 1.0 / static_cast<double>(n));
  } else {
    spectrum.perron = iterated_stationary(PeriodMap(topology, side == PerronSide::left), cost, n);
  }
  if (spectrum.perron.empty()) return spectrum;
  const Deflation deflate = deflation(spectrum.perron, side);
  const Map map = period;
  VectorXd v = generic_vector(n);
  const auto most = std::clamp<Round>(static_cast<Round>(work_limit / 10 / cost), 4, most_vanishing);
  const std::optional<Round> faded = vanishes_after(map, deflate, most, v);
  if (faded && !period.vanishes_in_a_round(*faded)) return spectrum;  // too small to be told beside one
  spectrum.exact_after = faded;
  spectrum.second = 0;
  if (spectrum.exact_after) return spectrum;
  if (is_symmetric(topology)) {
    find_by_lanczos(map, deflate, std::move(v), cost, spectrum);
  } else {
    find_by_arnoldi(map, deflate, std::move(v), cost, spectrum);
  }
  return spectrum;
}

}  // namespace starling
