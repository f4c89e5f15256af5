/// The sum that a round releases beside a gradient, such as one of curvatures.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/links.hpp"

namespace starling {

/// The second part of a round's release: its size, clip and share of the price.
struct SecondPart {
  std::string what;           ///< of a record, for descriptions: "part in the constraints"
  double clip = 1;            ///< bound on a record's norm; infinite: no clipping (`none` alone)
  std::size_t dimension = 1;  ///< entries
  double share = 0.5;         ///< of the price (of its square, where it is μ), between 0 and 1
  /// The sensitivity of the sum to replacing one record, in clips; √2 (under gaussian) for a sum of curvatures w x xᵀ,
  /// w >= 0, of norm w ‖x‖² <= clip, each a packed triangle (diagonal as it is, off-diagonal times √2;
  /// privacy/noise/grid.hpp).
  double replacement = 2;
  /// For a second part that is released once, after the last round (Gaussian noise only): the number of records in it.
  /// None: the second part is released with each round's first part.
  std::optional<std::size_t> once_of = std::nullopt;
  /// A second part that is released once, before the first parts, is of records that are in no first part: those of so
  /// many first rounds. Each part then has the whole price, and `share` has no meaning.
  std::optional<Round> of_first_rounds = std::nullopt;
  /// First rounds in which the second part is released without a first one, and has the whole price of the round.
  Round alone_in = 0;
};

}  // namespace starling
