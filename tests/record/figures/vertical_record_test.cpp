#include "starling/record/figures/vertical_record.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "starling/core/random.hpp"

namespace starling {
namespace {

/// Over all pairs.
double brute_force(const std::vector<Prediction>& predictions) {
  double won = 0;
  double pairs = 0;
  for (const Prediction& larger : predictions) {
    for (const Prediction& smaller : predictions) {
      if (!larger.larger || smaller.larger) continue;
      ++pairs;
      won += larger.margin > smaller.margin ? 1 : larger.margin == smaller.margin ? 0.5 : 0;
    }
  }
  return won / pairs;
}

TEST(AreaUnderRoc, IsTheShareOfPairsInOrder) {
  EXPECT_EQ(area_under_roc({{1, true}, {0, false}}), 1);
  EXPECT_EQ(area_under_roc({{0, true}, {1, false}}), 0);
  EXPECT_EQ(area_under_roc({{1, true}, {1, false}}), 0.5);
  EXPECT_TRUE(std::isnan(area_under_roc({{1, true}, {2, true}})));
  EXPECT_TRUE(std::isnan(area_under_roc({})));
  AddressedRandom random(1, Purpose::experiment, 0, 0);
  std::vector<Prediction> predictions;
  for (int i = 0; i < 300; ++i) {
    const bool larger = random.uniform() < 0.3;
    predictions.push_back({std::round(4 * random.normal() + (larger ? 2 : 0)), larger});  // with many ties
  }
  EXPECT_NEAR(area_under_roc(predictions), brute_force(predictions), 1e-14);
}

}  // namespace
}  // namespace starling
