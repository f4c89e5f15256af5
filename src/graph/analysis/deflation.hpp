/// Linear maps without their first eigenvalue, for dense and for iterated spectra.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <Eigen/Core>

#include "core/text/limits.hpp"
#include "spectrum.hpp"

namespace starling::spectral {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
/// x → M x for the period's product M, or for its transpose.
using Map = std::function<VectorXd(const VectorXd&)>;

/// Norm below which one application makes a vector or matrix of norm one count as zero.
inline constexpr double vanishing = 1e-10;
/// Largest number of periods after which disagreement may vanish.
inline constexpr Round most_vanishing = 64;

/// A random vector of n entries, the same in every run: almost surely orthogonal to no eigenvector.
[[nodiscard]] VectorXd generic_vector(Index n);

/// Absolute values of the entries over their sum; empty if the sum is zero or not finite.
[[nodiscard]] std::vector<double> normalised(VectorXd v);

/// The two eigenvectors of the eigenvalue one, scaled so that left · right = 1. M − right leftᵀ has all other
/// eigenvalues.
struct Deflation {
  VectorXd left;
  VectorXd right;
  void apply(VectorXd& x) const { x -= right * left.dot(x); }
};

/// The deflation by a Perron vector of a side other than `free`.
[[nodiscard]] Deflation deflation(const std::vector<double>& perron, PerronSide side);

/// Number of applications, `most` at most, after which the vector `v` vanishes in one of them; none if it does not.
/// Disagreement is then gone for good. The eigenvalues that rounding makes of such a nilpotent matrix are wrong: about
/// 1e-16 to the power 1/k for a block of size k. Leaves the iterated vector in `v`.
[[nodiscard]] std::optional<Round> vanishes_after(const Map& map, const Deflation& deflate, Round most, VectorXd& v);

}  // namespace starling::spectral
