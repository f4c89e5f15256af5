// Rows of a few features have ways of their own, which must come to the bits of the general ones.
#include "model/row_arithmetic.hpp"

#include <array>
#include <bit>
#include <numeric>

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace starling::row_arithmetic_test {

std::uint64_t bits(double number) {
  return std::bit_cast<std::uint64_t>(number);
}

class RowsOfAnyLength : public testing::TestWithParam<std::size_t> {
 protected:
  Vector drawn(std::uint64_t what) const {
    AddressedRandom random(21, Purpose::experiment, what, GetParam());
    Vector v(GetParam());
    for (double& entry : v) entry = random.normal() * std::exp(5 * random.normal());
    if (!v.empty() && what % 3 == 1) v.back() = -0.0;
    return v;
  }
};

TEST_P(RowsOfAnyLength, HaveTheDotProductsOfTheKernels) {
  for (std::uint64_t round = 0; round < 200; ++round) {
    const Vector x = drawn(2 * round + 1);
    const Vector y = drawn(2 * round + 2);
    std::vector<std::int32_t> index(x.size());
    std::iota(index.begin(), index.end(), 0);
    EXPECT_EQ(bits(row_dot({x, {}}, y)), bits(dot(x, y)));
    EXPECT_EQ(bits(row_dot({x, index}, y)), bits(dot(x, y)));
  }
}

TEST_P(RowsOfAnyLength, HaveTheSumsOfTheKernelsBesideTheProducts) {
  for (std::uint64_t round = 0; round < 200; ++round) {
    const Vector x = drawn(2 * round + 1);
    const Vector y = drawn(2 * round + 2);
    std::vector<std::int32_t> index(x.size());
    std::iota(index.begin(), index.end(), 0);
    for (const Row& row : {Row{x, {}}, Row{x, index}}) {
      const DotAndSum magnitudes = row_dot_and_sum(row, y, Magnitude());
      const DotAndSum squares = row_dot_and_sum(row, y, Square());
      EXPECT_EQ(bits(magnitudes.dot), bits(dot(x, y)));
      EXPECT_EQ(bits(squares.dot), bits(dot(x, y)));
      EXPECT_EQ(bits(magnitudes.sum), bits(norm1(x)));
      EXPECT_EQ(bits(squares.sum), bits(dot(x, x)));
    }
  }
}

// All of minus zeros, whose sum is the zero that lanes begin with; in one list, and in four side by side.
TEST_P(RowsOfAnyLength, HaveTheSumsOfTheKernelsOfMinusZerosAndInRegisters) {
  const Vector zeros(GetParam(), -0.0);
  EXPECT_EQ(bits(row_dot({zeros, {}}, Vector(GetParam(), 1))), bits(dot(zeros, Vector(GetParam(), 1))));
  sized(GetParam(), [&](auto n) {
    if constexpr (!std::is_same_v<decltype(n), std::size_t>) {
      const std::array<Vector, 4> lists = {drawn(1), drawn(2), zeros, drawn(4)};
      const auto entries = [&](std::size_t j) {
        return FourLanes::Number{lists[0][j], lists[1][j], lists[2][j], lists[3][j]};
      };
      std::array<double, 4> sums;
      std::array<double, 4> magnitudes;
      FourLanes::store(sums.data(), few_sum(n, entries));
      FourLanes::store(magnitudes.data(), few_sum(n, [&](std::size_t j) { return Magnitude()(entries(j)); }));
      for (std::size_t k = 0; k < lists.size(); ++k) {
        EXPECT_EQ(bits(sums[k]), bits(sum(lists[k]))) << k;
        EXPECT_EQ(bits(magnitudes[k]), bits(norm1(lists[k]))) << k;
      }
    }
  });
}

TEST_P(RowsOfAnyLength, AreAddedAsByTheKernels) {
  const Vector x = drawn(1);
  Vector expected = drawn(2);
  Vector dense = expected;
  Vector sparse = expected;
  std::vector<std::int32_t> index(x.size());
  std::iota(index.begin(), index.end(), 0);
  axpy(-0.3, x, expected);
  row_axpy(-0.3, {x, {}}, dense);
  row_axpy(-0.3, {x, index}, sparse);
  EXPECT_EQ(dense, expected);
  EXPECT_EQ(sparse, expected);
}

INSTANTIATE_TEST_SUITE_P(Lengths, RowsOfAnyLength, testing::Range<std::size_t>(0, 20));

}  // namespace starling::row_arithmetic_test
