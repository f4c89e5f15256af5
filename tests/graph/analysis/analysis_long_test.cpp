#include <cmath>

#include <gtest/gtest.h>

#include "graph/analysis/analysis.hpp"
#include "support/sanitized.hpp"

namespace starling::analysis_long_test {

// Its gap is 5e-10: beyond the allowed work, and said so. The test takes as long as that work.
TEST(AnalysisLong, ALongCircleNeedsNoDeepStackAndIsNotResolved) {
  if (testing_support::sanitized) GTEST_SKIP() << "iterations on 100,000 clients take minutes with sanitizers";
  const TopologyAnalysis analysis =
      analyse(topology_of(*topology_table().make("directed-ring", 100'000, WeightRule::sender)));
  EXPECT_EQ(analysis.joint_window, 1);
  EXPECT_TRUE(std::isnan(analysis.contraction));
  EXPECT_EQ(analysis.rounds_to_1e_3, std::nullopt);
}

}  // namespace starling::analysis_long_test
