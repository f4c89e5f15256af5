#include <cmath>

#include "core/check.hpp"
#include "core/random.hpp"
#include "privacy/audit/one_run.hpp"
#include "support/testing.hpp"

namespace starling::canary_estimates_test {

using testing_support::message_of;

/// Canaries ±1 of one client under correlated noise of price μ, made by its definition. Every `silent`-th round has no
/// release, and one in three releases no canary.
CanaryLog correlated_log(const NoiseCorrelation& correlation, double mu, Round rounds, Round silent,
                         std::uint64_t seed) {
  AddressedRandom random(seed, Purpose::experiment, 0, 0);
  CanaryLog log;
  log.noise = 2 * noise_factor(correlation) / mu;
  std::array<double, NoiseCorrelation::buffers> sums{};
  for (Round t = 0; t < rounds; ++t) {
    const bool speaks = silent == 0 || t % silent != 1;
    const double z = speaks ? log.noise * random.normal() : 0;
    double seen = z;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      seen -= correlation.omega[j] * sums[j];
      sums[j] = correlation.theta[j] * sums[j] + z;
    }
    if (!speaks) continue;
    const int sign = silent != 0 && t % 3 == 0 ? 0 : random.uniform() < 0.5 ? -1 : 1;
    log.signs.push_back(sign);
    log.seen.push_back(sign + seen);
    log.clients.push_back(0);
    log.rounds.push_back(t);
  }
  return log;
}

double share_right(const CanaryLog& log) {
  double right = 0;
  for (std::size_t i = 0; i < log.signs.size(); ++i) right += (log.seen[i] > 0 ? 1 : -1) == log.signs[i] ? 1 : 0;
  return right / static_cast<double>(log.signs.size());
}

TEST(CanaryEstimates, IndependentNoiseKeepsItsLog) {
  const CanaryLog log{{1, -1}, {0.5, 0.25}, {}, {}, 0};
  const CanaryLog same = estimated_canaries(log, std::nullopt);
  EXPECT_EQ(same.signs, log.signs);
  EXPECT_EQ(same.seen, log.seen);
}

// T = 1024: 63.4 % of signs and 60.1 % by single releases in a simulation with dense matrices; of 8192 signs the
// difference has a standard deviation of 0.7 %.
TEST(CanaryEstimates, LookInAllRounds) {
  const NoiseCorrelation correlation = best_correlation(1024, 1);
  const CanaryLog log = correlated_log(correlation, 1, 8192, 0, 1);
  const CanaryLog estimates = estimated_canaries(log, correlation);
  ASSERT_EQ(estimates.signs, log.signs);
  EXPECT_NEAR(share_right(estimates), 0.634, 0.016);
  EXPECT_GT(share_right(estimates), share_right(log) + 0.01);
}

TEST(CanaryEstimates, KnowOfRoundsWithoutAReleaseOrACanary) {
  const NoiseCorrelation correlation = best_correlation(64, 1);
  const CanaryLog log = correlated_log(correlation, 2, 4096, 5, 2);
  const CanaryLog estimates = estimated_canaries(log, correlation);
  std::size_t canaries = 0;
  for (const int sign : log.signs) canaries += sign != 0 ? 1 : 0;
  ASSERT_EQ(estimates.signs.size(), canaries);
  EXPECT_GT(share_right(estimates), 0.72);
  CanaryLog as_if_in_step = log;
  for (std::size_t i = 0; i < log.rounds.size(); ++i) as_if_in_step.rounds[i] = static_cast<Round>(i);
  EXPECT_GT(share_right(estimates), share_right(estimated_canaries(as_if_in_step, correlation)));
}

// Clients have chains of their own, whatever the order in which their releases come.
TEST(CanaryEstimates, KeepClientsApart) {
  const NoiseCorrelation correlation = best_correlation(64, 1);
  const CanaryLog first = correlated_log(correlation, 1, 64, 0, 3);
  const CanaryLog second = correlated_log(correlation, 1, 64, 0, 4);
  CanaryLog both;
  both.noise = first.noise;
  for (std::size_t i = 0; i < 64; ++i) {
    for (const CanaryLog* log : {&first, &second}) {
      both.signs.push_back(log->signs[i]);
      both.seen.push_back(log->seen[i]);
      both.clients.push_back(log == &first ? 0 : 1);
      both.rounds.push_back(log->rounds[i]);
    }
  }
  Vector expected = estimated_canaries(first, correlation).seen;
  const Vector others = estimated_canaries(second, correlation).seen;
  expected.insert(expected.end(), others.begin(), others.end());
  EXPECT_EQ(estimated_canaries(both, correlation).seen, expected);
}

// The verdict over a whole run: honest noise is not accused, a sixteenth of it is.
TEST(CanaryEstimates, JudgeARun) {
  const NoiseCorrelation correlation = best_correlation(64, 1);
  const CanaryLog log = correlated_log(correlation, 1, 20'000, 0, 5);
  const OneRunResult honest = one_run_audit(estimated_canaries(log, correlation), Charge::gaussian(1), 1e-7);
  EXPECT_FALSE(honest.refuted);
  EXPECT_GT(honest.epsilon_lower_bound, 0.5);
  const CanaryLog faulty = correlated_log(correlation, 16, 4'000, 0, 6);
  EXPECT_TRUE(one_run_audit(estimated_canaries(faulty, correlation), Charge::gaussian(1), 1e-7).refuted);
}

TEST(CanaryEstimates, RefuseALogWithoutRounds) {
  const CanaryLog log{{1, -1}, {0.5, 0.25}, {}, {}, 1};
  EXPECT_NE(message_of<UsageError>([&] { return estimated_canaries(log, best_correlation(64, 1)); }), "");
}

}  // namespace starling::canary_estimates_test
