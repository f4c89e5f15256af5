/// Loops over a small number of elements.
#pragma once

#include <cstddef>
#include <type_traits>

namespace starling {

/// Runs f(n), with n a compile-time constant for n from 1 to 6. A loop for any n has a start-up cost greater than the
/// work on the few coefficients of a regression.
template <class F>
[[gnu::always_inline]] inline auto sized(std::size_t n, F&& f) {
  switch (n) {
    case 1:
      return f(std::integral_constant<std::size_t, 1>());
    case 2:
      return f(std::integral_constant<std::size_t, 2>());
    case 3:
      return f(std::integral_constant<std::size_t, 3>());
    case 4:
      return f(std::integral_constant<std::size_t, 4>());
    case 5:
      return f(std::integral_constant<std::size_t, 5>());
    case 6:
      return f(std::integral_constant<std::size_t, 6>());
    default:
      return f(n);
  }
}

}  // namespace starling
