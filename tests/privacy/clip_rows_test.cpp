/// Rows are clipped to what mechanisms ask for, and to nothing else.
#include "privacy/clip_rows.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

#include "core/check.hpp"
#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::clip_rows_test {

constexpr double infinity = std::numeric_limits<double>::infinity();

Vector clipped(Vector rows, std::size_t width, const Clip& clip) {
  clip_rows(rows, width, clip);
  return rows;
}

/// With 64 bits of precision and a range of its own: errs far less than what it judges.
long double norm_of(View row, ClipKind kind) {
  long double total = 0;
  for (const double value : row) {
    const auto x = static_cast<long double>(value);
    total += kind == ClipKind::l1 ? std::fabs(x) : x * x;
  }
  return kind == ClipKind::l1 ? total : std::sqrt(total);
}

TEST(ClipRows, ScalesEachRowByItself) {
  const Vector rows{3, 4, 0.3, 0.4, 0, 0, -30, 40};
  const Vector of_l2 = clipped(rows, 2, {ClipKind::l2, 2.5});
  const Vector expected{1.5, 2, 0.3, 0.4, 0, 0, -1.5, 2};
  for (std::size_t j = 0; j < rows.size(); ++j) EXPECT_NEAR(of_l2[j], expected[j], 1e-15) << j;
  EXPECT_EQ(of_l2[2], 0.3);  // within the bound: to the bit
  EXPECT_EQ(of_l2[3], 0.4);
  const Vector of_l1 = clipped(rows, 2, {ClipKind::l1, 3.5});
  EXPECT_NEAR(of_l1[0], 1.5, 1e-15);
  EXPECT_NEAR(of_l1[1], 2, 1e-15);
  EXPECT_NEAR(of_l1[7], 2, 1e-15);
  EXPECT_EQ(of_l1[3], 0.4);
  // Alone or among others: the same bits.
  EXPECT_EQ(Vector(of_l2.begin() + 6, of_l2.end()), clipped({-30, 40}, 2, {ClipKind::l2, 2.5}));
}

TEST(ClipRows, DoesWhatTheClipSaysWhereThereIsNoNorm) {
  const Vector rows{3, -4, 0.25, 1e200};
  EXPECT_EQ(clipped(rows, 2, {}), rows);
  EXPECT_EQ(clipped(rows, 2, {ClipKind::component, 2}), (Vector{2, -2, 0.25, 2}));
  EXPECT_EQ(clipped({}, 3, {ClipKind::l2, 1}), Vector());
}

// Of random rows of all scales: the norm of what is left exceeds the bound by e + 16 roundings at most, which is what
// the proof in privacy/noise/grid.hpp assumes; and the row keeps its direction.
TEST(ClipRows, LeavesNoNormAboveTheBoundButForRoundings) {
  AddressedRandom random(7, Purpose::experiment, 0, 0);
  for (const ClipKind kind : {ClipKind::l1, ClipKind::l2}) {
    for (const std::size_t width : {1U, 2U, 7U, 16U, 129U}) {
      for (int exponent = -148; exponent <= 148; exponent += 4) {
        Vector row(width);
        for (double& value : row) value = (2 * random.uniform() - 1) * std::pow(10.0, exponent);
        const auto before = static_cast<double>(norm_of(row, kind));
        for (const double share : {1e-3, 0.5, 1 - 0x1p-43, 1 - 0x1p-52, 1.0, 1 + 0x1p-52, 2.0}) {
          const double bound = before * share;
          const Vector after = clipped(row, width, {kind, bound});
          const long double gamma = static_cast<long double>(width + 16) * 0x1p-53L;
          ASSERT_LE(norm_of(after, kind), bound * (1 + gamma)) << width << " " << exponent << " " << share;
          // Below that an L2 norm is bounded by the L1 norm, and the row is shorter than it could be.
          if (kind == ClipKind::l2 && exponent < -136) continue;
          ASSERT_GE(norm_of(after, kind), std::min(bound, before) * (1 - gamma)) << width << " " << exponent;
        }
      }
    }
  }
}

// Squares of such numbers underflow: their sum would be 0, and the row left as it is.
TEST(ClipRows, ClipsRowsWhoseSquaresUnderflow) {
  const Vector tiny(4, 3e-200);
  const Vector after = clipped(tiny, 4, {ClipKind::l2, 1e-200});
  EXPECT_LE(norm_of(after, ClipKind::l2), 1e-200 * (1 + 1e-15));
  EXPECT_GE(norm_of(after, ClipKind::l2), 0.5e-200 * (1 - 1e-15));  // by the L1 norm, which is twice as much here
  const double denormal = std::numeric_limits<double>::denorm_min();
  const Vector least(3, denormal);
  EXPECT_EQ(clipped(least, 3, {ClipKind::l2, 1e-100}), least);
  EXPECT_EQ(clipped(least, 3, {ClipKind::l1, 1e-100}), least);
  // Beside a large number nothing of it matters.
  EXPECT_EQ(clipped({1, denormal}, 2, {ClipKind::l2, 1}), (Vector{1, denormal}));
}

TEST(ClipRows, ClipsHugeRowsOrMakesThemZero) {
  EXPECT_NEAR(clipped({0, 1e149}, 2, {ClipKind::l2, 1})[1], 1, 1e-15);
  EXPECT_NEAR(clipped({0, -1e149}, 2, {ClipKind::l1, 1e-100})[1] / 1e-100, -1, 1e-15);
  for (const double huge : {1.1e150, 1e200, std::numeric_limits<double>::max()}) {
    Vector rows{0.5, 0.5, 0, huge};
    EXPECT_EQ(clip_rows(rows, 2, {ClipKind::l2, 1}), 1U);
    EXPECT_EQ(rows, (Vector{0.5, 0.5, 0, 0})) << huge;
  }
}

TEST(ClipRows, MakesRowsZeroThatAreNotFinite) {
  for (const double bad : {std::nan(""), infinity, -infinity}) {
    for (const ClipKind kind : {ClipKind::none, ClipKind::l1, ClipKind::l2, ClipKind::component}) {
      Vector rows{0.1, 0.2, 0.3, 0.4, bad, 6};
      EXPECT_EQ(clip_rows(rows, 2, {kind, 1}), 1U);
      EXPECT_EQ(rows, (Vector{0.1, 0.2, 0.3, 0.4, 0, 0}));
    }
  }
}

TEST(ClipRows, NeedsWholeRows) {
  EXPECT_THROW(clipped({1, 2, 3}, 2, {ClipKind::l2, 1}), FailureError);
  EXPECT_THROW(clipped({1, 2, 3}, 0, {ClipKind::l2, 1}), FailureError);
}

}  // namespace starling::clip_rows_test
