#include "privacy/audit/pairs_audit.hpp"

#include <cmath>

#include "core/check.hpp"
#include "numbered_keys.hpp"
#include "privacy/audit/planted_pair_faults.hpp"
#include "privacy/pairs/numbered_ends.hpp"
#include "privacy/pairs/pair_price.hpp"
#include "support/slow.hpp"
#include "support/testing.hpp"

namespace starling::pairs_audit_test {

using namespace testing_support;

constexpr double ratio = 2;
constexpr std::int64_t samples = 6'000;

/// Each client has two partners: with one of them in a coalition, little hides the other side.
PairGraph ring() {
  return PairGraph::of(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}});
}

/// Clients of different degrees.
PairGraph kite() {
  return PairGraph::of(5, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {2, 3}, {3, 4}, {4, 0}});
}

struct Case {
  PairGraph graph = ring();
  PlantedPairFault fault = PlantedPairFault::none;
  bool correlated = false;
  Client colluding = 1;
  std::uint64_t seed = 1;
};

struct Audited {
  AuditResult result;
  PairsAudit::Sum sum;
};

/// From the side of the coalition of clients without the victim that has this number.
Audited audited(const Case& each, Client victim, std::size_t coalition) {
  ReleaseSettings settings{.price = PriceRange::of(1), .batch = 2, .dimension = 2, .rounds = 4, .run_id = "test"};
  Round rounds = 2;
  if (each.correlated) {
    settings.correlation = best_correlation(2, 2);
    rounds = 4;
  }
  const PairNoise::Ends ends = numbered_ends(each.graph, each.seed);
  const auto mechanism = plant(each.fault, settings, each.graph, ratio, each.colluding, ends);
  PairsAudit audit_of_pairs(*mechanism, 1,
                            {.graph = each.graph, .colluding = each.colluding, .rounds = rounds, .ends = ends},
                            numbered_audit_keys(each.seed));
  return {audit(audit_of_pairs.subjects(victim)[coalition], audit_of_pairs.claim(), {.samples = samples}),
          audit_of_pairs.sum()};
}

/// With a partner in the coalition a client recovers nearly all of the claim, in chains too, and none exceeds it.
TEST(PairsAudit, AnHonestRunRecoversItsClaim) {
  for (const bool correlated : {false, true}) {
    const Audited found = audited({.correlated = correlated}, 2, 1);
    const double claim = correlated ? std::sqrt(2.0) : 1;
    EXPECT_GT(found.result.mu_lower_bound, 0.85 * claim) << found.result.event();
    EXPECT_LT(found.result.mu_lower_bound, 1.02 * claim) << found.result.event();
    EXPECT_FALSE(found.sum.too_much) << found.sum.variance;
    EXPECT_THAT(found.result.subject, HasSubstr("client 2 of 5 at +C or at -C"));
    EXPECT_THAT(found.result.subject, HasSubstr("by client 1"));
  }
}

TEST(PairsAudit, LargerCoalitionsAndUnequalClientsAreCounted) {
  EXPECT_GT(audited({.graph = PairGraph::all(4), .colluding = 2}, 3, 0).result.mu_lower_bound, 0.85);
  // Client 4 of the kite has fewest partners; client 0 is hidden better than the price says.
  const Audited worst = audited({.graph = kite()}, 4, 0);
  const Audited best = audited({.graph = kite()}, 0, 0);
  EXPECT_FALSE(worst.result.refuted) << worst.result.event();
  EXPECT_GT(worst.result.mu_lower_bound, 0.85);
  EXPECT_LT(best.result.mu_lower_bound, worst.result.mu_lower_bound - 0.05);
}

class PairFaults : public testing::TestWithParam<PlantedPairFaultRow> {};

TEST_P(PairFaults, AreFound) {
  // The more clients hide each other, the more it shows that noise is met twice.
  const PairGraph graph = GetParam().fault == PlantedPairFault::met_twice ? PairGraph::all(5) : ring();
  const Audited found = audited({.graph = graph, .fault = GetParam().fault, .seed = 3}, 0, 3);
  if (GetParam().shows_in_sum) {
    EXPECT_TRUE(found.sum.too_much) << found.sum.variance;
    EXPECT_FALSE(found.result.refuted);
  } else {
    EXPECT_TRUE(found.result.refuted) << "mu > " << found.result.mu_lower_bound << " by " << found.result.event();
    EXPECT_FALSE(found.sum.too_much) << found.sum.variance;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, PairFaults, testing::ValuesIn(planted_pair_faults()),
                         [](const auto& row) { return test_name(row.param.name); });

TEST(PairsAudit, FaultsAreFoundInChains) {
  for (const PlantedPairFault fault : {PlantedPairFault::left_out, PlantedPairFault::collusion_ignored}) {
    if (fault == PlantedPairFault::collusion_ignored && !slow()) continue;
    const Audited found = audited({.fault = fault, .correlated = true, .seed = 4}, 0, 3);
    EXPECT_TRUE(found.result.refuted) << "mu > " << found.result.mu_lower_bound << " by " << found.result.event();
  }
}

TEST(PairsAudit, RefusesWhatItCannotLookAt) {
  const PairGraph graph = PairGraph::all(20);
  const PairNoise::Ends ends = numbered_ends(graph, 1);
  const auto mechanism =
      plant(PlantedPairFault::none, {.price = PriceRange::of(1), .run_id = "test"}, graph, ratio, 3, ends);
  EXPECT_ERROR(UsageError, "128 coalitions",
               PairsAudit(*mechanism, 1, {.graph = graph, .colluding = 3, .ends = ends}, numbered_audit_keys(1)));
}

}  // namespace starling::pairs_audit_test
