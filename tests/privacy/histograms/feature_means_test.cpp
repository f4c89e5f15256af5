#include "privacy/histograms/feature_means.hpp"

#include <cmath>
#include <random>

#include "privacy/audit/audit.hpp"
#include "privacy/audit/audit_subjects.hpp"
#include "privacy/mechanism/releases.hpp"
#include "support/testing.hpp"

namespace starling::feature_means_test {

using namespace testing_support;

constexpr std::int64_t some_records = 1000;
constexpr double whole = static_cast<double>(NoisyCounts::most_of_sum);

double distance(const Counts& a, const Counts& b) {
  double square = 0;
  for (std::size_t j = 0; j < a.size(); ++j) square += std::pow(static_cast<double>(a[j] - b[j]), 2);
  return std::sqrt(square);
}

Counts sums_of(const FeatureMeans& means, View values, std::size_t own_class = 0) {
  Counts sums(means.length());
  means.add(values, own_class, sums);
  return sums;
}

/// Sums about the places where values usually lie in ranges with these zeros.
FeatureMeans means_of(const FeatureMeans::Parts& parts, View zeros, double mu = 1,
                      std::int64_t records = some_records) {
  return {parts, FeatureMeans::usual_places(parts, zeros), mu, records};
}

TEST(FeatureMeans, LengthsAndNoise) {
  EXPECT_EQ(FeatureMeans({.features = 9}, Vector(9), 0.5, some_records).length(), 18U);
  const FeatureMeans all({.features = 9, .label = true, .classes = 3}, Vector(10), 0.5, some_records);
  EXPECT_EQ(all.length(), 22U);
  EXPECT_NEAR(all.deviation(), 1 / 0.5, 1e-9) << "in units of what a replaced record moves all sums by";
}

// Corners of all ranges, records that are shortened and records that are not, labels and classes.
TEST(FeatureMeans, NoTwoRecordsLieFartherApartThanTheNoiseIsFor) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> draw(-1, 1);
  double farthest = 0;
  struct Case {
    std::size_t classes;
    bool label;
    double part;
  };
  for (const auto& [classes, label, part] :
       {Case{0, false, 0}, {0, true, 0}, {2, false, 0.5}, {3, false, 0.5}, {33, false, 1}}) {
    const FeatureMeans means =
        means_of({.features = 3, .label = label, .classes = classes, .part_of_classes = part}, Vector{-1, 0.3, 1, -1});
    std::vector<Counts> records;
    for (int k = 0; k < 300; ++k) {
      Vector values(3 + (label ? 1 : 0));
      for (double& each : values) each = k < 100 ? std::copysign(1.0, draw(random)) : draw(random);
      records.push_back(sums_of(means, values, classes > 0 ? static_cast<std::size_t>(k) % classes : 0));
      for (const std::int64_t each : records.back()) EXPECT_TRUE(each >= 0 && each <= NoisyCounts::most_of_sum);
      for (const Counts& other : records) farthest = std::max(farthest, distance(records.back(), other));
    }
  }
  EXPECT_LE(farthest, whole);
  EXPECT_GE(farthest, 0.85 * whole);
}

TEST(FeatureMeans, ValuesBeyondTheirRangeAreItsEndsAndNoNumberLiesWhereValuesUsuallyDo) {
  const FeatureMeans means = means_of({.features = 2, .label = true}, Vector{-1, 0, 0});
  EXPECT_EQ(sums_of(means, Vector{-7, 1e300, 5}), sums_of(means, Vector{-1, 1, 1}));
  EXPECT_EQ(sums_of(means, Vector{std::nan(""), 0.1, std::nan("")}), sums_of(means, Vector{-0.4, 0.1, 0}));
}

/// Records at either end of the longest way through the ranges.
AuditSubject subject_of(FeatureMeans& means) {
  const auto of = [&](double value) { return sums_of(means, Vector(4, value)); };
  return histogram_subject(means, "a record at one end of all ranges or at the other", {of(-1), of(1)});
}

