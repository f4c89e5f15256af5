#include "output/figures/vertical_record.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "output/figures/roc.hpp"
#include "protocol/vertical/vertical.hpp"

namespace starling::vertical_record_test {

TEST(AreaUnderRoc, OfPredictionsTellsClassesApart) {
  EXPECT_EQ(area_under_roc({{1, true}, {0, false}}).area, 1);
  EXPECT_EQ(area_under_roc({{0, true}, {1, false}}).area, 0);
  EXPECT_EQ(area_under_roc({{1, true}, {1, false}}).area, 0.5);
  EXPECT_TRUE(std::isnan(area_under_roc({{1, true}, {2, true}}).area));
}

}  // namespace starling::vertical_record_test
