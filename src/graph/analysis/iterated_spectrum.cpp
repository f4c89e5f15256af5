// Eigenvalues for many clients, by iterations over their links.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "deflation.hpp"
#include "krylov.hpp"
#include "spectrum.hpp"

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

/// Largest residual of an eigenvalue, as a share of its distance to one, which is what the rate depends on.
constexpr double fine = 1e-4;   ///< iterations end
constexpr double coarse = 0.1;  ///< the eigenvalue is told

/// Sets `second` and `tolerance` by restarted Krylov iterations from a start vector; `second` is NaN if the allowed
/// work does not suffice. Each tolerance of the solver begins with the eigenvector of the one before. One application
/// visits `cost` edges.
void find_second(const Map& map, bool symmetric, VectorXd start, double cost, Spectrum& spectrum) {
  constexpr double rounding = 1e-15;
  const Index basis = std::clamp<Index>(4'000'000 / start.size(), 12, 60);
  const auto dense_work = static_cast<double>(start.size() * basis) / 8;
  auto restarts = static_cast<Index>(4 * work_limit / ((cost + dense_work) * static_cast<double>(basis)));
  double second = unknown;
  double residual = std::numeric_limits<double>::infinity();
  const auto is_within = [&](double share) { return residual < share * std::max(1 - second, 1e-12); };
  for (const double tolerance : {1e-5, 1e-8, 1e-11}) {
    const auto found = largest_eigenvalue(map, symmetric, start, {basis, std::max<Index>(1, restarts), tolerance});
    if (!found) break;
    restarts -= found->restarts;
    const VectorXd real = found->vector.real();
    const VectorXd imaginary = found->vector.imag();
    Eigen::VectorXcd image(start.size());
    image.real() = map(real);
    image.imag() = map(imaginary);
    second = std::abs(found->value);
    residual = std::max(rounding, (image - found->value * found->vector).norm());
    if (is_within(fine)) break;
    start = real + imaginary;
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
  const Map deflated = [&](const VectorXd& x) {
    VectorXd y = map(x);
    deflate.apply(y);
    return y;
  };
  find_second(deflated, is_symmetric(topology), std::move(v), cost, spectrum);
  return spectrum;
}

}  // namespace starling
