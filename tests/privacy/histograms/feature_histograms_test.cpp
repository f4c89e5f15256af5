#include "privacy/histograms/feature_histograms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/check.hpp"
#include "core/random.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/audit/audit.hpp"
#include "privacy/mechanism/releases.hpp"
#include "support/testing.hpp"

namespace starling::feature_histograms_test {

using namespace testing_support;

constexpr std::int64_t some_records = 1000;

Counts counts_of(const FeatureHistograms& histograms, const std::vector<Vector>& rows) {
  Counts counts(histograms.length());
  for (const Vector& row : rows) histograms.count(row, counts);
  return counts;
}

/// The histogram of one feature with these values, without noise.
Vector histogram_of(const Vector& values) {
  const FeatureHistograms histograms(1, 1, static_cast<std::int64_t>(values.size()));
  Counts counts(histograms.length());
  for (const double value : values) histograms.count(Vector{value}, counts);
  return Vector(counts.begin(), counts.end());
}

TEST(FeatureHistograms, BinsAreZeroAndOctavesOfEitherSign) {
  EXPECT_EQ(FeatureHistograms::bin_of(0.0), 0U);
  EXPECT_EQ(FeatureHistograms::bin_of(-0.0), 0U);
  EXPECT_EQ(FeatureHistograms::bin_of(1), 21U);
  EXPECT_EQ(FeatureHistograms::bin_of(-1), 85U);
  EXPECT_EQ(FeatureHistograms::bin_of(std::nextafter(1, 0)), 20U);
  EXPECT_EQ(FeatureHistograms::bin_of(0x1p-1040), 1U);
  EXPECT_EQ(FeatureHistograms::bin_of(-0x1p-1040), 65U);
  EXPECT_EQ(FeatureHistograms::bin_of(1e300), 64U);
  EXPECT_EQ(FeatureHistograms::bin_of(-1e300), 128U);
  EXPECT_FALSE(FeatureHistograms::bin_of(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(FeatureHistograms::bin_of(std::numeric_limits<double>::quiet_NaN()));
}

// Any record in the place of any other: at most √(2d), for which the noise is made, and as much where all bins differ.
TEST(FeatureHistograms, AReplacedRecordMovesCountsByNoMoreThanTheNoiseIsMadeFor) {
  const std::size_t features = 3;
  const double mu = 0.7;
  const FeatureHistograms histograms(features, mu, some_records);
  const std::array<double, 6> values{0, 1, -1, 1e9, -1e-9, std::numeric_limits<double>::infinity()};
  double most = 0;
  for (std::size_t from = 0; from < 216; ++from) {
    for (std::size_t to = 0; to < 216; ++to) {
      const auto row = [&](std::size_t code) {
        return Vector{values[code % 6], values[code / 6 % 6], values[code / 36]};
      };
      const Counts before = counts_of(histograms, {row(from)});
      const Counts after = counts_of(histograms, {row(to)});
      double squares = 0;
      for (std::size_t i = 0; i < before.size(); ++i) {
        squares += static_cast<double>((before[i] - after[i]) * (before[i] - after[i]));
      }
      most = std::max(most, std::sqrt(squares) * static_cast<double>(histograms.unit()));
    }
  }
  EXPECT_EQ(histograms.length(), FeatureHistograms::bins * features);
  EXPECT_LE(most / histograms.scale(), mu * (1 + 1e-15));
  EXPECT_NEAR(most / histograms.scale(), mu, 1e-12);
  EXPECT_EQ(histograms.charge(), Charge::gaussian(mu));
}

using Kind = FeatureSight::Kind;

TEST(FeatureHistograms, FindMeanAndDeviationToWithinTheirBins) {
  AddressedRandom random(7, Purpose::data, 0, 0);
  for (const auto& [mean, deviation] : {std::pair{0.0, 1.0}, {5.0, 2.0}, {-3000.0, 1000.0}, {0.02, 0.01}}) {
    Vector values;
    for (int i = 0; i < 20'000; ++i) values.push_back(mean + deviation * random.normal());
    const auto [kind, found, range, known, others] = feature_sight(histogram_of(values), 10);
    ASSERT_EQ(kind, Kind::values);
    EXPECT_NEAR(found.mean, mean, 0.25 * deviation) << mean;
    EXPECT_NEAR(found.deviation, deviation, 0.5 * deviation) << mean;
  }
}

TEST(FeatureHistograms, ValuesOfTwoKindsAreFoundAsBinsTellThem) {
  Vector values(600, 0.0);
  values.resize(1000, 1.0);  // in [1, 2): taken for 1.5, and for a square of 7/3
  const auto [kind, found, range, known, others] = feature_sight(histogram_of(values), 10);
  ASSERT_EQ(kind, Kind::values);
  EXPECT_DOUBLE_EQ(found.mean, 0.6);
  EXPECT_DOUBLE_EQ(found.deviation, std::sqrt(0.4 * 7 / 3 - 0.36));
}

// Standardised values may not be clipped nearer than these.
TEST(FeatureHistograms, KnowsTheNearerEndsOfTheFarthestBinsWithValues) {
  Vector flags(9850, 0.0);
  flags.resize(10'000, 1.0);
  const FeatureSight rare = feature_sight(histogram_of(flags), 5);
  EXPECT_EQ(std::pair(rare.known->low, rare.known->high), std::pair(0.0, 1.0));
  for (double& each : flags) each = -each;
  const FeatureSight negative = feature_sight(histogram_of(flags), 5);
  EXPECT_EQ(std::pair(negative.known->low, negative.known->high), std::pair(-1.0, 0.0));
  Vector ages(500, 40.0);   // in [32, 64)
  ages.resize(1000, 90.0);  // in [64, 128)
  const FeatureSight of_ages = feature_sight(histogram_of(ages), 5);
  EXPECT_EQ(std::pair(of_ages.known->low, of_ages.known->high), std::pair(64.0, 64.0)) << "between both bins";
}

// A flag's ones lie in 1 … 2, and its zeros belong to it too, where they are more than noise may be.
TEST(FeatureHistograms, ARangeHasZerosThatStandOut) {
  Vector values(300, 1.0);
  EXPECT_DOUBLE_EQ(feature_sight(histogram_of(values), 10).range.low, 0.75);
  values.resize(1000, 0.0);
  EXPECT_DOUBLE_EQ(feature_sight(histogram_of(values), 10).range.low, 0);
  EXPECT_DOUBLE_EQ(feature_sight(histogram_of(values), 10).range.high, 2.25);
}

TEST(FeatureHistograms, ZerosAreToldFromNothing) {
  EXPECT_EQ(feature_sight(histogram_of(Vector(1000, 0.0)), 50).kind, Kind::zeros);
  EXPECT_EQ(feature_sight(histogram_of(Vector(150, 0.0)), 50).kind, Kind::nothing);
  EXPECT_EQ(feature_sight(histogram_of(Vector(150, 1.0)), 50).kind, Kind::nothing);
  Vector scattered;
  for (int k = -15; k < 20; ++k) scattered.insert(scattered.end(), 20, std::ldexp(1.0, k));
  EXPECT_EQ(feature_sight(histogram_of(scattered), 50).kind, Kind::nothing);
}

// 150 records in each of four octaves: none of them stands out of noise with a deviation of 50, and all together do.
TEST(FeatureHistograms, ValuesThatAreSpreadOverBinsStandOutTogether) {
  Vector values;
  for (const double each : {1.0, 2.0, 4.0, 8.0}) values.insert(values.end(), 150, each);
  EXPECT_EQ(feature_sight(histogram_of(Vector(150, 1.0)), 50).kind, Kind::nothing);
  const auto [kind, found, range, known, others] = feature_sight(histogram_of(values), 50);
  ASSERT_EQ(kind, Kind::values);
  EXPECT_DOUBLE_EQ(found.mean, 1.5 * 15 / 4);
}

// A bin of noise far from the values would move their mean by any amount.
TEST(FeatureHistograms, ABinThatIsApartDoesNotCount) {
  Vector values(1000, 1.0);
  values.insert(values.end(), 1000, 2.0);
  const auto with = [&](std::size_t records, double value) {
    Vector all = values;
    all.insert(all.end(), records, value);
    return feature_sight(histogram_of(all), 60).moments;
  };
  const FeatureMoments without = with(0, 0);
  for (const double value : {0x1p40, -0x1p40, -2.0}) EXPECT_EQ(with(260, value), without) << "below 4.5 deviations";
  EXPECT_NE(with(280, -2.0), without);
}

// 160 records in one octave are four deviations of the noise: enough for values of a usual size alone.
TEST(FeatureHistograms, UnusualSizesMustStandOutMore) {
  EXPECT_EQ(feature_sight(histogram_of(Vector(160, 1.0)), 40).kind, Kind::values);
  EXPECT_EQ(feature_sight(histogram_of(Vector(160, 0x1p30)), 40).kind, Kind::nothing);
  EXPECT_EQ(feature_sight(histogram_of(Vector(240, 0x1p30)), 40).kind, Kind::values);
}

TEST(FeatureHistograms, CountsClassesAsPowersOfTwo) {
  const Vector counts = FeatureHistograms::counts_of_classes(histogram_of({1, 4, 2, 4, 4}), 3);
  EXPECT_EQ(counts, (Vector{1, 1, 3}));
}

// 3.75 deviations of 40 records beside a thousand.
TEST(FeatureHistograms, ZerosLeaveRoomForAsManyOthersAsNoiseHides) {
  const FeatureSight zeros = feature_sight(histogram_of(Vector(1000, 0.0)), 40);
  EXPECT_EQ(zeros.kind, Kind::zeros);
  EXPECT_DOUBLE_EQ(zeros.others, 0.15);
}

// One value alone would have a deviation of nothing.
TEST(FeatureHistograms, DeviationsAreNoFinerThanBins) {
  const auto [kind, found, range, known, others] = feature_sight(histogram_of(Vector(1000, 1000.0)), 10);
  ASSERT_EQ(kind, Kind::values);
  EXPECT_GE(found.deviation, 0.1 * std::abs(found.mean));
}

// 2000 histograms of three clients without records: 3 % should show values. More than 5.5 % have a probability below
// 1e-9.
TEST(FeatureHistograms, NoiseAloneIsSeldomTakenForValues) {
  constexpr int releases = 2000;
  FeatureHistograms histograms(1, 1, some_records);
  const double deviation = std::sqrt(3.0) * histograms.deviation();
  int seen = 0;
  double squares = 0;
  for (int r = 0; r < releases; ++r) {
    Vector sum(histograms.length());
    for (int client = 0; client < 3; ++client) {
      const Vector noise = released(histograms, Counts(histograms.length()), numbered_audit_keys(11)(client, r));
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += noise[i];
    }
    seen += feature_sight(sum, deviation).kind == Kind::values ? 1 : 0;
    for (const double each : sum) squares += each * each;
  }
  EXPECT_GT(seen, 0);
  EXPECT_LE(seen, 110);
  EXPECT_NEAR(squares / (deviation * deviation * releases * static_cast<double>(histograms.length())), 1, 0.02);
}

// Of such a column the small value alone has been taken for the whole.
TEST(FeatureHistograms, ManyRecordsWithOneSmallValueDoNotHideTheOthers) {
  Vector values(600, 0.0145);
  for (int i = 0; i < 400; ++i) values.push_back(0.5 + i / 100.0);
  const FeatureSight sight = feature_sight(histogram_of(values), 2);
  EXPECT_GT(sight.moments.deviation, 0.7);
  values.resize(600);
  values.insert(values.end(), {3e5, 3e5, 3e5, 3e5, 3e5, 3e5, 3e5, 3e5, 3e5, 3e5});
  EXPECT_LT(feature_sight(histogram_of(values), 2).moments.deviation, 0.1) << "a few outliers are not seen";
}

TEST(FeatureHistograms, FeaturesOfLikeSizesHaveOneScale) {
  using Features = std::vector<FeatureMoments>;
  EXPECT_TRUE(have_one_scale(Features{{0, 1}, {0.5, 2}, {0, 8}}));
  EXPECT_TRUE(have_one_scale(Features{{0, 1000}, {500, 2000}})) << "the norm says how large they are";
  EXPECT_FALSE(have_one_scale(Features{{0, 1}, {0, 8.1}}));
  EXPECT_FALSE(have_one_scale(Features{{0, 1}, {9, 1}}));
  EXPECT_FALSE(have_one_scale(Features{{3, 1}, {3, 1.2}})) << "all are shifted";
}

/// A record in other bins of all features on side 1.
AuditSubject subject_of(FeatureHistograms& histograms) {
  return histogram_subject(histograms, "a record of ones or of minus eights",
                           {counts_of(histograms, {{1, 1, 1}}), counts_of(histograms, {{-8, -8, -8}})});
}

TEST(FeatureHistograms, AnAuditDoesNotRefuteTheirClaimAndComesNear) {
  FeatureHistograms histograms(3, 1, some_records);
  const AuditResult result = audit(subject_of(histograms), histograms.charge(), {.samples = 20'000});
  EXPECT_FALSE(result.refuted);
  EXPECT_GE(result.mu_lower_bound, 0.85);
}

// Noise for one feature in place of three.
TEST(FeatureHistograms, AnAuditCatchesNoiseForOneFeature) {
  FeatureHistograms histograms(3, std::sqrt(3.0), some_records);
  EXPECT_TRUE(audit(subject_of(histograms), Charge::gaussian(1), {.samples = 20'000}).refuted);
}

TEST(FeatureHistograms, RefuseWhatCannotBeReleased) {
  FeatureHistograms histograms(1, 1, 2);
  EXPECT_NE(message_of<FailureError>(
                [&] { released(histograms, Counts(FeatureHistograms::bins, 3), numbered_audit_keys(1)(0, 0)); }),
            "");
  EXPECT_NE(message_of<FailureError>(
                [&] { released(histograms, Counts(FeatureHistograms::bins - 1), numbered_audit_keys(1)(0, 0)); }),
            "");
  EXPECT_ERROR(UsageError, "--feature-share", FeatureHistograms(1, 1e-30, 1));
}

}  // namespace starling::feature_histograms_test
