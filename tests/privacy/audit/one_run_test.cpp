#include "privacy/audit/one_run.hpp"

#include <cmath>

#include "core/check.hpp"
#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::one_run_test {

using testing_support::message_of;

// P(Bin(10, ½) ≥ 9) = 11/1024; P(Bin(2, ¾) = 2) = 9/16 at ε = ln 3.
TEST(OneRun, PValuesAreBinomialTails) {
  EXPECT_NEAR(one_run_p_value({10, 10, 9}, 0, 0), 11.0 / 1024, 1e-12);
  EXPECT_NEAR(one_run_p_value({2, 2, 2}, std::log(3), 0), 9.0 / 16, 1e-12);
  EXPECT_NEAR(one_run_p_value({5, 3, 0}, 1, 0), 1, 1e-12);
}

// Two guesses, both right, ε = 0: ¼, and 2·2·δ·max(P(1)/1, P(0 … 1)/2) = 4 δ ½.
TEST(OneRun, DeltaAddsToThePValue) {
  EXPECT_NEAR(one_run_p_value({2, 2, 2}, 0, 0.01), 0.25 + 0.02, 1e-12);
}

// 1000 of 1000 right: (e^ε/(1 + e^ε))^1000 = 0.05, so ε = −ln(0.05^−0.001 − 1).
TEST(OneRun, TheBoundOfPerfectGuesses) {
  EXPECT_NEAR(one_run_bound({1000, 1000, 1000}, 0, 0.05), -std::log(std::pow(0.05, -0.001) - 1), 1e-9);
  EXPECT_LT(one_run_bound({1000, 1000, 1000}, 1e-5, 0.05), one_run_bound({1000, 1000, 1000}, 0, 0.05));
  EXPECT_EQ(one_run_bound({1000, 1000, 500}, 0, 0.05), 0);
}

TEST(OneRun, RefusesWhatIsNoScore) {
  EXPECT_NE(message_of<UsageError>([] { return one_run_p_value({2, 3, 1}, 1, 0); }), "");
  EXPECT_NE(message_of<UsageError>([] { return one_run_audit({{1}, {0.5}}, Charge::pure(1), 1e-5); }), "");
}

/// Canaries ±1 under Laplace noise of scale 2/ε.
CanaryLog laplace_log(double epsilon, int rounds) {
  AddressedRandom random(1, Purpose::experiment, 0, 0);
  CanaryLog log;
  for (int t = 0; t < rounds; ++t) {
    const int sign = random.uniform() < 0.5 ? -1 : 1;
    const double size = -2 / epsilon * std::log(random.positive_uniform());
    log.signs.push_back(sign);
    log.seen.push_back(sign + (random.uniform() < 0.5 ? -size : size));
  }
  return log;
}

TEST(OneRun, BoundsHonestNoiseBelowItsClaim) {
  const OneRunResult result = one_run_audit(laplace_log(1, 20000), Charge::laplace(1), 1e-5);
  EXPECT_FALSE(result.refuted);
  EXPECT_GT(result.epsilon_lower_bound, 0.7);
  EXPECT_LT(result.epsilon_lower_bound, 1);
}

TEST(OneRun, RefutesHalfTheNoise) {
  EXPECT_TRUE(one_run_audit(laplace_log(2, 5000), Charge::laplace(1), 1e-5).refuted);
}

}  // namespace starling::one_run_test
