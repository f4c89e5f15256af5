/// Eigenvalues and Perron vectors of the product of a topology's mixing matrices over one period.
#pragma once

#include <optional>
#include <vector>

#include "graph/topology.hpp"

namespace starling {

/// The eigenvector of the product that says where mixing goes. The other eigenvector is all ones if sums are one.
enum class PerronSide {
  both,   ///< sender and receiver sums are one: uniform
  left,   ///< receiver sums are one
  right,  ///< sender sums are one
  free,   ///< no sums are one: the right eigenvector, whose eigenvalue may differ from one
};

struct Spectrum {
  std::vector<double> perron;  ///< sums to one; empty if there is no unique Perron vector
  double second = 0;           ///< modulus of the second eigenvalue over the first; NaN if unknown
  Round rounds = 1;            ///< rounds that `second` stands for: a period, or one
  /// Distance from `second` to an eigenvalue: the residual norm of the iterations. A bound for symmetric graphs,
  /// elsewhere an estimate. 0 for dense eigenvalues.
  double tolerance = 0;
  /// Number of times `rounds` until disagreement is exactly gone; `second` is then 0. None if disagreement never
  /// vanishes in a single round, even where a long phase leaves less than a double resolves.
  std::optional<Round> exact_after;
};

/// Eigenvalues of the dense product, O(n³), for up to 1,000 clients. `connected`: the union of all phases is strongly
/// connected.
[[nodiscard]] Spectrum dense_spectrum(const Topology& topology, PerronSide side, bool connected);
/// Eigenvalues by Spectra's Krylov iterations over the links, bounded in work. `second` is NaN if the iterations do not
/// resolve it, and always for `free`.
[[nodiscard]] Spectrum iterated_spectrum(const Topology& topology, PerronSide side, bool connected);

}  // namespace starling
