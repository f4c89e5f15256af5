#include "privacy/histograms/range_histograms.hpp"

#include <cmath>
#include <limits>

#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::range_histograms_test {

using namespace testing_support;

constexpr ValueRange range{100, 260};

Vector histogram_of(const Vector& labels) {
  const RangeHistograms histogram({range}, 1, static_cast<std::int64_t>(labels.size()));
  Counts counts(histogram.length());
  for (const double label : labels) histogram.count(Vector{label}, counts);
  return Vector(counts.begin(), counts.end());
}

TEST(RangeHistograms, LabelsBeyondTheRangeCountInTheLastBins) {
  const Vector counts = histogram_of({-1e300, 100, 104.9, 105, 259.9, 260, 1e300, std::nan("")});
  EXPECT_EQ(counts.front(), 3);
  EXPECT_EQ(counts[1], 1);
  EXPECT_EQ(counts.back(), 3);
}

TEST(RangeHistograms, FindsMeanAndDeviationOfLabelsFarFromZero) {
  AddressedRandom random(7, Purpose::data, 0, 0);
  Vector labels;
  for (int i = 0; i < 10'000; ++i) labels.push_back(200 + 10 * random.normal());
  const auto found = moments_within(histogram_of(labels), range, 10, 10'000);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->mean, 200, 1);
  EXPECT_NEAR(found->deviation, 10, 1);
}

TEST(RangeHistograms, EachColumnHasItsOwnRangeAndAMissingValueCountsNowhere) {
  const RangeHistograms histograms({{0, 32}, {100, 260}}, 1, 2);
  Counts counts(histograms.length());
  histograms.count(Vector{3.5, 105}, counts);
  histograms.count(Vector{std::nan(""), 259}, counts);
  Counts expected(2 * RangeHistograms::bins);
  expected[3] = expected[RangeHistograms::bins + 1] = expected.back() = 1;
  EXPECT_EQ(counts, expected);
}

// A bin of noise between three and four deviations would count fifteen bins from all labels.
TEST(RangeHistograms, ALoneBinOfNoiseDoesNotCount) {
  Vector counts = histogram_of(Vector(1000, 150.0));
  const auto without = moments_within(counts, range, 20, 1000);
  counts[25] = 70;
  EXPECT_EQ(moments_within(counts, range, 20, 1000), without);
  counts[25] = 90;
  EXPECT_NE(moments_within(counts, range, 20, 1000), without) << "4.5 deviations";
}

// A label of one value is in one bin; noise alone shows nothing.
TEST(RangeHistograms, HasADeviationWhereLabelsAreEqual) {
  const auto found = moments_within(histogram_of(Vector(1000, 150.0)), range, 10, 1000);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->mean, 150, 5);
  EXPECT_DOUBLE_EQ(found->deviation, std::sqrt(25.0 / 12));
  EXPECT_FALSE(moments_within(histogram_of(Vector(1000, 150.0)), range, 400, 1000));
}

// The label is the last of three features here, and has a weight of 3: a replaced record moves 2 + 9 pairs of counts.
TEST(RangeHistograms, AWeightOfLabelsIsPaidFor) {
  FeatureHistograms histograms(3, 0.7, 10, 3);
  Counts before(histograms.length());
  Counts after(histograms.length());
  histograms.count(Vector{1, 1, 1}, before);
  histograms.count(Vector{-8, -8, -8}, after);
  double squares = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    squares += static_cast<double>((before[i] - after[i]) * (before[i] - after[i]));
  }
  EXPECT_EQ(squares, 2 * (2 + 9));
  EXPECT_NEAR(std::sqrt(squares) * static_cast<double>(histograms.unit()) / histograms.scale(), 0.7, 1e-12);
}

}  // namespace starling::range_histograms_test
