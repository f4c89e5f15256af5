#include "output/figures/roc.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace starling::roc_test {

/// Share of a pair that the larger class's record wins.
double won(double larger, double smaller) {
  return larger > smaller ? 1 : larger == smaller ? 0.5 : 0;
}

double variance(View values) {
  double mean = 0;
  double squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size() - 1);
}

/// DeLong's formulas over all pairs.
RocArea over_all_pairs(const Vector& larger, const Vector& smaller) {
  Vector of_larger(larger.size(), 0.0);
  Vector of_smaller(smaller.size(), 0.0);
  double total = 0;
  for (std::size_t i = 0; i < larger.size(); ++i) {
    for (std::size_t j = 0; j < smaller.size(); ++j) {
      const double share = won(larger[i], smaller[j]);
      total += share;
      of_larger[i] += share / static_cast<double>(smaller.size());
      of_smaller[j] += share / static_cast<double>(larger.size());
    }
  }
  const auto m = static_cast<double>(larger.size());
  const auto n = static_cast<double>(smaller.size());
  return {total / (m * n), std::sqrt(variance(of_larger) / m + variance(of_smaller) / n)};
}

TEST(AreaUnderRoc, IsTheShareOfPairsInOrder) {
  for (const bool with_ties : {true, false}) {
    AddressedRandom random(1, Purpose::experiment, 0, 0);
    Vector larger;
    Vector smaller;
    for (int i = 0; i < 300; ++i) {
      const bool is_larger = random.uniform() < 0.3;
      const double score = 4 * random.normal() + (is_larger ? 2 : 0);
      (is_larger ? larger : smaller).push_back(with_ties ? std::round(score) : score);
    }
    const RocArea found = area_under_roc(larger, smaller);
    const RocArea expected = over_all_pairs(larger, smaller);
    EXPECT_NEAR(found.area, expected.area, 1e-14);
    EXPECT_NEAR(found.standard_error, expected.standard_error, 1e-14);
    EXPECT_GT(found.standard_error, 0.01);
  }
}

// Hanley and McNeil 1982: for scores of normal distributions both formulas estimate the same error.
TEST(AreaUnderRoc, VariesBetweenSamplesAsItsStandardErrorSays) {
  constexpr int samples = 400;
  Vector areas;
  double errors = 0;
  for (int s = 0; s < samples; ++s) {
    AddressedRandom random(7, Purpose::experiment, s, 0);
    Vector larger(60);
    Vector smaller(90);
    for (double& score : larger) score = random.normal() + 1;
    for (double& score : smaller) score = random.normal();
    const RocArea found = area_under_roc(larger, smaller);
    areas.push_back(found.area);
    errors += found.standard_error / samples;
  }
  EXPECT_NEAR(std::sqrt(variance(areas)) / errors, 1, 0.12);  // three standard errors of a deviation of 400
}

TEST(AreaUnderRoc, IsUnknownWithoutBothClasses) {
  EXPECT_TRUE(std::isnan(area_under_roc({1, 2}, {}).area));
  EXPECT_TRUE(std::isnan(area_under_roc({}, {1}).area));
  EXPECT_EQ(area_under_roc({1}, {0, 2}).area, 0.5);
  EXPECT_TRUE(std::isnan(area_under_roc({1}, {0, 2}).standard_error));
  EXPECT_EQ(area_under_roc({3, 4}, {1, 2}).standard_error, 0);
}

}  // namespace starling::roc_test
