#include "spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <Eigen/Dense>
#include <Eigen/Eigenvalues>

#include "starling/core/random.hpp"

namespace starling {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
/// x → M x for the period's product M, or for its transpose.
using Map = std::function<VectorXd(const VectorXd&)>;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
/// Work of one iteration scheme, in edges visited: some seconds.
constexpr double work_limit = 1e9;

/// A generic vector: no eigenvector of interest is orthogonal to it but by bad luck.
VectorXd generic_vector(Index n) {
  AddressedRandom random(1, Purpose::topology, 0, 0);
  VectorXd v(n);
  for (double& entry : v) entry = random.uniform() - 0.5;
  return v;
}

/// Shares that sum to one; none where numbers have left the range of doubles on the way.
std::vector<double> normalised(VectorXd v) {
  v = v.cwiseAbs();
  const double sum = v.sum();
  if (!(sum > 0) || !std::isfinite(sum)) return {};
  v /= sum;
  return {v.begin(), v.end()};
}

/// The two eigenvectors of the eigenvalue one, scaled so that left · right = 1: M − right leftᵀ has all other
/// eigenvalues.
struct Deflation {
  VectorXd left;
  VectorXd right;
  void apply(VectorXd& x) const { x -= right * left.dot(x); }
};

Deflation deflation(const std::vector<double>& perron, PerronSide side) {
  const Eigen::Map<const VectorXd> p(perron.data(), static_cast<Index>(perron.size()));
  const VectorXd ones = VectorXd::Ones(p.size());
  if (side == PerronSide::left) return {p, ones};
  return {ones, p};  // for `both`, p is uniform and either way is right
}

/// After how many applications a generic vector falls to nothing at once: disagreement is then gone for good, and the
/// eigenvalues that rounding makes of a nilpotent matrix (1e-16 to the power 1/k) are not to be believed.
std::optional<Round> vanishes_after(const Map& map, const Deflation& deflate, Index n) {
  constexpr Round most = 64;
  VectorXd v = generic_vector(n);
  deflate.apply(v);
  if (n == 1) return 1;
  for (Round k = 1; k <= std::min<Round>(most, n); ++k) {
    v.normalize();
    v = map(v);
    deflate.apply(v);
    const double fallen = v.norm();
    if (fallen < 1e-10) return k;
  }
  return std::nullopt;
}

// Dense.

/// One round of a phase.
MatrixXd mixing_matrix(const Topology& topology, std::size_t phase) {
  const Index n = topology.clients();
  MatrixXd a = MatrixXd::Zero(n, n);
  for (Client u = 0; u < topology.clients(); ++u) {
    const Links& links = topology.phase_links(phase, u);
    a(u, u) = links.own;
    for (const Arc& arc : links.in) a(u, arc.peer) = arc.weight;
  }
  return a;
}

/// Keeps products whose sums are not one from growing or vanishing beyond the range of numbers.
void rescale(MatrixXd& m) {
  const double largest = m.maxCoeff();
  if (largest > 0) m /= largest;
}

MatrixXd power(MatrixXd base, Round exponent, bool scaled) {
  MatrixXd result = MatrixXd::Identity(base.rows(), base.cols());
  if (scaled) rescale(base);
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = base * result;
    if (exponent > 1) base = base * base;
    if (scaled) rescale(base);
    if (scaled) rescale(result);
  }
  return result;
}

MatrixXd period_product(const Topology& topology, bool scaled) {
  MatrixXd product = power(mixing_matrix(topology, 0), topology.phase_rounds(0), scaled);
  for (std::size_t phase = 1; phase < topology.phases(); ++phase) {
    product = power(mixing_matrix(topology, phase), topology.phase_rounds(phase), scaled) * product;
    if (scaled) rescale(product);
  }
  return product;
}

