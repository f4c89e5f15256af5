#include "run/privacy/budget_left.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "privacy/accounting/accounting.hpp"
#include "privacy/ledger/accounts.hpp"
#include "run/privacy/run_privacy.hpp"

namespace starling::budget_left_test {

TEST(BudgetLeft, IsTheDifferenceOfPureLosses) {
  const BudgetLeft left = BudgetLeft::of({3, false, std::nullopt}, {{Charge::laplace(0.5), 4}}, ChargeKind::laplace);
  EXPECT_EQ(left.spent, 2);
  EXPECT_NEAR(left.left, 1, 1e-9);
  EXPECT_LE(left.left, 1);
}

TEST(BudgetLeft, AddsGaussianLossesInSquares) {
  const double delta = 1e-6;
  const std::vector<ChargeGroup> spent{{Charge::gaussian(0.3), 4}};
  const BudgetLeft left = BudgetLeft::of({5, true, delta}, spent, ChargeKind::gaussian);
  const double all = gaussian_mu(5, delta);
  EXPECT_NEAR(left.left, gaussian_epsilon(std::sqrt(all * all - 0.36), delta), 1e-6);
  EXPECT_GT(left.left, 5 - left.spent);
}

TEST(BudgetLeft, IsAllOfItBeforeTheFirstRun) {
  EXPECT_EQ(BudgetLeft::of({2, true, std::nullopt}, {}, ChargeKind::laplace).left, 2);
  EXPECT_NEAR(BudgetLeft::of({2, true, std::nullopt}, {}, ChargeKind::gaussian).left, 2, 1e-9);
}

TEST(BudgetLeft, IsNothingOnceItIsSpent) {
  for (const double spent : {2.0, 2.5}) {
    const BudgetLeft left = BudgetLeft::of({2, true, std::nullopt}, {{Charge::laplace(spent), 1}}, ChargeKind::laplace);
    EXPECT_EQ(left.left, 0);
    EXPECT_EQ(left.spent, spent);
  }
}

TEST(BudgetLeft, SaysWhoseReleasesHaveSpentIt) {
  const BudgetLeft left{3, 2, 1};
  EXPECT_EQ(left.in_words(false),
            "earlier releases in the ledger have spent epsilon = 2, so that this run may come to 1");
  EXPECT_EQ(left.in_words(true),
            "releases in the ledger, with those of this run so far, have spent epsilon = 2, so that the rest of the "
            "run may come to 1");
}

TEST(BudgetLeft, IsThatOfTheClientWithLeast) {
  BudgetLeft least;
  least.take_less({4, 1, 3});
  least.take_less({2, 0.25, 1.75});
  least.take_less({9, 5, 4});
  EXPECT_EQ(least.budget, 2);
  const BudgetLeft read = BudgetLeft::parse(least.text());
  EXPECT_EQ(read.budget, 2);
  EXPECT_EQ(read.spent, 0.25);
  EXPECT_EQ(read.left, 1.75);
  EXPECT_EQ(BudgetLeft::parse(BudgetLeft().text()).left, infinity);
}

}  // namespace starling::budget_left_test
