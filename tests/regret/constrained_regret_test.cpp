// Comparators that keep long-term constraints, against answers by hand, the same on every layout.
#include <cmath>

#include "evaluated.hpp"
#include "regret/regret.hpp"

namespace starling::constrained_regret_test {

using namespace testing_support;

// One feature z, squared loss against the label 4 z: without constraints the best x is 4. The constraint on data is
// Σ (x z − 1) ≤ 0 over a window, so that x ≤ 1 / (mean of z there).
const std::vector<std::vector<Row1>> data{{{{1}, 4}, {{1}, 4}, {{0.5}, 2}, {{0.25}, 1}},
                                          {{{1}, 4}, {{0.5}, 2}, {{0.5}, 2}, {{0.25}, 1}}};

ConstraintSet constraint() {
  ConstraintSet set;
  set.data.push_back({"data", {0}, 1});
  return set;
}

std::vector<ConstrainedRegret> regrets(std::optional<Round> window, const ConstraintSet& set = constraint()) {
  return with_pass({"squared", "free"}, data, 10,
                   [&](const EvaluationPass& pass) { return constrained_regrets(pass, set, window); });
}

/// Σ ½ (x z − 4 z)² over all records.
double loss_at(double x) {
  double total = 0;
  for (const auto& client : data) {
    for (const Row1& row : client) total += 0.5 * std::pow((x - 4) * row.features[0], 2);
  }
  return total;
}

TEST(ConstrainedRegret, LongTermComparatorKeepsTheSumOverAllRounds) {
  const auto all = regrets(std::nullopt);
  ASSERT_EQ(all.size(), 1U);
  const double most = 8 / 5.0;  // the mean of z is 5/8
  EXPECT_TRUE(all[0].comparator.reached());
  EXPECT_NEAR(all[0].comparator.minimum.x[0], most, 1e-6);
  EXPECT_EQ(all[0].client_rounds, 8);
  EXPECT_NEAR(all[0].total(), 20 - loss_at(most), 1e-5);
  EXPECT_EQ(remark_on(all[0]), "");
}

// Two clients' z in rounds 0 to 3: (1, 1), (1, .5), (.5, .5), (.25, .25).
TEST(ConstrainedRegret, BenchmarkKeepsEveryWindow) {
  const std::vector<std::pair<Round, double>> answers{{1, 1.0}, {2, 4 / 3.5}, {3, 6 / 4.5}, {4, 8 / 5.0}, {9, 8 / 5.0}};
  for (const auto& [window, most] : answers) {
    const auto all = regrets(window);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1].window, window);
    EXPECT_NEAR(all[1].comparator.minimum.x[0], most, 1e-6) << window;
    EXPECT_NEAR(all[1].total(), 20 - loss_at(most), 1e-5) << window;
  }
}

// Windows begin in any round: the worst of two rounds here are the second and third.
TEST(ConstrainedRegret, WindowsSlide) {
  const std::vector<std::vector<Row1>> sliding{{{{0.1}, 1}, {{1}, 10}, {{1}, 10}, {{0.1}, 1}}};
  const auto all = with_pass({"squared", "free"}, sliding, 0,
                             [&](const EvaluationPass& pass) { return constrained_regrets(pass, constraint(), 2); });
  EXPECT_NEAR(all[1].comparator.minimum.x[0], 1, 1e-6);
}

TEST(ConstrainedRegret, PublicConstraintsHoldWhateverTheWindow) {
  ConstraintSet set;
  set.fixed.push_back({"linear", {0}, {2}, 3});  // 2 x ≤ 3
  for (const auto& each : regrets(2, set)) EXPECT_NEAR(each.comparator.minimum.x[0], 1.5, 1e-6);
}

TEST(ConstrainedRegret, IsNoneWithoutConstraintsOnModels) {
  ConstraintSet set;
  set.energy = EnergyBudget{"energy", 1, 0, 1};
  EXPECT_TRUE(regrets(2, set).empty());
}

TEST(ConstrainedRegret, SaysWhereNoModelKeepsTheConstraint) {
  ConstraintSet set;
  set.fixed.push_back({"linear", {0}, {1}, -5});  // x ≤ −5 on a ball of radius 1
  const auto all = with_pass({"squared", "ball:1"}, data, 0,
                             [&](const EvaluationPass& pass) { return constrained_regrets(pass, set, std::nullopt); });
  EXPECT_FALSE(all[0].comparator.reached());
  EXPECT_THAT(remark_on(all[0]), HasSubstr("violates"));
}

}  // namespace starling::constrained_regret_test
