/// Numbers behind what an own model may write, which show whether it has written further.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "starling/core/check.hpp"
#include "starling/core/columns.hpp"

namespace starling {

constexpr std::size_t fence = 8;
constexpr std::uint64_t fence_bits = 0x7ff85ca1ab1e0000;

/// Throws FailureError unless the last numbers are a fence.
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
