/// Storage for large blocks that are read here and there: on huge pages, where the system lends them, an access far
/// away costs one miss instead of two (its address is found at once).
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <vector>

namespace starling {

/// Aligned to a cache line; from two huge pages on to such a page, with the advice to use them. Without them it is
/// memory like any other.
template <class T>
class HugePageAllocator {
 public:
  using value_type = T;
  static constexpr std::size_t line = 64;
  static constexpr std::size_t huge_page = std::size_t{1} << 21;

  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t alignment = count * sizeof(T) < 2 * huge_page ? line : huge_page;
    const std::size_t bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment;
    void* const memory = std::aligned_alloc(alignment, bytes);
    if (memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (alignment == huge_page) static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) {
    std::free(memory);
  }

  template <class U>
  friend bool operator==(const HugePageAllocator&, const HugePageAllocator<U>&) {
    return true;
  }
};

/// A vector of doubles that may become large.
using BlockVector = std::vector<double, HugePageAllocator<double>>;

}  // namespace starling
