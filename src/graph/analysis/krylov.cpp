#include "krylov.hpp"

#include <Spectra/GenEigsSolver.h>
#include <Spectra/SymEigsSolver.h>

namespace starling::spectral {

namespace {

/// A map with the interface that Spectra's solvers need.
struct KrylovMap {
  using Scalar = double;

  const Map& map;
  Index size;

  [[nodiscard]] Index rows() const { return size; }
  [[nodiscard]] Index cols() const { return size; }
  void perform_op(const double* x, double* y) const {
    Eigen::Map<VectorXd>(y, size) = map(Eigen::Map<const VectorXd>(x, size));
  }
};

template <class Solver>
std::optional<LargestEigenvalue> solve(const Map& map, const VectorXd& start, const KrylovLimits& limits) {
  KrylovMap operation{map, start.size()};
  Solver solver(operation, 1, limits.basis);
  solver.init(start.data());
  solver.compute(Spectra::SortRule::LargestMagn, limits.restarts, limits.tolerance);
  if (solver.info() != Spectra::CompInfo::Successful) return std::nullopt;
  return LargestEigenvalue{solver.eigenvalues()[0], solver.eigenvectors(1).col(0), solver.num_iterations()};
}

}  // namespace

std::optional<LargestEigenvalue> largest_eigenvalue(const Map& map, bool symmetric, const VectorXd& start,
                                                    const KrylovLimits& limits) {
  return symmetric ? solve<Spectra::SymEigsSolver<KrylovMap>>(map, start, limits)
                   : solve<Spectra::GenEigsSolver<KrylovMap>>(map, start, limits);
}

}  // namespace starling::spectral