TEST(FeatureMeans, AnAuditDoesNotRefuteTheirClaim) {
  FeatureMeans means({.features = 4}, Vector(4), 1, some_records);
  EXPECT_FALSE(audit(subject_of(means), means.charge(), {.samples = 20'000}).refuted);
}

TEST(FeatureMeans, AnAuditCatchesHalfTheNoise) {
  FeatureMeans means({.features = 4}, Vector(4), 2, some_records);
  EXPECT_TRUE(audit(subject_of(means), Charge::gaussian(1), {.samples = 20'000}).refuted);
}

TEST(FeatureMeans, MoreThanRecordsCanAddIsRefused) {
  FeatureMeans means({.features = 1}, Vector(1), 1, 3);
  EXPECT_NE(message_of<FailureError>([&] {
              released(means, Counts{4 * NoisyCounts::most_of_sum, 0}, numbered_audit_keys(1)(0, 0));
            }),
            "");
}

/// Sums without noise over records about −0.4, of which one feature varies widely and the others little.
class Summed {
 public:
  Summed() : sums(means.length()) {
    for (int k = 0; k < some_records; ++k) {
      const double sign = k % 2 == 0 ? 1 : -1;
      means.add(Vector{-0.4 + 0.5 * sign, -0.2 + 0.2 * sign, -0.6 + 0.2 * sign, -0.4 + 0.2 * sign, 0.3 + 0.25 * sign},
                static_cast<std::size_t>(k % 4 == 0 ? 1 : 0), sums);
    }
    for (const std::int64_t each : sums) summed.push_back(static_cast<double>(each) / whole);
  }
  const FeatureMeans means = means_of({.features = 4, .label = true, .classes = 2}, Vector{-1, -1, -1, -1, -1});
  Counts sums;
  Vector summed;
};

TEST(FeatureMeans, MomentsWithLittleNoiseAreThose) {
  const Summed some;
  const FeatureMeans::Found found = some.means.found(some.summed, 1e-6, some_records);
  const FeatureMoments expected[] = {{-0.4, 0.5}, {-0.2, 0.2}, {-0.6, 0.2}, {-0.4, 0.2}};
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_NEAR(found.features[j].mean, expected[j].mean, 1e-3);
    EXPECT_NEAR(found.features[j].deviation, expected[j].deviation, 1e-3);
  }
  EXPECT_NEAR(found.label->mean, 0.3, 1e-3);
  EXPECT_NEAR(found.label->deviation, 0.25, 1e-3);
  EXPECT_NEAR(found.classes[1], 250, 0.1);
  EXPECT_NEAR(found.classes[0], 750, 0.1);
  EXPECT_TRUE(found.shows_deviations);
  EXPECT_EQ(found.shown, std::vector<bool>(4, true));
}

TEST(FeatureMeans, AWideFeatureIsShownThroughNoiseThatHidesTheOthers) {
  const Summed some;
  const double noise = 0.08;  // of a mean
  const FeatureMeans::Found found =
      some.means.found(some.summed, noise / some.means.noise_of_mean(1, some_records), some_records);
  EXPECT_EQ(found.shown, (std::vector<bool>{true, false, false, false}));
}

TEST(FeatureMeans, BinsAreClassesAfterTheFirst) {
  const FeatureMeans means({.features = 4, .classes = 33, .part_of_classes = 1}, Vector(4), 1, some_records);
  Counts sums(means.length());
  for (int k = 0; k < some_records; ++k) means.add(Vector(4), k % 10 == 0 ? 1 : 20, sums);
  Vector summed;
  for (const std::int64_t each : sums) summed.push_back(static_cast<double>(each) / whole);
  const FeatureMeans::Found found = means.found(summed, 1, some_records);
  EXPECT_NEAR(found.classes[1], 0.1 * some_records, 0.1);
  EXPECT_NEAR(found.classes[20], 0.9 * some_records, 0.1);
  EXPECT_NEAR(found.noise_of_classes, std::sqrt(6), 1e-3) << "of each bin: a record moves 2 r and sqrt(2) r";
}

TEST(FeatureMeans, WhatNoiseHidesIsTakenToBeUsual) {
  Summed some;
  const double noise = 3 * some_records;
  for (const std::size_t j : {0, 4}) {
    some.summed[j] += noise;
    some.summed[j + 2] -= noise;
  }
  const FeatureMeans::Found found = some.means.found(some.summed, noise, some_records);
  for (const FeatureMoments& each : found.features) {
    EXPECT_NEAR(each.mean, -0.4, 0.05);
    EXPECT_NEAR(each.deviation, found.features[0].deviation, 0.02) << "that of all features";
  }
  EXPECT_NEAR(found.label->mean, -0.25, 0.02);
  EXPECT_FALSE(found.shows_deviations);
}

TEST(FeatureMeans, FeaturesTellOfEachOtherHowFarTheyLieFromTheirPlaces) {
  const FeatureMeans means = means_of({.features = 40}, Vector(40, 1.0));
  Counts sums(means.length());
  for (int k = 0; k < some_records; ++k) means.add(Vector(40, 0.7), 0, sums);
  Vector summed;
  for (const std::int64_t each : sums) summed.push_back(static_cast<double>(each) / whole);
  const double noise = 1 / means.noise_of_mean(1, some_records);  // of 1 in each mean: ten times the usual difference
  EXPECT_GT(means.found(summed, noise, some_records).features[0].mean, 0.55);
}

}  // namespace starling::feature_means_test
