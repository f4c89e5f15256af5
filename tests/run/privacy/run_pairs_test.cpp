#include "run/privacy/pairs/run_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

#include "graph/graph.hpp"
#include "net/agreement.hpp"
#include "privacy/accounting/accounting.hpp"
#include "run/privacy/pairs/run_pair_keys.hpp"
#include "run/settings/privacy_options.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::run_pairs_test {

using namespace testing_support;

constexpr Client clients = 5;

/// The keys of this rank's clients' pairs.
PairNoise::Ends ends_for(const std::string& run_id, const std::string& attempt, std::uint64_t seed = 1) {
  Agreement agreement(world());
  const Layout layout(clients, world().size());
  std::vector<NoiseKey> keys;
  for (Client k = 0; k < layout.count(world().rank()); ++k) {
    keys.push_back(NoiseKey::from_seed(seed, layout.first(world().rank()) + k));
  }
  return agree_on_pair_keys(agreement, layout, PairGraph::all(clients), keys, run_id, attempt).ends;
}

/// All ranks' keys of pairs: "u v adds key" for each end.
std::vector<std::string> lines_of(const PairNoise::Ends& ends) {
  std::string own;
  for (const auto& [u, pairs] : ends) {
    for (const PairEnd& each : pairs) {
      const auto [first, second] = std::minmax(u, each.partner);
      own += fmt::format("{} {} {} {}\n", first, second, each.key.hex(), each.adds != 0);
    }
  }
  std::vector<std::string> lines;
  for (const std::string& each : Agreement(world()).all_gather(declare_public(own))) {
    std::istringstream text(each);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
  }
  std::ranges::sort(lines);
  return lines;
}

TEST(RunPairs, GivesBothEndsOfAPairOneKey) {
  const std::vector<std::string> lines = lines_of(ends_for("run", "data"));
  ASSERT_EQ(lines.size(), 20U);
  for (std::size_t i = 0; i < lines.size(); i += 2) {
    const std::string pair = lines[i].substr(0, lines[i].rfind(' '));
    EXPECT_EQ(lines[i], pair + " false");
    EXPECT_EQ(lines[i + 1], pair + " true");
    if (i > 0) {
      EXPECT_NE(pair.substr(4), lines[i - 1].substr(4, pair.size() - 4)) << "two pairs have one key";
    }
  }
}

TEST(RunPairs, GivesOtherKeysToAnotherRunAndToOtherData) {
  const std::vector<std::string> lines = lines_of(ends_for("run", "data"));
  EXPECT_EQ(lines, lines_of(ends_for("run", "data")));
  for (const auto& other :
       {ends_for("run", "other data"), ends_for("another run", "data"), ends_for("run", "data", 2)}) {
    std::vector<std::string> common;
    std::ranges::set_intersection(lines, lines_of(other), std::back_inserter(common));
    EXPECT_THAT(common, IsEmpty());
  }
}

TEST(RunPairs, PairsAllWhereThereAreTooFewToChoose) {
  Agreement agreement(world());
  PrivacyOptions options;
  const auto ring = make_graph("directed-ring", clients, WeightRule::sender);
  options.pairs_choice = "neighbours";  // 18 partners are wanted, and there are 4
  const RunPairs pairs(agreement, options, PairClients::all_of(ring->clients()), ring.get(), 1);
  EXPECT_TRUE(pairs.graph().complete());
  EXPECT_LT(pairs.terms().exposure, 1 / (0.6 * 4));
  EXPECT_THAT(pairs.text(pairs.terms()), HasSubstr("collusion=1"));
}

/// Sums before the rounds have pairs of more noise, which exposes less to a coalition, and more to all others together.
TEST(RunPairs, SaysWhatOthersSee) {
  Agreement agreement(world());
  const auto ring = make_graph("directed-ring", clients, WeightRule::sender);
  const RunPairs pairs(agreement, PrivacyOptions(), PairClients::all_of(ring->clients()), ring.get(), 1);
  PrivacyLoss own;
  own.delta = 1e-5;
  own.mu = 0.5;
  const double h = pairs.terms().exposure;
  const double before = pairs.terms_before().exposure;
  EXPECT_NEAR(before, 1.0 / 4 + (1 - 1.0 / 4) / (1 + 25 * 4), 1e-9);
  EXPECT_LT(before, h);
  EXPECT_NEAR(*pairs.describe(own, 0).all_others.mu, 0.5 / std::sqrt(h), 1e-9);
  EXPECT_NEAR(*pairs.describe(own, 0, 0.3).all_others.mu, std::sqrt(0.09 + 0.16 / h), 1e-9);
  EXPECT_NEAR(*pairs.describe(own, 0, 0.5).outsiders.mu, 0.5, 1e-9);
  EXPECT_NEAR(*pairs.describe(own, 0.3).all_others.mu, std::sqrt(0.09 / before + 0.16 / h), 1e-9);
  const double outside = 1.0 / 5 + (1 - 1.0 / 5) / (1 + 25 * 5);
  EXPECT_NEAR(*pairs.describe(own, 0.5).outsiders.mu, 0.5 * std::sqrt(outside / before), 1e-9);
  EXPECT_LT(*pairs.describe(own, 0).outsiders.mu, 0.5);
}

}  // namespace starling::run_pairs_test
