/// Storage for large blocks with scattered accesses. On huge pages, if the system provides them, a distant access costs
/// one miss instead of two (the address is found at once).
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace starling {

inline constexpr std::size_t huge_page = std::size_t{1} << 21;
inline constexpr std::size_t cache_line = 64;

/// Maps `bytes` of zeros outside the heap, aligned to a huge page, with the advice to use huge pages. Null if the
/// system provides none. Throws nothing.
[[nodiscard]] void* map_block(std::size_t bytes);
/// Returns a block from map_block() to the system at once. `bytes` must be the size given to map_block().
void unmap_block(void* block, std::size_t bytes);

/// Allocates `bytes` from the heap, aligned to a cache line. Null if the heap has none. (std::aligned_alloc, in glibc
/// before 2.38, never reuses the freed memory of such a block: the heap would grow with each of the copies of models
/// that observers take.)
[[nodiscard]] void* allocate_lines(std::size_t bytes);
void free_lines(void* block);

/// Allocator of memory aligned to a cache line. Blocks of two huge pages and more are mapped outside the heap. The heap
/// would keep the space of a block freed between others, and blocks of very many clients are most of a rank's memory.
/// Throws std::bad_alloc.
template <class T>
class HugePageAllocator {
 public:
  using value_type = T;

  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t bytes = count * sizeof(T);
    void* const memory = is_mapped(bytes) ? map_block(bytes) : allocate_lines(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    is_mapped(bytes) ? unmap_block(memory, bytes) : free_lines(memory);
  }

  template <class U>
  friend bool operator==(const HugePageAllocator&, const HugePageAllocator<U>&) {
    return true;
  }

 private:
  [[nodiscard]] static bool is_mapped(std::size_t bytes) { return bytes >= 2 * huge_page; }
};

/// A vector of doubles that may become large.
using BlockVector = std::vector<double, HugePageAllocator<double>>;

}  // namespace starling
