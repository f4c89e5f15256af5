/// The floor under positive coordinates of mirror states while clients mix.
#pragma once

#include <cstddef>
#include <vector>

#include "starling/core/columns.hpp"

namespace starling {

/// The positive coordinates of one rank's states, which mixing must not turn into zeros.
///
/// A mixed coordinate is a sum of products A[u,v] w_v z_v, or a difference of running sums: from a small z such a
/// product underflows, and such a difference is zero or a residue of either sign. An entropic step can then never raise
/// it again. So every coordinate is raised to MirrorMap::least_coordinate() after mixing, except those that were
/// exactly zero before it and received nothing: a zero of a start stays one until neighbours feed it.
class PositiveCoordinates {
 public:
  /// `least` is 0 where the mirror map has no such bound: then nothing is done.
  explicit PositiveCoordinates(double least) : least_(least) {}
  /// Notes which coordinates are zero, before mixing.
  void note_zeros(const Columns& states);
  /// Restores zeros and the floor, after mixing.
  void restore(Columns& states);

 private:
  double least_;
  std::vector<std::size_t> zeros_;  ///< places in Columns::flat(), ascending
};

}  // namespace starling
