// Eigenvalues of up to 1,000 clients, from the matrix of a period.
#include <algorithm>
#include <cmath>
#include <functional>

#include "core/numerics/dense.hpp"
#include "deflation.hpp"
#include "spectrum.hpp"

namespace starling {

namespace {

using namespace spectral;

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
    if (exponent % 2 == 1) result = dense::product(base, result);
    if (exponent > 1) base = dense::product(base, base);
    if (scaled) rescale(base);
    if (scaled) rescale(result);
  }
  return result;
}

MatrixXd period_product(const Topology& topology, bool scaled) {
  MatrixXd product = power(mixing_matrix(topology, 0), topology.phase_rounds(0), scaled);
  for (std::size_t phase = 1; phase < topology.phases(); ++phase) {
    product = dense::product(power(mixing_matrix(topology, phase), topology.phase_rounds(phase), scaled), product);
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
    matrix = dense::product(other.matrix, matrix);
    log += other.log;
    vanished = vanished || other.vanished;
    rescale();
  }
};

/// Mixing matrix of a phase on the disagreement, that is, on the remainder once the mean is subtracted. Where rows or
/// columns sum to one, these matrices multiply as the phases do.
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
  const auto values = dense::eigenvalues(period.matrix);
  if (!values) return unknown;
  return period.log + std::log(values->cwiseAbs().maxCoeff());
}

/// p = M p for a column-stochastic M: (I − M + u 1ᵀ) p = u has no other solution where the eigenvalue one is simple.
std::vector<double> stationary(const MatrixXd& m) {
  const Index n = m.rows();
  const double share = 1.0 / static_cast<double>(n);
  const MatrixXd system = MatrixXd::Identity(n, n) - m + MatrixXd::Constant(n, n, share);
  const std::optional<VectorXd> p = dense::solve(system, VectorXd::Constant(n, share), 1e-14);
  return p ? normalised(*p) : std::vector<double>();
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
  const auto eigen = dense::eigenvectors(m);
  if (!eigen) return {};
  Index first = 0;  // the spectral radius of a matrix without negative entries is itself an eigenvalue
  if (!(eigen->values.real().maxCoeff(&first) > 0)) return {};
  return normalised(eigen->vectors.col(first).real());
}

double second_of(const MatrixXd& m) {
  if (m.rows() == 1) return 0;
  const auto values = dense::eigenvalues(m);
  if (!values) return unknown;
  VectorXd moduli = values->cwiseAbs();
  std::sort(moduli.begin(), moduli.end(), std::greater<>());
  return moduli[0] > 0 ? std::min(1.0, moduli[1] / moduli[0]) : unknown;
}

/// Replaces the rate of a period by the rate of a round where disagreement has faded over the period without vanishing.
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

}  // namespace starling
