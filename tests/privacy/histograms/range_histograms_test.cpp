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
  const auto found = sight_within(histogram_of(labels), range, 10, 10'000);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->moments.mean, 200, 1);
  EXPECT_NEAR(found->moments.deviation, 10, 1);
  EXPECT_TRUE(found->resolved);
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
  const auto moments = [&] { return sight_within(counts, range, 20, 1000).value().moments; };
  const FeatureMoments without = moments();
  counts[25] = 70;
  EXPECT_EQ(moments(), without);
  counts[25] = 90;
  EXPECT_NE(moments(), without) << "4.5 deviations";
}

// A label of one value is in one bin; noise alone shows nothing.
TEST(RangeHistograms, HasADeviationWhereLabelsAreEqual) {
  const auto found = sight_within(histogram_of(Vector(1000, 150.0)), range, 10, 1000);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->moments.mean, 150, 5);
  EXPECT_DOUBLE_EQ(found->moments.deviation, std::sqrt(25.0 / 12));
  EXPECT_FALSE(found->resolved);
  EXPECT_FALSE(sight_within(histogram_of(Vector(1000, 150.0)), range, 400, 1000));
}

// Twice, each time within the range that the look before has left.
TEST(RangeHistograms, CloserLooksFindWhatFillsLittleOfItsRange) {
  constexpr double mean = 163.7;
  constexpr double deviation = 0.5;
  AddressedRandom random(9, Purpose::data, 0, 0);
  Vector values;
  for (int i = 0; i < 2000; ++i) values.push_back(mean + deviation * random.normal());
  ValueRange own = range;
  for (const bool resolved : {false, true}) {
    const RangeHistograms histogram({own}, 1, 2000);
    Counts counts(histogram.length());
    for (const double each : values) histogram.count(Vector{each}, counts);
    const auto found = sight_of_close_values(Vector(counts.begin(), counts.end()), own, 20, 2000);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->resolved, resolved);
    own = found->range;
    EXPECT_LT(own.low, mean - deviation);
    EXPECT_GT(own.high, mean + deviation);
    if (!resolved) continue;
    EXPECT_NEAR(found->moments.mean, mean, deviation / 2);
    EXPECT_NEAR(found->moments.deviation, deviation, deviation / 2);
  }
}

// Four bins have 2.5 deviations each: none counts by itself, and pairs of them do.
TEST(RangeHistograms, NeighboursAreTakenTogetherWhereNoneStandsOut) {
  Vector counts(RangeHistograms::bins, 0.0);
  for (std::size_t k = 4; k < 8; ++k) counts[k] = 250;
  EXPECT_FALSE(sight_within(counts, range, 100, 1000));
  const auto found = sight_of_close_values(counts, range, 100, 1000);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->moments.mean, 100 + 6 * 5);
  EXPECT_NEAR(found->moments.deviation, 20 / std::sqrt(12), 1e-9);
  EXPECT_FALSE(sight_of_close_values(Vector(RangeHistograms::bins, 1000.0 / 32), range, 66, 1000)) << "far apart";
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
