/// Scratch memory of matrix products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory/huge_pages.hpp"

namespace starling {

/// Memory that starts at a cache line, keeps its size from call to call and is not initialised.
template <class T>
class Workspace {
 public:
  /// Room for `count` numbers, valid until the next call.
  [[nodiscard]] T* take(std::size_t count) {
    constexpr std::size_t spare = cache_line / sizeof(T);
    if (numbers_.size() < count + spare) numbers_.resize(count + spare);
    const auto address = reinterpret_cast<std::uintptr_t>(numbers_.data());
    return numbers_.data() + (cache_line - address % cache_line) % cache_line / sizeof(T);
  }

 private:
  std::vector<T> numbers_;
};

}  // namespace starling
