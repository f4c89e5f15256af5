#include "privacy/audit/chain_subject.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/check.hpp"
#include "numbered_keys.hpp"
#include "privacy/audit/chain_filter.hpp"
#include "privacy/audit/chain_in_doubles.hpp"
#include "privacy/audit/planted_faults.hpp"
#include "privacy/mechanism.hpp"
#include "support/slow.hpp"
#include "support/testing.hpp"

namespace starling::chain_subject_test {

using namespace testing_support;

constexpr Round rounds = 6;
constexpr std::int64_t faulty_samples = 10'000;

ReleaseSettings chain_settings(const NoiseCorrelation& correlation, std::size_t records = 1) {
  return {.price = PriceRange::of(1),
          .batch = records,
          .dimension = 2,
          .rounds = rounds,
          .run_id = "test",
          .correlation = correlation};
}

std::unique_ptr<Mechanism> honest(const ReleaseSettings& settings) {
  return mechanism_table().make("gaussian", settings);
}

AuditResult audit_chain(Mechanism& mechanism, const ChainPlan& plan, std::uint64_t seed, std::int64_t samples) {
  return audit(chain_subject(mechanism, 1, plan, numbered_audit_keys(seed)), chain_claim(mechanism, 1),
               {.samples = samples});
}

/// C v by its definition.
Vector by_columns(const NoiseCorrelation& correlation, const Vector& v) {
  const std::vector<double> column = column_of(correlation, v.size());
  Vector result(v.size(), 0.0);
  for (std::size_t t = 0; t < v.size(); ++t) {
    for (std::size_t s = 0; s <= t; ++s) result[t] += column[t - s] * v[s];
  }
  return result;
}

TEST(ChainFilter, MultipliesByTheMatrixAndItsTranspose) {
  const NoiseCorrelation correlation = best_correlation(64, 1);
  const Vector v{1, -2, 0.5, 4, 3, -1};
  const Vector w{2, 1, -1, 0.25, 5, -3};
  ChainFilter forward(correlation);
  Vector product;
  for (std::size_t t = 0; t < v.size(); ++t) product.push_back(forward.next(static_cast<Round>(t), v[t]));
  const Vector expected = by_columns(correlation, v);
  for (std::size_t t = 0; t < v.size(); ++t) EXPECT_NEAR(product[t], expected[t], 1e-12);

  ChainFilter backward(correlation);
  double of_transpose = 0;
  for (std::size_t t = v.size(); t-- > 0;) of_transpose += backward.next(static_cast<Round>(t), w[t]) * v[t];
  double of_matrix = 0;
  for (std::size_t t = 0; t < v.size(); ++t) of_matrix += w[t] * expected[t];
  EXPECT_NEAR(of_transpose, of_matrix, 1e-12);
}

// A gap of two rounds: noise of round 0 has been multiplied by θ² when round 3 takes it back.
TEST(ChainFilter, FadesOverRoundsWithoutARelease) {
  NoiseCorrelation correlation;
  correlation.omega = {0.25, 0.125};
  correlation.theta = {0.5, 0.75};
  ChainFilter filter(correlation);
  filter.next(0, 8);
  EXPECT_DOUBLE_EQ(filter.taken_back(1), 0.25 * 8 + 0.125 * 8);
  EXPECT_DOUBLE_EQ(filter.taken_back(3), 0.25 * 0.25 * 8 + 0.125 * 0.5625 * 8);
}

// The bound is that of all releases: a single one costs 1/‖c‖ of it.
TEST(ChainAudit, AnHonestChainRecoversItsClaim) {
  const NoiseCorrelation correlation = best_correlation(rounds, 1);
  std::vector<ChainPlan> plans = chain_plans(correlation, rounds);
  if (!slow()) plans.erase(plans.begin(), plans.end() - 1);  // that with several lives is left
  for (const ChainPlan& plan : plans) {
    const auto mechanism = honest(chain_settings(correlation));
    const AuditResult result = audit_chain(*mechanism, plan, 1, 20'000);
    EXPECT_FALSE(result.refuted) << result.subject << ": " << result.event();
    EXPECT_GT(result.mu_lower_bound, 0.9) << result.subject << ": " << result.event();
    EXPECT_LT(result.mu_lower_bound, 1.02) << result.subject << ": " << result.event();
    EXPECT_THAT(result.event(), HasSubstr("matched"));
  }
}

TEST(ChainAudit, ARecordThatIsUsedAgainCostsTheRoot) {
  const NoiseCorrelation correlation = best_correlation(4, 3);
  const auto mechanism = honest(chain_settings(correlation, 3));
  EXPECT_DOUBLE_EQ(chain_claim(*mechanism, 1).mu, std::sqrt(3.0));
  const AuditResult result = audit_chain(*mechanism, chain_plans(correlation, 12).front(), 2, 20'000);
  EXPECT_FALSE(result.refuted) << result.event();
  EXPECT_GT(result.mu_lower_bound, 0.85 * std::sqrt(3.0)) << result.event();
}

/// Faults of the table, in the plan with several lives.
class ChainFaults : public testing::TestWithParam<PlantedFaultRow> {};

TEST_P(ChainFaults, AreRefuted) {
  const std::set<std::string> plain{"sensitivity C for 2C", "a seeded generator", "noise used again"};
  if (plain.contains(GetParam().name) && !slow()) GTEST_SKIP() << "slow: others are harder to find";
  const NoiseCorrelation correlation = best_correlation(rounds, 1);
  const auto mechanism =
      plant(GetParam().fault, mechanism_table().first(ChargeKind::gaussian), chain_settings(correlation));
  const ChainPlan plan = chain_plans(correlation, rounds).back();
  const AuditResult result = audit_chain(*mechanism, plan, 3, faulty_samples);
  EXPECT_TRUE(result.refuted) << "mu > " << result.mu_lower_bound << " by " << result.event();
}

INSTANTIATE_TEST_SUITE_P(Table, ChainFaults, testing::ValuesIn(planted_chain_faults()),
                         [](const auto& row) { return test_name(row.param.name); });

// The doubles in which two faults are planted are no fault themselves.
TEST(ChainAudit, AChainInDoublesIsHonest) {
  const NoiseCorrelation correlation = best_correlation(rounds, 1);
  ChainInDoubles chain(ChainInDoubles::Fault::none, honest(chain_settings(correlation)));
  const AuditResult result = audit_chain(chain, chain_plans(correlation, rounds).back(), 4, faulty_samples);
  EXPECT_FALSE(result.refuted) << result.event();
  EXPECT_GT(result.mu_lower_bound, 0.8) << result.event();
}

// Every run shows its side: what is left of fractions decides.
TEST(ChainAudit, FractionsGiveTheDataAway) {
  const NoiseCorrelation correlation = best_correlation(rounds, 1);
  ChainInDoubles chain(ChainInDoubles::Fault::unrounded, honest(chain_settings(correlation)));
  const AuditSubject subject =
      chain_subject(chain, 1, chain_plans(correlation, rounds).front(), numbered_audit_keys(5));
  const auto wholeness = std::find(subject.names.begin(), subject.names.end(), "whether noises are whole numbers");
  ASSERT_NE(wholeness, subject.names.end());
  Vector seen(subject.length);
  int right = 0;
  for (std::int64_t sample = 0; sample < 500; ++sample) {
    for (const int side : {0, 1}) {
      subject.observe(side, sample, seen);
      const double distance = seen[static_cast<std::size_t>(wholeness - subject.names.begin())];
      right += (distance < 0) == (side == 0) ? 1 : 0;
    }
  }
  EXPECT_EQ(right, 1000);
}

TEST(ChainAudit, RefusesPlansWithoutPlace) {
  const NoiseCorrelation correlation = best_correlation(4, 3);
  const auto mechanism = honest(chain_settings(correlation));
  EXPECT_ERROR(UsageError, "3 use(s)", chain_subject(*mechanism, 1, {8, 0, 1, 0}, numbered_audit_keys(6)));
  ReleaseSettings independent = chain_settings(correlation);
  independent.correlation.reset();
  const auto gaussian = honest(independent);
  EXPECT_NE(message_of<UsageError>([&] {
              return chain_subject(*gaussian, 1, {8, 0, 1, 0}, numbered_audit_keys(6));
            }),
            "");
}

}  // namespace starling::chain_subject_test
