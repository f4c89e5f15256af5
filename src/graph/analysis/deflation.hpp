/// What all ways to a second eigenvalue share: maps of vectors, from which the first eigenvalue is taken off.
#pragma once

#include "spectrum.hpp"
#include <functional>
#include <optional>
#include <vector>

#include <Eigen/Core>

#include "starling/core/limits.hpp"

namespace starling::spectral {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
/// x → M x for the period's product M, or for its transpose.
using Map = std::function<VectorXd(const VectorXd&)>;

/// Stands for an eigenvalue that nothing is known of.
/// What a vector or matrix of size one must fall to at once to count as nothing.
inline constexpr double vanishing = 1e-10;
/// Periods in which disagreement may vanish at once.
inline constexpr Round most_vanishing = 64;

/// A generic vector of n entries: no eigenvector of interest is orthogonal to it but by bad luck.
[[nodiscard]] VectorXd generic_vector(Index n);

/// Shares that sum to one; none where numbers have left the range of doubles on the way.
[[nodiscard]] std::vector<double> normalised(VectorXd v);

/// The two eigenvectors of the eigenvalue one, scaled so that left · right = 1: M − right leftᵀ has all other
/// eigenvalues.
struct Deflation {
  VectorXd left;
  VectorXd right;
  void apply(VectorXd& x) const { x -= right * left.dot(x); }
};

/// Of a Perron vector and a side other than `free`.
[[nodiscard]] Deflation deflation(const std::vector<double>& perron, PerronSide side);

/// After how many applications a generic vector falls to nothing at once: disagreement is then gone for good, and the
/// eigenvalues that rounding makes of a nilpotent matrix (1e-16 to the power 1/k) are not to be believed.
/// Leaves in `v` what is left of it, in which small eigenvalues have faded.
[[nodiscard]] std::optional<Round> vanishes_after(const Map& map, const Deflation& deflate, Round most, VectorXd& v);

}  // namespace starling::spectral
