#include "privacy/histograms/feature_means.hpp"

#include <cmath>
#include <utility>

#include "privacy/audit/audit.hpp"
#include "privacy/audit/audit_subjects.hpp"
#include "privacy/mechanism/releases.hpp"
#include "support/testing.hpp"

namespace starling::feature_means_test {

using namespace testing_support;

constexpr std::int64_t some_records = 1000;

TEST(FeatureMeans, ARecordAddsItsPlaceInTheRange) {
  Counts sums(4);
  FeatureMeans::add(Vector{-1, 1, 0, 0.5}, sums);
  EXPECT_EQ(sums,
            (Counts{0, NoisyCounts::most_of_sum, NoisyCounts::most_of_sum / 2, NoisyCounts::most_of_sum / 4 * 3}));
  FeatureMeans::add(Vector{-7, 1e300, std::nan(""), -0.5}, sums);
  EXPECT_EQ(sums, (Counts{0, 2 * NoisyCounts::most_of_sum, NoisyCounts::most_of_sum, NoisyCounts::most_of_sum}));
}

TEST(FeatureMeans, NoiseIsThatOfARecordAtTheOtherEndOfEveryRange) {
  const FeatureMeans sums(9, 0.5, some_records);
  EXPECT_NEAR(sums.deviation(), std::sqrt(9.0) / 0.5, 1e-9);
  EXPECT_EQ(sums.length(), 9U);
}

/// A record at the other end of all ranges on side 1.
AuditSubject subject_of(FeatureMeans& sums) {
  const auto of = [&](double value) {
    Counts counts(sums.length());
    FeatureMeans::add(Vector(sums.length(), value), counts);
    return counts;
  };
  return histogram_subject(sums, "a record at one end of all ranges or at the other", {of(-1), of(1)});
}

TEST(FeatureMeans, AnAuditDoesNotRefuteTheirClaimAndComesNear) {
  FeatureMeans sums(4, 1, some_records);
  const AuditResult result = audit(subject_of(sums), sums.charge(), {.samples = 20'000});
  EXPECT_FALSE(result.refuted);
  EXPECT_GE(result.mu_lower_bound, 0.85);
}

// Noise for one feature in place of four.
TEST(FeatureMeans, AnAuditCatchesNoiseForOneFeature) {
  FeatureMeans sums(4, 2, some_records);
  EXPECT_TRUE(audit(subject_of(sums), Charge::gaussian(1), {.samples = 20'000}).refuted);
}

TEST(FeatureMeans, MoreThanRecordsCanAddIsRefused) {
  FeatureMeans sums(2, 1, 3);
  EXPECT_NE(message_of<FailureError>([&] {
              released(sums, Counts{4 * NoisyCounts::most_of_sum, 0}, numbered_audit_keys(1)(0, 0));
            }),
            "");
}

TEST(FeatureMeans, MeansWithLittleNoiseAreThose) {
  const Vector sums{some_records * 0.75, some_records * 0.0, some_records * 1.0};
  const MeansWithinRanges found = means_within_ranges(sums, 1e-6, some_records);
  for (const auto& [mean, expected] : {std::pair(found.means[0], 0.5), {found.means[1], -1.0}, {found.means[2], 1.0}}) {
    EXPECT_NEAR(mean, expected, 1e-6);
  }
  EXPECT_NEAR(found.deviation, 0.3, 1e-6);
}

// The best linear estimate of a mean that lies evenly in the range; the error that it has left belongs to the
// deviation.
TEST(FeatureMeans, NoiseDrawsMeansToTheMiddle) {
  const double noise = 0.5;
  const MeansWithinRanges found =
      means_within_ranges(Vector{some_records * 0.9}, noise * some_records / 2, some_records);
  const double kept = (1.0 / 3) / (1.0 / 3 + noise * noise);
  EXPECT_NEAR(found.means[0], 0.8 * kept, 1e-12);
  EXPECT_NEAR(found.deviation * found.deviation, 0.09 + 1 / (3 + 1 / (noise * noise)), 1e-12);
}

}  // namespace starling::feature_means_test
