#include "core/memory/wipe.hpp"

#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace starling::wipe_test {

TEST(Wipe, LeavesZerosInAllThatItIsGiven) {
  std::vector<std::int64_t> numbers(100, -1);
  wipe(numbers);
  EXPECT_EQ(numbers, std::vector<std::int64_t>(100, 0));
  std::array<unsigned char, 5> bytes = {1, 2, 3, 4, 5};
  wipe(&bytes[1], 3);
  EXPECT_EQ(bytes, (std::array<unsigned char, 5>{1, 0, 0, 0, 5}));
}

TEST(Wipe, TakesNothing) {
  std::vector<std::int64_t> nothing;
  wipe(nothing);
  EXPECT_TRUE(nothing.empty());
}

}  // namespace starling::wipe_test
