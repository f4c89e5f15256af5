// The exchanges of a round that the rule of `omd` chooses for a graph.
#include "methods/omd/tuning.hpp"

#include <gtest/gtest.h>

#include "graph/analysis/analysis.hpp"
#include "graph/graph.hpp"

namespace starling {
namespace {

/// A run whose noise is correlated over rounds, so that it leaves clients close to each other.
OmdConfig correlated() {
  OmdConfig config;
  config.privacy.mechanism = "gaussian";
  config.correlation = CorrelationChoice::automatic;
  return config;
}

OmdConfig independent() {
  OmdConfig config = correlated();
  config.correlation = CorrelationChoice::none;
  return config;
}

int steps_on(const OmdConfig& config, const std::string& family, Client clients) {
  const auto graph = make_graph(family, clients, WeightRule::sender);
  return tuned_gossip_steps(config, clients, contraction_of(*graph));
}

TEST(GossipSteps, HalveADisagreementWhereNoiseIsCorrelated) {
  EXPECT_EQ(steps_on(correlated(), "complete", 8), 1);
  EXPECT_EQ(steps_on(correlated(), "exponential", 32), 2);  // 0.667^2 = 0.44
  EXPECT_EQ(steps_on(correlated(), "ring", 16), 14);        // ((1 + 2 cos(π/8))/3)^14 = 0.48
}

TEST(GossipSteps, LeaveAQuarterUnderIndependentNoiseAndNeverFewerThanFour) {
  EXPECT_EQ(steps_on(independent(), "complete", 8), 4);
  EXPECT_EQ(steps_on(independent(), "exponential", 32), 4);
  EXPECT_EQ(steps_on(independent(), "ring", 16), 27);
  OmdConfig pairs = correlated();
  pairs.privacy.trusts_pairs = true;
  EXPECT_EQ(steps_on(pairs, "ring", 16), 27);
  EXPECT_EQ(steps_on(independent(), "exponential", 1), 1);
}

TEST(GossipSteps, AreAtMost64AndFourOfAGraphWhoseSpeedNobodyKnows) {
  EXPECT_EQ(steps_on(independent(), "directed-ring", 100), 64);
  EXPECT_EQ(steps_on(correlated(), "ring", most_clients_of_contraction + 1), 4);
  EXPECT_EQ(tuned_gossip_steps(correlated(), 5, 0.0), 1);
  EXPECT_EQ(tuned_gossip_steps(correlated(), 5, 1.0), 64);
}

TEST(GossipSteps, FollowTheSpeedOfGraphsThatChange) {
  EXPECT_GT(steps_on(correlated(), "b-connected:window=8", 32), 8);
  EXPECT_GT(steps_on(correlated(), "random-matching:rounds=endless", 32), 1);
}

}  // namespace
}  // namespace starling
