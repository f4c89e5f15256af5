#include "core/memory/heap.hpp"

#include <cstdint>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "support/sanitized.hpp"

namespace starling::heap_test {

/// Whether the page of this byte takes up memory.
bool takes_memory(const char* memory) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  unsigned char state = 0;
  const char* const begin = memory - reinterpret_cast<std::uintptr_t>(memory) % page;
  return ::mincore(const_cast<char*>(begin), 1, &state) == 0 && (state & 1) != 0;
}

TEST(Heap, GivesBackWhatWasFreedBeforeOtherThings) {
#ifdef __GLIBC__
  if (testing_support::sanitized) GTEST_SKIP() << "sanitizers have a heap of their own";
  constexpr std::size_t size = 1000;
  std::vector<std::unique_ptr<char[]>> many(20'000);
  for (auto& each : many) each = std::make_unique<char[]>(size);
  const auto last = std::make_unique<char[]>(size);
  std::vector<const char*> places;
  for (std::size_t k = 100; k < many.size(); k += 997) places.push_back(many[k].get());
  for (auto& each : many) each.reset();
  for (const char* place : places) EXPECT_TRUE(takes_memory(place)) << "it lies before another";
  trim_heap();
  for (const char* place : places) EXPECT_FALSE(takes_memory(place));
  EXPECT_EQ(last[size - 1], 0);
#else
  GTEST_SKIP() << "other heaps give back what they like";
#endif
}

}  // namespace starling::heap_test
