#include "privacy/histograms/score_sums.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "privacy/audit/audit.hpp"
#include "privacy/audit/audit_subjects.hpp"
#include "privacy/mechanism/releases.hpp"
#include "support/testing.hpp"

namespace starling::score_sums_test {

using namespace testing_support;

constexpr std::int64_t some_records = 1000;
constexpr auto whole = static_cast<double>(NoisyCounts::most_of_sum);

/// The sums, in units, of labels that are 1 with the odds exp(slope · score), for scores of deviation 1.5.
Vector sums_of(double slope, std::int64_t records) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> scores(0, 1.5);
  std::uniform_real_distribution<double> chance(0, 1);
  Counts sums(2);
  for (std::int64_t i = 0; i < records; ++i) {
    const double score = scores(random);
    const double label = chance(random) < 1 / (1 + std::exp(-slope * score)) ? 1 : -1;
    ScoreSums::add(ScoreSums::parts_of(score, label), sums);
  }
  return {static_cast<double>(sums[0]) / whole, static_cast<double>(sums[1]) / whole};
}

TEST(ScoreSums, APartIsTheDerivativeOfTheOther) {
  const double score = 1.3;
  const double part = 1e-6;
  const double t = std::tanh(score / 2);
  const double grown = std::tanh(score * (1 + part) / 2);
  for (const double label : {-1.0, 1.0}) {
    EXPECT_NEAR(ScoreSums::parts_of(score, label).excess, (label - t) * t, 1e-15);
    EXPECT_NEAR(ScoreSums::parts_of(score, label).slope, -((label - grown) * t - (label - t) * t) / part, 1e-5);
  }
}

// Any record, of which this grid has the extremes, adds whole numbers within the ranges that the noise is made for.
TEST(ScoreSums, ARecordMovesThemByNoMoreThanTheirSensitivity) {
  std::vector<Counts> all;
  constexpr double endless = std::numeric_limits<double>::infinity();
  for (double score : {endless, -endless, std::nan(""), 1e308, 40.0, 2.03, 1.0986, 0.0}) {
    for (const double label : {-1.0, 1.0}) {
      Counts sums(2);
      ScoreSums::add(ScoreSums::parts_of(score, label), sums);
      all.push_back(sums);
    }
  }
  for (double score = -9; score < 9; score += 0.01) {
    Counts sums(2);
    ScoreSums::add(ScoreSums::parts_of(score, 1), sums);
    all.push_back(sums);
  }
  const double most = std::sqrt(1 + 1.0 / 16) * whole;
  double largest = 0;
  for (const Counts& one : all) {
    EXPECT_TRUE(one[0] >= 0 && one[0] <= NoisyCounts::most_of_sum);
    EXPECT_TRUE(one[1] >= 0 && one[1] <= NoisyCounts::most_of_sum / 4);
    for (const Counts& other : all) {
      largest =
          std::max(largest, std::hypot(static_cast<double>(one[0] - other[0]), static_cast<double>(one[1] - other[1])));
    }
  }
  EXPECT_LE(largest, most);
  EXPECT_GE(largest, 0.95 * most);
  EXPECT_NEAR(ScoreSums(0.5, some_records).scale(), most / 0.5, 1);
}

/// A record whose score is endlessly wrong on one side, and right with the largest slope on the other.
AuditSubject subject_of(ScoreSums& sums) {
  const auto of = [](double score) {
    Counts counts(2);
    ScoreSums::add(ScoreSums::parts_of(score, 1), counts);
    return counts;
  };
  return histogram_subject(sums, "a wrong record or a right one", {of(-100), of(1.6)});
}

TEST(ScoreSums, AnAuditDoesNotRefuteTheirClaimAndComesNear) {
  ScoreSums sums(1, some_records);
  const AuditResult result = audit(subject_of(sums), sums.charge(), {.samples = 20'000});
  EXPECT_FALSE(result.refuted);
  EXPECT_GE(result.mu_lower_bound, 0.8);
}

// Noise for the first sum's middle as its end.
TEST(ScoreSums, AnAuditCatchesNoiseForHalfTheRange) {
  ScoreSums sums(2, some_records);
  EXPECT_TRUE(audit(subject_of(sums), Charge::gaussian(1), {.samples = 20'000}).refuted);
}

TEST(ScoreSums, FactorsMakeProbabilitiesRight) {
  constexpr std::int64_t records = 200'000;
  EXPECT_NEAR(score_factor(sums_of(1, records), 0, records).factor, 1, 0.02);
  // One step from 1: near the truth on either side.
  EXPECT_NEAR(score_factor(sums_of(0.7, records), 0, records).factor, 0.7, 0.03);
  EXPECT_NEAR(score_factor(sums_of(1.5, records), 0, records).factor, 1.5, 0.12);
  EXPECT_GE(score_factor(sums_of(40, records), 0, records).factor, 1.7);
  EXPECT_NEAR(score_factor(sums_of(-40, records), 0, records).factor, 0.25, 1e-9);
}

TEST(ScoreSums, NoiseDrawsFactorsToOne) {
  const Vector sums = sums_of(0.6, some_records);
  double before = score_factor(sums, 0, some_records).factor;
  for (const double deviation : {30.0, 100.0, 1000.0}) {
    const ScoreFactor found = score_factor(sums, deviation, some_records);
    EXPECT_GT(found.factor, before);
    EXPECT_LT(found.factor, 1);
    EXPECT_NEAR(found.error, error_of_score_factor(deviation, some_records), 0.4 * found.error);
    before = found.factor;
  }
  EXPECT_NEAR(before, 1, 0.01);
  // Noise may leave nothing of the slopes: no factor comes from a division by 0 or less.
  EXPECT_GE(score_factor(Vector{0, -50}, 100, some_records).factor, 0.25);
}

}  // namespace starling::score_sums_test
