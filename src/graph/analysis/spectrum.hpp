/// Eigenvalues and Perron vectors of the product of a topology's mixing matrices over one period.
#pragma once

#include "graph/families/cayley.hpp"
#include <optional>
#include <vector>

#include "starling/graph/topology.hpp"

namespace starling {

/// Which eigenvector of the product says where mixing goes; the other one is all ones, where sums are one.
enum class PerronSide {
  both,   ///< sender and receiver sums are one: uniform
  left,   ///< receiver sums are one
  right,  ///< sender sums are one
  free,   ///< neither: the right one, of an eigenvalue that need not be one
};

struct Spectrum {
  std::vector<double> perron;  ///< sums to one; empty where there is no single one
  double second = 0;           ///< modulus of the second eigenvalue over the first; NaN where unknown
  std::optional<double> gap;   ///< 1 − second, where it is known to more digits than a number beside one has
  Round rounds = 1;            ///< that `second` and `exact_after` count: those of a period, or one
  /// How far an eigenvalue may be from `second`, found by iterations: the residual of its vector. (A bound where the
  /// product is normal, as of symmetric graphs; elsewhere an estimate.) 0 where it was computed to the last digits.
  double tolerance = 0;
  /// How far the log of a period's eigenvalue must be below nothing to be told from that of one.
  double resolution = 1e-11;
  /// How many times `rounds` it takes until disagreement is exactly gone, where it is (`second` is then 0): by what
  /// single rounds do, not because many rounds of a phase leave less than a double resolves.
  std::optional<Round> exact_after;
};

/// Dense, O(n³): for up to 1,000 clients. `connected` says that the union of all phases is strongly connected.
[[nodiscard]] Spectrum dense_spectrum(const Topology& topology, PerronSide side, bool connected);
/// From the characters of the group, to the last digits; for graphs that are connected over a period, with sums of one.
/// Costs a pass over the group for every hop.
[[nodiscard]] Spectrum cayley_spectrum(const CayleyGraph& graph);
/// The same of a path, given as the circle that it is when unfolded.
[[nodiscard]] Spectrum folded_spectrum(const CayleyGraph& circle);
/// By iterations over the links, bounded in work; `second` is NaN where they do not resolve it. For `free`, nothing.
[[nodiscard]] Spectrum iterated_spectrum(const Topology& topology, PerronSide side, bool connected);

}  // namespace starling
