/// Erasure of secrets from memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <ranges>

namespace starling {

/// Writes zeros. The compiler does not remove these writes although nobody reads them. (OPENSSL_cleanse does the same.
/// This function is inlined, since a release wipes five objects of a few bytes each.)
inline void wipe(void* place, std::size_t bytes) {
  if (bytes != 0) std::memset(place, 0, bytes);  // an empty range may have a null address
  asm volatile("" : : "r"(place) : "memory");
}

/// Wipes all elements of a range.
template <std::ranges::contiguous_range Numbers>
void wipe(Numbers&& numbers) {
  wipe(std::ranges::data(numbers), std::ranges::size(numbers) * sizeof(*std::ranges::data(numbers)));
}

}  // namespace starling
