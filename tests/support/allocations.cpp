#include "support/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

// All forms without an alignment are replaced together: a sanitizer refuses memory of its own operators under these.
// Not inlined: the compiler would see free() meet what it takes for the library's operator new.

namespace {
std::atomic<long> count{0};
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  ++count;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* const memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) {
  return operator new(size);
}
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
  return operator new(size, tag);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  operator delete(memory);
}
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept {
  operator delete(memory);
}
void operator delete[](void* memory) noexcept {
  operator delete(memory);
}
void operator delete[](void* memory, std::size_t /*size*/) noexcept {
  operator delete(memory);
}
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept {
  operator delete(memory);
}

namespace starling::testing_support {

long allocations() noexcept {
  return count;
}

}  // namespace starling::testing_support
