/// The end of secrets in memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <ranges>

namespace starling {

/// Writes zeros, which the compiler does not leave out although nobody reads them. (As OPENSSL_cleanse does, but
/// inlined: a release wipes five things of some bytes each.)
inline void wipe(void* place, std::size_t bytes) {
  if (bytes != 0) std::memset(place, 0, bytes);  // of nothing the place may be null
  asm volatile("" : : "r"(place) : "memory");
}

/// All that it holds.
template <std::ranges::contiguous_range Numbers>
void wipe(Numbers&& numbers) {
  wipe(std::ranges::data(numbers), std::ranges::size(numbers) * sizeof(*std::ranges::data(numbers)));
}

}  // namespace starling
