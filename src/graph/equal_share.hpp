/// Weights of graphs in which a client weighs its neighbours and itself alike.
#pragma once

#include <cstddef>

namespace starling {

/// The weight that a client with `degree` neighbours gives to each of them and to itself.
[[nodiscard]] inline double equal_share(std::size_t degree) {
  return 1.0 / static_cast<double>(degree + 1);
}

}  // namespace starling
