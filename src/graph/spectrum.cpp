#include "spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <numbers>

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
/// What a vector or matrix of size one must fall to at once to count as nothing.
constexpr double vanishing = 1e-10;
/// Periods in which disagreement may vanish at once.
constexpr Round most_vanishing = 64;

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
/// Leaves in `v` what is left of it, in which small eigenvalues have faded.
std::optional<Round> vanishes_after(const Map& map, const Deflation& deflate, Round most, VectorXd& v) {
  deflate.apply(v);
  if (v.size() == 1) return 1;
  for (Round k = 1; k <= std::min<Round>(most, v.size()); ++k) {
    v.normalize();
    v = map(v);
    deflate.apply(v);
    const double fallen = v.norm();
    if (fallen < vanishing) return k;
  }
  return std::nullopt;
}

// Dense.

/// One round of a phase.
MatrixXd mixing_matrix(const Topology& topology, std::size_t phase) {
  const Index n = topology.clients();
  MatrixXd a = MatrixXd::Zero(n, n);
  for (Client u = 0; u < topology.clients(); ++u) {
    const Topology::Row row = topology.row(phase, u);
    a(u, u) = row.own;
    for (std::size_t k = 0; k < row.in.size(); ++k) a(u, row.in.peer(k)) = row.in.weight(k);
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

/// A matrix times exp(log), for powers that leave the range of doubles or its resolution.
struct Scaled {
  MatrixXd matrix;
  double log = 0;
  bool vanished = false;  ///< in one multiplication

  /// Divides by what a multiplication of two matrices of size one has left.
  void rescale() {
    const double left = matrix.cwiseAbs().maxCoeff();
    vanished = vanished || !(left > vanishing);
    if (vanished) return;
    matrix /= left;
    log += std::log(left);
  }
  void multiply_from_left(const Scaled& other) {
    matrix = other.matrix * matrix;
    log += other.log;
    vanished = vanished || other.vanished;
    rescale();
  }
};

/// Of a phase, on what is left when the mean is taken off. Where rows or columns sum to one this multiplies as phases
/// do.
Scaled disagreement(const Topology& topology, std::size_t phase) {
  MatrixXd m = mixing_matrix(topology, phase);
  const Eigen::RowVectorXd column_means = m.colwise().mean();
  m.rowwise() -= column_means;
  const VectorXd row_means = m.rowwise().mean();
  m.colwise() -= row_means;
  Scaled result{std::move(m)};
  result.rescale();
  return result;
}

Scaled power(Scaled base, Round exponent) {
  Scaled result{MatrixXd::Identity(base.matrix.rows(), base.matrix.cols())};
  for (; exponent > 0 && !result.vanished; exponent /= 2) {
    if (exponent % 2 == 1) result.multiply_from_left(base);
    if (exponent > 1) base.multiply_from_left(Scaled(base));
  }
  return result;
}

/// log of the modulus of the second eigenvalue of a period's product that falls below what doubles resolve beside one;
/// none where disagreement is exactly gone after `periods`.
std::optional<double> log_of_small_second(const Topology& topology, Round periods) {
  Scaled period = power(disagreement(topology, 0), topology.phase_rounds(0));
  for (std::size_t phase = 1; phase < topology.phases(); ++phase) {
    period.multiply_from_left(power(disagreement(topology, phase), topology.phase_rounds(phase)));
  }
  if (period.vanished || power(period, periods).vanished) return std::nullopt;
  const Eigen::EigenSolver<MatrixXd> solver(period.matrix, false);
  if (solver.info() != Eigen::Success) return unknown;
  return period.log + std::log(solver.eigenvalues().cwiseAbs().maxCoeff());
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

// The error is measured against the distance to one, which is what the rate depends on.
constexpr double fine = 1e-4;
constexpr double coarse = 0.1;

bool is_within(double share, double residual, double modulus) {
  return residual < share * std::max(1 - modulus, 1e-12);
}

void set_second(double modulus, double residual, Spectrum& spectrum) {
  spectrum.second = is_within(coarse, residual, modulus) ? modulus : unknown;
  spectrum.tolerance = is_within(fine, residual, modulus) ? 0 : residual;
}

/// Eigenvalue of largest modulus of a deflated symmetric map by Lanczos iterations, of which three vectors are kept:
/// what rounding does to the others repeats eigenvalues that are found and adds none (Paige 1980).
class Lanczos {
 public:
  Lanczos(const Map& map, const Deflation& deflate) : map_(map), deflate_(deflate) {}

  void find(VectorXd v, double cost, Spectrum& spectrum) {
    const auto per_step = cost + 4 * static_cast<double>(v.size());
    const auto most = std::clamp<Index>(static_cast<Index>(2 * work_limit / per_step), 4, most_steps);
    VectorXd before = VectorXd::Zero(v.size());
    v.normalize();
    for (Index step = 1; step <= most; ++step) {
      extend(before, v);
      const bool invariant = beside_.back() < 1e-14;
      const bool last = invariant || step == most;
      if (!last && step % between_looks != 0) continue;
      look();
      if (last || is_within(fine, residual_, modulus_)) break;
    }
    set_second(modulus_, residual_, spectrum);
  }

 private:
  static constexpr Index most_steps = 2'000;
  static constexpr Index between_looks = 50;

  void extend(VectorXd& before, VectorXd& v) {
    VectorXd next = map_(v);
    deflate_.apply(next);
    diagonal_.push_back(v.dot(next));
    next -= diagonal_.back() * v;
    if (!beside_.empty()) next -= beside_.back() * before;
    beside_.push_back(next.norm());
    before.swap(v);
    v = next / beside_.back();
  }

  void look() {
    const auto count = static_cast<Index>(diagonal_.size());
    const Eigen::Map<const VectorXd> diagonal(diagonal_.data(), count);
    const Eigen::Map<const VectorXd> beside(beside_.data(), count - 1);
    Eigen::SelfAdjointEigenSolver<MatrixXd> solver;
    solver.computeFromTridiagonal(diagonal, beside, Eigen::EigenvaluesOnly);
    Index largest = 0;
    modulus_ = solver.eigenvalues().cwiseAbs().maxCoeff(&largest);
    residual_ = beside_.back() * last_entry(solver.eigenvalues()[largest]);
  }

  /// Of the tridiagonal matrix's normalised eigenvector: by its recurrence from the last entry to the first, the way in
  /// which entries grow once an eigenvalue has been found.
  [[nodiscard]] double last_entry(double eigenvalue) const {
    constexpr double enough = 1e100;
    double after = 0;
    double entry = 1;
    double squares = 1;
    for (std::size_t k = diagonal_.size() - 1; k > 0 && squares < enough; --k) {
      const double coupling = k + 1 < diagonal_.size() ? beside_[k] : 0;
      const double before = ((eigenvalue - diagonal_[k]) * entry - coupling * after) / beside_[k - 1];
      after = entry;
      entry = before;
      squares += entry * entry;
    }
    return 1 / std::sqrt(squares);
  }

  const Map& map_;
  const Deflation& deflate_;
  std::vector<double> diagonal_;
  std::vector<double> beside_;
  double modulus_ = 0;
  double residual_ = std::numeric_limits<double>::infinity();
};

/// Eigenvalue of largest modulus of a deflated map by restarted Arnoldi iterations.
class Arnoldi {
 public:
  Arnoldi(const Map& map, const Deflation& deflate, Index n)
      : map_(map), deflate_(deflate), n_(n), steps_(std::clamp<Index>(15'000'000 / n, 8, 100)) {}

  /// Sets the modulus and its tolerance; NaN where the work that is allowed has not even come near.
  void find(VectorXd start, double cost, Spectrum& spectrum) {
    const double per_restart = (cost + static_cast<double>(n_ * steps_)) * static_cast<double>(steps_);
    for (auto left = std::max(1L, static_cast<long>(2 * work_limit / per_restart)); left > 0; --left) {
      build(start);
      if (is_within(fine, residual_, modulus_)) break;
      start = basis_.leftCols(built_) * (ritz_.real() + ritz_.imag());
    }
    set_second(modulus_, residual_, spectrum);
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

/// Where disagreement has faded over the rounds of a period and not vanished, the rate of a round instead.
void believe_only_exact(const Topology& topology, Spectrum& spectrum) {
  const std::optional<double> small = log_of_small_second(topology, *spectrum.exact_after);
  if (!small) return;
  spectrum.second = std::exp(*small / static_cast<double>(spectrum.rounds));
  spectrum.rounds = 1;
  spectrum.exact_after.reset();
}

}  // namespace

Spectrum dense_spectrum(const Topology& topology, PerronSide side, bool connected) {
  const bool one_phase = topology.phases() == 1;
  const MatrixXd product = one_phase ? mixing_matrix(topology, 0) : period_product(topology, side == PerronSide::free);
  Spectrum spectrum;
  spectrum.rounds = one_phase ? 1 : topology.period();
  if (connected) spectrum.perron = dense_perron(product, side);
  if (!spectrum.perron.empty() && side != PerronSide::free) {
    const Map map = [&](const VectorXd& x) { return VectorXd(product * x); };
    VectorXd v = generic_vector(product.rows());
    spectrum.exact_after = vanishes_after(map, deflation(spectrum.perron, side), most_vanishing, v);
  }
  if (!spectrum.exact_after) {
    spectrum.second = second_of(product);
  } else if (!one_phase) {
    believe_only_exact(topology, spectrum);
  }
  return spectrum;
}

namespace {

/// Whether all clients have the same arcs, counted along a circle from themselves.
bool turns(const Topology& topology, std::size_t phase) {
  const Client n = topology.clients();
  const Topology::Row first = topology.row(phase, 0);
  std::vector<Arc> expected;
  for (Client u = 1; u < n; ++u) {
    const Topology::Row row = topology.row(phase, u);
    if (row.own != first.own || row.in.size() != first.in.size()) return false;
    expected = first.in.arcs();
    for (Arc& arc : expected) arc.peer = static_cast<Client>((std::int64_t{arc.peer} + u) % n);
    std::sort(expected.begin(), expected.end(), [](const Arc& a, const Arc& b) { return a.peer < b.peer; });
    for (std::size_t k = 0; k < expected.size(); ++k) {
      if (expected[k] != Arc{row.in.peer(k), row.in.weight(k)}) return false;
    }
  }
  return true;
}

/// exp(2πi k/n), with the angle reduced in integers.
std::complex<double> root_of_unity(std::int64_t k, std::int64_t n) {
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n));
}

/// Eigenvalue of a round that belongs to the waves (exp(2πi mu/n))_u.
std::complex<double> eigenvalue_of_wave(const Topology::Row& first, std::int64_t m, std::int64_t n) {
  std::complex<double> sum = first.own;
  for (std::size_t k = 0; k < first.in.size(); ++k) sum += first.in.weight(k) * root_of_unity(m * first.in.peer(k), n);
  return sum;
}

/// Where every phase is the same seen from every client, waves are the eigenvectors of all of them, and orthogonal.
bool is_circulant(const Topology& topology) {
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) {
    if (!turns(topology, phase)) return false;
  }
  return true;
}

Spectrum circulant_spectrum(const Topology& topology) {
  const std::int64_t n = topology.clients();
  std::vector<Topology::Row> firsts;
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) firsts.push_back(topology.row(phase, 0));
  Spectrum spectrum;
  spectrum.perron.assign(static_cast<std::size_t>(n), 1.0 / static_cast<double>(n));
  const auto period = static_cast<double>(topology.period());
  double slowest = -std::numeric_limits<double>::infinity();  // log of a period's modulus
  for (std::int64_t m = 1; 2 * m <= n; ++m) {                 // the other half are their conjugates
    double log = 0;
    for (std::size_t phase = 0; phase < firsts.size(); ++phase) {
      const double modulus = std::abs(eigenvalue_of_wave(firsts[phase], m, n));
      log += modulus < 1e-12 ? -std::numeric_limits<double>::infinity()
                             : std::log(modulus) * static_cast<double>(topology.phase_rounds(phase));
    }
    slowest = std::max(slowest, log);
  }
  spectrum.second = std::exp(slowest / period);
  if (std::isinf(slowest)) {
    spectrum.exact_after = 1;
    if (firsts.size() > 1) spectrum.rounds = topology.period();
  }
  return spectrum;
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
  if (side == PerronSide::both && is_circulant(topology)) return circulant_spectrum(topology);
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
    Lanczos(map, deflate).find(std::move(v), cost, spectrum);
  } else {
    Arnoldi(map, deflate, n).find(std::move(v), cost, spectrum);
  }
  return spectrum;
}

}  // namespace starling
