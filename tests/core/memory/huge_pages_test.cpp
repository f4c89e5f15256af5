#include "core/memory/huge_pages.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <malloc.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/sanitized.hpp"

namespace starling::huge_pages_test {

constexpr std::size_t least_mapped = 2 * huge_page / sizeof(double);

std::size_t place_in(const void* memory, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(memory) % alignment;
}

const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

/// Whether the page that holds this byte is this process's.
bool is_there(const void* memory) {
  unsigned char state = 0;
  void* const begin = const_cast<char*>(static_cast<const char*>(memory)) - place_in(memory, page);
  return ::mincore(begin, 1, &state) == 0 || errno != ENOMEM;
}

// Between other things in the heap.
TEST(HugePages, AreTakenFromTheRoomOfAFreedBlock) {
#ifdef __GLIBC__
  if (testing_support::sanitized) GTEST_SKIP() << "sanitizers have a heap of their own";
  for (const std::size_t count : {1000, 5000}) {
    auto block = std::make_unique<BlockVector>(count);
    const auto behind = std::make_unique<std::array<char, 200>>();
    const double* const place = block->data();
    block.reset();
    const BlockVector next(count);
    EXPECT_EQ(next.data(), place) << behind->size();
  }
#else
  GTEST_SKIP() << "other heaps give what they like";
#endif
}

TEST(HugePages, AlignLargeBlocksToThemselvesAndSmallOnesToALine) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{9}, least_mapped - 1}) {
    const BlockVector small(count, 1.5);
    EXPECT_EQ(place_in(small.data(), cache_line), 0U) << count;
    EXPECT_EQ(small.back(), 1.5);
  }
  for (const std::size_t count : {least_mapped, least_mapped + 1, 5 * least_mapped / 3}) {
    const BlockVector large(count, 2.5);
    EXPECT_EQ(place_in(large.data(), huge_page), 0U) << count;
    EXPECT_EQ(large.front() + large.back(), 5);
  }
}

TEST(HugePages, GoBackToTheSystemFromAmongOtherBlocks) {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);  // from here on the heap would take them in
  const BlockVector before(2 * least_mapped + 1, 1.0);
  std::vector<BlockVector> blocks(3, BlockVector(least_mapped + 513, 2.0));
  const std::vector<char> after(1000);
  std::vector<const double*> ends;
  for (const BlockVector& block : blocks) ends.insert(ends.end(), {&block.front(), &block.back()});
  for (const double* end : ends) EXPECT_TRUE(is_there(end));
  blocks.clear();
  for (const double* end : ends) EXPECT_FALSE(is_there(end));
  EXPECT_TRUE(is_there(&before.front()));
  EXPECT_TRUE(is_there(&before.back()));
}

TEST(HugePages, TakeAndGiveBackWholePages) {
  const std::size_t bytes = 3 * huge_page + page + 1;
  auto* const block = static_cast<char*>(map_block(bytes));
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block[0] + block[bytes - 1], 0);
  const char* const last = block + bytes - 1;
  EXPECT_TRUE(is_there(block));
  EXPECT_TRUE(is_there(last));
  unmap_block(block, bytes);
  EXPECT_FALSE(is_there(block));
  EXPECT_FALSE(is_there(last));
}

TEST(HugePages, HoldWhatGrowsIntoThem) {
  BlockVector grown;
  for (std::size_t i = 0; i < 3 * least_mapped; ++i) grown.push_back(static_cast<double>(i));
  for (std::size_t i = 0; i < grown.size(); ++i) ASSERT_EQ(grown[i], static_cast<double>(i));
  EXPECT_EQ(place_in(grown.data(), huge_page), 0U);
  grown.resize(100);
  grown.shrink_to_fit();  // back into the heap
  EXPECT_EQ(grown.back(), 99);
}

TEST(HugePages, AreRefusedAsOtherMemoryIs) {
  HugePageAllocator<double> allocator;
  constexpr std::size_t more_than_bytes = std::numeric_limits<std::size_t>::max() / sizeof(double);
  EXPECT_THROW(static_cast<void>(allocator.allocate(more_than_bytes)), std::bad_array_new_length);
  constexpr std::size_t more_than_there_is = std::size_t{1} << 56;
  EXPECT_THROW(static_cast<void>(allocator.allocate(more_than_there_is)), std::bad_alloc);
  EXPECT_EQ(map_block(more_than_there_is), nullptr);
}

}  // namespace starling::huge_pages_test
