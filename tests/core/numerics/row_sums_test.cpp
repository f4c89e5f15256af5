/// Sums of rows side by side against the sum of each row alone: the same bits.
#include "core/numerics/row_sums.hpp"

#include <cmath>
#include <limits>

#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::row_sums_test {

class Widths : public testing::TestWithParam<std::size_t> {};

// Numbers of very different size, so that another order of addition shows in the bits.
TEST_P(Widths, AreThoseOfEachRowAlone) {
  const std::size_t width = GetParam();
  AddressedRandom random(9, Purpose::experiment, width, 0);
  for (const std::size_t count : {0U, 1U, 3U, 4U, 5U, 11U}) {
    Vector rows(count * width);
    for (double& value : rows) value = random.normal() * std::exp(4 * random.normal());
    Vector squares(count);
    Vector magnitudes(count);
    row_sums(rows, width, Square(), squares);
    row_sums(rows, width, Magnitude(), magnitudes);
    for (std::size_t i = 0; i < count; ++i) {
      const View row = View(rows).subspan(i * width, width);
      EXPECT_EQ(squares[i], dot(row, row)) << "row " << i << " of " << count;
      EXPECT_EQ(magnitudes[i], norm1(row)) << "row " << i << " of " << count;
    }
  }
}

// NaN and infinity change the sum of their own row and no other.
TEST_P(Widths, KeepWhatIsNotFiniteApart) {
  const std::size_t width = GetParam();
  for (std::size_t at = 0; at < width; ++at) {
    Vector rows(4 * width, 1.0);
    rows[width + at] = std::numeric_limits<double>::quiet_NaN();
    rows[2 * width + at] = -std::numeric_limits<double>::infinity();
    Vector sums(4);
    row_sums(rows, width, Magnitude(), sums);
    const auto ones = static_cast<double>(width);
    EXPECT_EQ(sums[0], ones);
    EXPECT_TRUE(std::isnan(sums[1]));
    EXPECT_EQ(sums[2], std::numeric_limits<double>::infinity());
    EXPECT_EQ(sums[3], ones);
  }
}

INSTANTIATE_TEST_SUITE_P(RowSums, Widths, testing::Values(1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 31, 100, 1003));

}  // namespace starling::row_sums_test
