/// Numbers behind a buffer that an own model fills. They show whether it has written beyond the end.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/check.hpp"
#include "core/columns.hpp"

namespace starling {

inline constexpr std::size_t fence = 8;                          ///< numbers of a fence
inline constexpr std::uint64_t fence_bits = 0x7ff85ca1ab1e0000;  ///< bits of each: a NaN that arithmetic does not give

/// Throws FailureError unless the last numbers of a buffer are a fence. `what` names the content of the buffer.
inline void require_fence(const Vector& numbers, const char* what) {
  const bool whole = std::all_of(numbers.end() - fence, numbers.end(),
                                 [](double x) { return std::bit_cast<std::uint64_t>(x) == fence_bits; });
  check<FailureError>(
      whole,
      "--model: the own model has written beyond the end of the {} that it was asked for (memory may be "
      "damaged). Look how many it writes.",
      what);
}

}  // namespace starling
