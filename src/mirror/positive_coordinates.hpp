/// Lower bound of positive coordinates of mirror states during mixing.
#pragma once

#include <cstddef>
#include <vector>

#include "core/columns.hpp"

namespace starling {

/// The positive coordinates of one rank's states, which mixing must not turn into zeros.
///
/// A mixed coordinate is a sum of products A[u,v] w_v z_v, or a difference of running sums. For a small z the product
/// underflows, and the difference is zero or a residue of either sign. An entropic step could never raise such a
/// coordinate again. So mixing ends with raising every coordinate to MirrorMap::least_coordinate(), except coordinates
/// that were exactly zero before and received nothing: a zero of a start stays zero until a neighbour sends mass.
class PositiveCoordinates {
 public:
  /// A `least` of 0 is for mirror maps without such a bound, and changes nothing.
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
