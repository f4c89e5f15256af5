// Eigenvalues for many clients, by iterations over their links.
#include "deflation.hpp"
#include "spectrum.hpp"
#include <Spectra/GenEigsSolver.h>
#include <Spectra/SymEigsSolver.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace starling {

namespace {

using namespace spectral;

/// Work of one iteration scheme, in visited edges: some seconds.
constexpr double work_limit = 1e9;

/// One period as a map by the links, or one round if all rounds are the same; transposed on request.
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

  /// Number of edges that one application visits, with self loops.
  [[nodiscard]] double cost() const {
    double cost = 0;
    for (std::size_t phase = 0; phase < topology_.phases(); ++phase) {
      const std::size_t edges = static_cast<std::size_t>(topology_.clients()) + topology_.receivers(phase).peers.size();
      cost += static_cast<double>(edges) * static_cast<double>(rounds_of(phase));
    }
    return cost;
  }

  /// Whether a random disagreement vanishes in a single round of these applications.
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

/// Perron vector by power iterations on (I + M)/2, which converge even if M oscillates; empty if the allowed work does
/// not suffice.
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

/// The deflated map, with the interface that Spectra's solvers need.
struct DeflatedMap {
  using Scalar = double;

  const Map& map;
  const Deflation& deflate;
  Index size;

  [[nodiscard]] Index rows() const { return size; }
  [[nodiscard]] Index cols() const { return size; }
  [[nodiscard]] VectorXd operator()(const VectorXd& x) const {
    VectorXd y = map(x);
    deflate.apply(y);
    return y;
  }
  void perform_op(const double* x, double* y) const {
    Eigen::Map<VectorXd>(y, size) = (*this)(Eigen::Map<const VectorXd>(x, size));
  }
};

/// Largest residual of an eigenvalue, as a share of its distance to one, which is what the rate depends on.
constexpr double fine = 1e-4;   ///< iterations end
constexpr double coarse = 0.1;  ///< the eigenvalue is told

/// Sets `second` and `tolerance` by restarted Krylov iterations from a start vector; `second` is NaN if the allowed
/// work does not suffice. Each tolerance of the solver begins with the eigenvector of the one before. One application
/// visits `cost` edges.
template <class Solver>
void find_second(DeflatedMap map, VectorXd start, double cost, Spectrum& spectrum) {
  constexpr double rounding = 1e-15;
  const Index basis = std::clamp<Index>(4'000'000 / map.size, 12, 60);
  const auto dense_work = static_cast<double>(map.size * basis) / 8;
  auto restarts = static_cast<Index>(4 * work_limit / ((cost + dense_work) * static_cast<double>(basis)));
  double second = unknown;
  double residual = std::numeric_limits<double>::infinity();
  const auto is_within = [&](double share) { return residual < share * std::max(1 - second, 1e-12); };
  for (const double tolerance : {1e-5, 1e-8, 1e-11}) {
    Solver solver(map, 1, basis);
    solver.init(start.data());
    solver.compute(Spectra::SortRule::LargestMagn, std::max<Index>(1, restarts), tolerance);
    if (solver.info() != Spectra::CompInfo::Successful) break;
    restarts -= solver.num_iterations();
    const auto value = solver.eigenvalues()[0];
    const Eigen::VectorXcd vector = solver.eigenvectors(1).col(0);
    Eigen::VectorXcd image(map.size);
    image.real() = map(vector.real());
    image.imag() = map(vector.imag());
    second = std::abs(value);
    residual = std::max(rounding, (image - value * vector).norm());
    if (is_within(fine)) break;
    start = vector.real() + vector.imag();
  }
  spectrum.second = is_within(coarse) ? second : unknown;
  spectrum.tolerance = residual;
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
  if (faded && !period.vanishes_in_a_round(*faded)) return spectrum;  // too small to be told from zero
  spectrum.exact_after = faded;
  spectrum.second = 0;
  if (spectrum.exact_after) return spectrum;
  const DeflatedMap deflated{map, deflate, n};
  if (is_symmetric(topology)) {
    find_second<Spectra::SymEigsSolver<DeflatedMap>>(deflated, std::move(v), cost, spectrum);
  } else {
    find_second<Spectra::GenEigsSolver<DeflatedMap>>(deflated, std::move(v), cost, spectrum);
  }
  return spectrum;
}

}  // namespace starling
