// Dynamic regret against known best models of single rounds, on any layout, and its remarks.

#include <bit>
#include <cmath>

#include "core/numerics/kernels.hpp"
#include "evaluated.hpp"
#include "model/linear_model.hpp"
#include "regret/regret.hpp"

namespace starling::dynamic_regret_test {

using namespace testing_support;

DynamicRegret regret_of(const Game& game, const std::vector<std::vector<Row1>>& data, double played) {
  return with_pass(game, data, played, [](const EvaluationPass& pass) { return dynamic_regret(pass); });
}

// One feature of 1, f = ½(x − y)²: the best model of a round is the mean of its labels: 2, 5, 3. Their losses are
// ½(1 + 1), ½(1 + 1) and ½(4 + 4); the path is 3 + 2.
const std::vector<std::vector<Row1>> two_clients{{{{1}, 1}, {{1}, 4}, {{1}, 1}}, {{{1}, 3}, {{1}, 6}, {{1}, 5}}};

TEST(DynamicRegret, IsAgainstTheMeanOfEachRoundForSquaredLoss) {
  for (const char* domain : {"free", "box:-9,9"}) {
    const DynamicRegret regret = regret_of({"squared", domain}, two_clients, 10);
    EXPECT_EQ(regret.client_rounds, 6);
    EXPECT_EQ(regret.rounds, 3);
    EXPECT_NEAR(regret.total(), 20 - 6, 1e-9) << domain;
    EXPECT_NEAR(regret.per_client_round(), 14.0 / 6, 1e-9);
    EXPECT_NEAR(regret.path_length, 5, 1e-5) << domain;
    EXPECT_EQ(regret.not_reached, 0);
    EXPECT_LE(regret.worst.certificate, regret.worst.tolerance);
    EXPECT_TRUE(remarks_on(regret).empty());
  }
}

TEST(DynamicRegret, CurvesAddUpRoundByRound) {
  Game game{"squared", "box:-9,9"};
  game.marks = {1, 2, 3};
  const DynamicRegret regret = with_pass(game, two_clients, {Vector{1, 2, 3}, Vector{10, 20, 30}},
                                         [](const EvaluationPass& pass) { return dynamic_regret(pass); });
  ASSERT_EQ(regret.curve.size(), 3U);
  EXPECT_NEAR(regret.curve[0], 11 - 1, 1e-9);
  EXPECT_NEAR(regret.curve[1], 22 - 2, 1e-9);
  EXPECT_NEAR(regret.curve[2], 33 - 6, 1e-9);
  ASSERT_EQ(regret.path.size(), 3U);
  EXPECT_EQ(regret.path[0], 0);
  EXPECT_NEAR(regret.path[1], 3, 1e-5);
  EXPECT_EQ(regret.path[2], regret.path_length);
}

// A round's comparator is that of the clients that played it, and a round that nobody played has none: the best models
// are 2, none, 5, so that the path is one step of 3.
TEST(DynamicRegret, RoundsThatAClientSatOutAreNotHeldAgainstIt) {
  Game game{"squared", "free"};
  game.absent = {{0, 1}, {1, 1}, {0, 2}};
  const DynamicRegret regret = regret_of(game, two_clients, 0);
  EXPECT_EQ(regret.client_rounds, 3);
  EXPECT_EQ(regret.rounds, 2);
  EXPECT_NEAR(regret.best, 1, 1e-9);
  EXPECT_NEAR(regret.path_length, 3, 1e-5);
}

// Penalties count once per client and round: ½(x − 4)² + ¼ x² is least at 8/3.
TEST(DynamicRegret, HasPenaltiesAndShortBatches) {
  const DynamicRegret regret = regret_of({"squared", "free", 1, 0.5, 1}, {{{{1}, 4}}}, 0);
  EXPECT_NEAR(regret.best, 0.5 * 16.0 / 9 + 0.25 * 64.0 / 9, 1e-9);
  const DynamicRegret short_batch = regret_of({"squared", "free", 2}, {{{{1}, 4}, {{1}, 6}, {{1}, 9}}}, 0);
  EXPECT_NEAR(short_batch.best, 0.5 * (0.5 + 0.5), 1e-9);
  EXPECT_NEAR(short_batch.path_length, 4, 1e-5);
}

std::uint64_t mixed(std::uint64_t hash, View values) {
  for (const double value : values) hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211U;
  return hash;
}

// By hand, round by round and in client order, as one rank with all clients would.
TEST(DynamicRegret, HasTheSameBitsAsASumInClientOrder) {
  const auto data = random_data(7, 3);
  const Game game{"logistic", "ball:2", 2, 0.05};
  const DynamicRegret regret = regret_of(game, data, 1);

  const auto loss = loss_table().make(game.loss);
  const auto domain = domain_table().make(game.domain);
  LinearModel model(*loss, 3, false);
  Vector best_of(data.size(), 0.0);
  double path = 0;
  Vector before;
  for (std::size_t t = 0; t < 13; ++t) {
    std::vector<Batch> batches;
    std::vector<std::size_t> who;
    for (std::size_t u = 0; u < data.size(); ++u) {
      Batch batch;
      for (std::size_t i = 2 * t; i < std::min(2 * t + 2, data[u].size()); ++i) {
        batch.add({data[u][i].features, {}}, data[u][i].label);
      }
      if (!batch.empty()) batches.push_back(batch);
      if (!batch.empty()) who.push_back(u);
    }
    if (batches.empty()) continue;
    const auto loss_of = [&](View x, const Batch& batch, MutableView part) {
      Vector slope;
      const Score score = model.evaluate(x, batch, Clip{}, slope);
      axpy(1 / 2.0, slope, part.first(3));
      axpy(1 * game.l2, x, part.first(3));
      part[3] += score.loss / 2 + 1.0 * 0.5 * game.l2 * dot(x, x);
    };
    MinimiseSettings settings;
    settings.gap = 1e-11;
    settings.gradient_norm = 1e-8;
    settings.evaluations = 1500;
    settings.strong_convexity = game.l2;
    const Minimum best = minimise(
        [&](View x, MutableView gradient) {
          Vector part(4, 0.0);
          for (const Batch& batch : batches) loss_of(x, batch, part);
          scale(1 / static_cast<double>(batches.size()), part);
          std::copy_n(part.begin(), 3, gradient.begin());
          return part[3];
        },
        *domain, 3, settings);
    if (!before.empty()) path += std::sqrt(squared_distance(best.x, before));
    before = best.x;
    for (std::size_t i = 0; i < who.size(); ++i) {
      best_of[who[i]] += model.score(best.x, batches[i]).loss / 2 + 1.0 * 0.5 * game.l2 * dot(best.x, best.x);
    }
  }
  double total = 0;
  for (const double value : best_of) total += value;
  EXPECT_EQ(mixed(1, Vector{regret.best, regret.path_length}), mixed(1, Vector{total, path}));
  EXPECT_EQ(regret.rounds, 13);
  EXPECT_EQ(regret.not_reached, 0);
}

TEST(DynamicRegret, SaysWhereARoundHasNoBestModel) {
  const DynamicRegret falling = regret_of({"linear", "free"}, {{{{1, 0}, 1}, {{0, 1}, 1}}}, 0);
  EXPECT_FALSE(falling.exists());
  ASSERT_EQ(remarks_on(falling).size(), 1U);
  EXPECT_THAT(remarks_on(falling)[0], HasSubstr("fall without end"));
  const DynamicRegret separable = regret_of({"logistic", "free"}, {{{{1}, 1}, {{1}, -1}}}, 0);
  EXPECT_TRUE(separable.exists());
  EXPECT_EQ(separable.not_attained, 2);
}

// One record of two features leaves a line of best models.
TEST(DynamicRegret, SaysWhereSeveralModelsAreBest) {
  const DynamicRegret regret = regret_of({"squared", "free"}, {{{{1, 1}, 2}, {{1, -1}, 2}}}, 0);
  EXPECT_NEAR(regret.best, 0, 1e-9);
  EXPECT_EQ(regret.undetermined, regret.tried_twice);
  EXPECT_EQ(regret.tried_twice, 2);
  ASSERT_EQ(remarks_on(regret).size(), 1U);
  EXPECT_THAT(remarks_on(regret)[0], HasSubstr("several models are best"));
  // From the centre, 0, the search goes straight to the nearest: (1, 1) and (1, −1).
  EXPECT_NEAR(regret.path_length, 2, 1e-5);
}

TEST(DynamicRegret, EndsWhenOneRankIsInterrupted) {
  const bool here = world().rank() == world().size() - 1;
  const auto data = random_data(4, 2);
  const DynamicRegret regret = with_pass(
      {"logistic", "ball:2"}, data, std::vector<Vector>(4, Vector{1.0}),
      [](const EvaluationPass& pass) { return dynamic_regret(pass); }, [here] { return here; });
  EXPECT_TRUE(regret.interrupted);
  EXPECT_FALSE(regret.exists());
  EXPECT_EQ(remarks_on(regret).size(), 1U);
}

// Clients' regrets, and that they add up to the network's.
TEST(Regret, OfClientsAddUpToThatOfAll) {
  const Regret regret = with_pass({"squared", "free"}, two_clients, 10, [](const EvaluationPass& pass) {
    return find_regret(pass, {true, true});
  });
  if (world().rank() != 0) return;
  ASSERT_EQ(regret.per_client.size(), 2U);
  EXPECT_EQ(regret.per_client[0].rounds, 3);
  EXPECT_NEAR(regret.per_client[0].moving, 10 - (0.5 + 0.5 + 2), 1e-6);
  EXPECT_NEAR(regret.per_client[0].moving + regret.per_client[1].moving, regret.moving->total(), 1e-9);
  // The best single model is 10/3.
  const double x = 10.0 / 3;
  EXPECT_NEAR(regret.per_client[0].fixed, 10 - 0.5 * ((x - 1) * (x - 1) + (x - 4) * (x - 4) + (x - 1) * (x - 1)), 1e-5);
  EXPECT_NEAR(regret.per_client[0].fixed + regret.per_client[1].fixed, regret.fixed->total(), 1e-9);
}

}  // namespace starling::dynamic_regret_test
