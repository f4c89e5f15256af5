#include "core/sized.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace starling::sized_test {

template <class Size>
constexpr bool is_known = !std::is_same_v<Size, std::size_t>;

TEST(Sized, PassesTheNumberOn) {
  for (std::size_t n = 0; n < 20; ++n) {
    EXPECT_EQ(sized(n, [](auto size) -> std::size_t { return size; }), n);
  }
}

TEST(Sized, IsKnownToTheCompilerFromOneToSix) {
  for (std::size_t n = 0; n < 20; ++n) {
    EXPECT_EQ(sized(n, [](auto size) { return is_known<decltype(size)>; }), n >= 1 && n <= 6) << n;
  }
}

TEST(Sized, LoopsAreTheSame) {
  for (std::size_t n = 0; n < 20; ++n) {
    std::vector<int> passed;
    sized(n, [&](auto size) {
      for (std::size_t i = 0; i < size; ++i) passed.push_back(static_cast<int>(i));
    });
    ASSERT_EQ(passed.size(), n);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(passed[i], static_cast<int>(i));
  }
}

}  // namespace starling::sized_test