/// p = M p for a column-stochastic M: (I − M + u 1ᵀ) p = u has no other solution where the eigenvalue one is simple.
std::vector<double> stationary(const MatrixXd& m) {
  const Index n = m.rows();
  const double share = 1.0 / static_cast<double>(n);
  const MatrixXd system = MatrixXd::Identity(n, n) - m + MatrixXd::Constant(n, n, share);
  const Eigen::PartialPivLU<MatrixXd> solver(system);
  if (!(solver.rcond() > 1e-14)) return {};
  return normalised(solver.solve(VectorXd::Constant(n, share)));
}

std::vector<double> dense_perron(const MatrixXd& m, PerronSide side) {
  const auto n = static_cast<std::size_t>(m.rows());
  switch (side) {
    case PerronSide::both:
      return std::vector<double>(n, 1.0 / static_cast<double>(n));
    case PerronSide::left:
      return stationary(m.transpose());
    case PerronSide::right:
      return stationary(m);
    case PerronSide::free:
      break;
  }
  const Eigen::EigenSolver<MatrixXd> solver(m);
  if (solver.info() != Eigen::Success) return {};
  Index first = 0;  // the spectral radius of a matrix without negative entries is itself an eigenvalue
  if (!(solver.eigenvalues().real().maxCoeff(&first) > 0)) return {};
  return normalised(solver.eigenvectors().col(first).real());
}

double second_of(const MatrixXd& m) {
  if (m.rows() == 1) return 0;
  const Eigen::EigenSolver<MatrixXd> solver(m, false);
  if (solver.info() != Eigen::Success) return unknown;
  VectorXd moduli = solver.eigenvalues().cwiseAbs();
  std::sort(moduli.begin(), moduli.end(), std::greater<>());
  return moduli[0] > 0 ? std::min(1.0, moduli[1] / moduli[0]) : unknown;
}

// By iterations.

/// One period as a map, by the links; transposed where asked.
class PeriodMap {
 public:
  PeriodMap(const Topology& topology, bool transposed) : topology_(topology), transposed_(transposed) {}

