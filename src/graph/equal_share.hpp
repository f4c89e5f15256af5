/// The weight that a client gives to each of its neighbours and to itself, where all have the same.
#pragma once

#include <cstddef>

namespace starling {

/// Of so many neighbours.
[[nodiscard]] inline double equal_share(std::size_t degree) {
  return 1.0 / static_cast<double>(degree + 1);
}

}  // namespace starling