  VectorXd operator()(VectorXd x) const {
    const std::size_t count = topology_.phases();
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t phase = transposed_ ? count - 1 - k : k;
      for (Round r = 0; r < topology_.phase_rounds(phase); ++r) x = round(phase, x);
    }
    return x;
  }

  /// Edges visited by one application, self loops included.
  [[nodiscard]] double cost() const {
    double cost = 0;
    for (std::size_t phase = 0; phase < topology_.phases(); ++phase) {
      std::size_t edges = static_cast<std::size_t>(topology_.clients());
      for (Client u = 0; u < topology_.clients(); ++u) edges += topology_.phase_links(phase, u).in.size();
      cost += static_cast<double>(edges) * static_cast<double>(topology_.phase_rounds(phase));
    }
    return cost;
  }

 private:
  [[nodiscard]] VectorXd round(std::size_t phase, const VectorXd& x) const {
    VectorXd y(x.size());
    for (Client u = 0; u < topology_.clients(); ++u) {
      const Links& links = topology_.phase_links(phase, u);
      y[u] = links.own * x[u];
      for (const Arc& arc : transposed_ ? links.out : links.in) y[u] += arc.weight * x[arc.peer];
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

/// Eigenvalue of largest modulus of a deflated map by restarted Arnoldi iterations.
class Arnoldi {
 public:
  Arnoldi(const Map& map, const Deflation& deflate, Index n)
      : map_(map), deflate_(deflate), n_(n), steps_(std::clamp<Index>(30'000'000 / n, 4, 100)) {}

  /// Sets the modulus and its tolerance; NaN where the work that is allowed has not even come near.
  void find(double cost, Spectrum& spectrum) {
    VectorXd start = generic_vector(n_);
    const double per_restart = (cost + static_cast<double>(n_ * steps_)) * static_cast<double>(steps_);
    for (auto left = static_cast<long>(2 * work_limit / per_restart); left > 0; --left) {
      build(start);
      if (is_within(fine)) break;
      start = basis_.leftCols(built_) * (ritz_.real() + ritz_.imag());
    }
    spectrum.second = is_within(coarse) ? modulus_ : unknown;
    spectrum.tolerance = is_within(fine) ? 0 : residual_;
  }

 private:
  void build(VectorXd v) {
    basis_ = MatrixXd::Zero(n_, steps_ + 1);
    projected_ = MatrixXd::Zero(steps_ + 1, steps_);
    deflate_.apply(v);
    basis_.col(0) = v.normalized();
    for (built_ = 0; built_ < steps_;) {
      extend();
      if (projected_(built_, built_ - 1) < 1e-14) break;  // an invariant space: its eigenvalues are exact
    }
    solve();
  }

  void extend() {
    VectorXd v = map_(basis_.col(built_));
    deflate_.apply(v);
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough (Kahan)
      const VectorXd shares = basis_.leftCols(built_ + 1).transpose() * v;
      v -= basis_.leftCols(built_ + 1) * shares;
      projected_.col(built_).head(built_ + 1) += shares;
    }
    ++built_;
    projected_(built_, built_ - 1) = v.norm();
    basis_.col(built_) = v.normalized();
  }

  void solve() {
    const Eigen::EigenSolver<MatrixXd> solver(projected_.topLeftCorner(built_, built_));
    Index largest = 0;
    modulus_ = solver.eigenvalues().cwiseAbs().maxCoeff(&largest);
    ritz_ = solver.eigenvectors().col(largest).normalized();
    residual_ = projected_(built_, built_ - 1) * std::abs(ritz_[built_ - 1]);
  }

  // The error is measured against the distance to one, which is what the rate depends on.
  static constexpr double fine = 1e-4;
  static constexpr double coarse = 0.1;
  [[nodiscard]] bool is_within(double share) const { return residual_ < share * std::max(1 - modulus_, 1e-12); }

  const Map& map_;
  const Deflation& deflate_;
  Index n_;
  Index steps_;
  Index built_ = 0;
  MatrixXd basis_;
  MatrixXd projected_;
  Eigen::VectorXcd ritz_;
  double modulus_ = 0;
  double residual_ = std::numeric_limits<double>::infinity();
};

}  // namespace

Spectrum dense_spectrum(const Topology& topology, PerronSide side, bool connected) {
  const MatrixXd product = period_product(topology, side == PerronSide::free);
  Spectrum spectrum;
  if (connected) spectrum.perron = dense_perron(product, side);
  if (!spectrum.perron.empty() && side != PerronSide::free) {
    const Map map = [&](const VectorXd& x) { return VectorXd(product * x); };
    spectrum.exact_after = vanishes_after(map, deflation(spectrum.perron, side), product.rows());
  }
  if (!spectrum.exact_after) spectrum.second = second_of(product);
  return spectrum;
}

Spectrum iterated_spectrum(const Topology& topology, PerronSide side, bool connected) {
  Spectrum spectrum;
  spectrum.second = unknown;
  const Index n = topology.clients();
  const PeriodMap period(topology, false);
  const double cost = period.cost();
  if (!connected || side == PerronSide::free || cost > work_limit / 100) return spectrum;
  if (side == PerronSide::both) {
    spectrum.perron.assign(static_cast<std::size_t>(n), 1.0 / static_cast<double>(n));
  } else {
    spectrum.perron = iterated_stationary(PeriodMap(topology, side == PerronSide::left), cost, n);
  }
  if (spectrum.perron.empty()) return spectrum;
  const Deflation deflate = deflation(spectrum.perron, side);
  const Map map = period;
  spectrum.exact_after = vanishes_after(map, deflate, n);
  spectrum.second = 0;
  if (!spectrum.exact_after) Arnoldi(map, deflate, n).find(cost, spectrum);
  return spectrum;
}

}  // namespace starling
