// Regret against known comparators, the same on every layout, and never where metrics are private.
#include <bit>
#include <cmath>

#include "core/numerics/kernels.hpp"
#include "evaluated.hpp"
#include "model/linear_model.hpp"
#include "regret/regret.hpp"

namespace starling::static_regret_test {

using namespace testing_support;

/// The static regret of clients that have played `played` each; `data` has a list of records per client.
StaticRegret regret_of(const Game& game, const std::vector<std::vector<Row1>>& data, double played) {
  return with_pass(game, data, played, [](const EvaluationPass& pass) { return static_regret(pass); });
}

// One feature of 1: the best model is the mean label; three clients of 2, 1 and 3 records.
TEST(StaticRegret, IsAgainstTheMeanForSquaredLoss) {
  const std::vector<std::vector<Row1>> data{{{{1}, 1}, {{1}, 2}}, {{{1}, 6}}, {{{1}, 3}, {{1}, 0}, {{1}, 6}}};
  const StaticRegret regret = regret_of({"squared", "free"}, data, 10);
  EXPECT_EQ(regret.client_rounds, 6);
  EXPECT_NEAR(regret.comparator.x[0], 3, 1e-5);
  EXPECT_NEAR(regret.total(), 30 - 0.5 * (4 + 1 + 9 + 0 + 9 + 9), 1e-8);
  EXPECT_NEAR(regret.per_client_round(), regret.total() / 6, 1e-15);
  EXPECT_EQ(remark_on(regret), "");
}

// Only the rounds that were played count: after one round of each, records 1, 6 and 3.
TEST(StaticRegret, CountsTheRoundsThatWerePlayed) {
  const std::vector<std::vector<Row1>> data{{{{1}, 1}, {{1}, 2}}, {{{1}, 6}}, {{{1}, 3}, {{1}, 0}, {{1}, 6}}};
  const StaticRegret regret = regret_of({"squared", "free", 1, 0, 1}, data, 10);
  EXPECT_EQ(regret.client_rounds, 3);
  EXPECT_NEAR(regret.comparator.x[0], 10.0 / 3, 1e-5);
}

// Batches of 2, the last one short: sums are divided by 2 all the same, and each round has the whole penalty:
// F(x) = ¼ [(x−1)² + (x−2)² + (x−6)²] + 2 · ½ · 0.5 x², least at 4.5 / (1.5 + 1) = 1.8.
TEST(StaticRegret, ShortBatchesWeighLessAndPenaltiesDoNot) {
  const std::vector<std::vector<Row1>> data{{{{1}, 1}, {{1}, 2}, {{1}, 6}}};
  const StaticRegret regret = regret_of({"squared", "free", 2, 0.5}, data, 0);
  EXPECT_EQ(regret.client_rounds, 2);
  EXPECT_NEAR(regret.comparator.x[0], 1.8, 1e-4);
  EXPECT_EQ(regret.comparator.kind, Minimum::Certificate::gap);
  const double x = 1.8;
  EXPECT_NEAR(regret.total(), -(0.25 * (0.64 + 0.04 + 17.64) + 0.5 * x * x), 1e-7);
}

TEST(StaticRegret, LinearLossOnTheSimplexIsAgainstTheBestExpert) {
  const std::vector<std::vector<Row1>> data{{{{1, 0, 2}, 1}, {{0, 3, 0}, 1}}, {{{2, 1, 0}, 1}, {{0, 1, 0.5}, 1}}};
  const StaticRegret regret = regret_of({"linear", "simplex"}, data, 0);
  ASSERT_EQ(regret.comparator.x.size(), 3U);
  // Losses of the experts are ∓(3, 5, 2.5), whichever sign the loss has.
  const bool largest_wins = regret.comparator.value < 0;
  EXPECT_NEAR(regret.comparator.x[largest_wins ? 1 : 2], 1, 1e-6);
  EXPECT_NEAR(std::abs(regret.total()), largest_wins ? 5 : 2.5, 1e-6);
}

/// A number that 64 bits of every figure go into.
std::uint64_t fingerprint(const StaticRegret& regret) {
  Vector all = regret.comparator.x;
  all.insert(all.end(), {regret.total(), regret.comparator.value, regret.comparator.certificate,
                         static_cast<double>(regret.comparator.evaluations)});
  std::uint64_t hash = 14695981039346656037U;
  for (const double value : all) hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211U;
  return hash;
}

// Against the figures of one rank that hosts everybody, which rank 0 works out as a world of its own could not: the
// same sum by hand, in client order.
TEST(StaticRegret, HasTheSameBitsAsASumInClientOrder) {
  const auto data = random_data(7, 4);
  const Game test{"logistic", "ball:3", 3, 0.01};
  const StaticRegret regret = regret_of(test, data, 1);

  const auto loss = loss_table().make(test.loss);
  const auto domain = domain_table().make(test.domain);
  LinearModel model(*loss, 4, false);
  double rounds = 0;
  std::vector<double> rounds_of;
  for (const auto& records : data) {
    rounds_of.push_back(std::ceil(static_cast<double>(records.size()) / 3));
    rounds += rounds_of.back();
  }
  MinimiseSettings settings;
  settings.strong_convexity = test.l2;
  const Minimum by_hand = minimise(
      [&](View x, MutableView gradient) {
        Vector total(6, 0.0);
        for (std::size_t u = 0; u < data.size(); ++u) {
          Batch batch;
          batch.clear();
          for (const Row1& row : data[u]) batch.add({row.features, {}}, row.label);
          Vector slope;
          const Score score = model.evaluate(x, batch, Clip{}, slope);
          Vector part(6, 0.0);
          axpy(1 / 3.0, slope, MutableView(part).first(4));
          axpy(rounds_of[u] * test.l2, x, MutableView(part).first(4));
          part[4] = score.loss / 3 + rounds_of[u] * 0.5 * test.l2 * dot(x, x);
          axpy(1, part, total);
        }
        scale(1 / rounds, total);
        std::copy_n(total.begin(), 4, gradient.begin());
        return total[4];
      },
      *domain, 4, settings);
  StaticRegret expected{7, static_cast<std::int64_t>(rounds), by_hand};
  EXPECT_EQ(fingerprint(regret), fingerprint(expected));
  EXPECT_EQ(regret.comparator.ending, Minimum::Ending::reached);
}

TEST(StaticRegret, SeparableDataOnFreeEndWithAClearRemark) {
  const std::vector<std::vector<Row1>> data{{{{1, 0}, 1}, {{-1, 0.5}, -1}}, {{{2, 0.3}, 1}}};
  const StaticRegret regret = regret_of({"logistic", "free"}, data, 1);
  EXPECT_EQ(regret.comparator.ending, Minimum::Ending::not_attained);
  EXPECT_THAT(remark_on(regret), HasSubstr("separable"));
}

TEST(StaticRegret, RefusesPrivateMetrics) {
  Agreement agreement(world());
  const auto loss = loss_table().make("logistic");
  const auto domain = domain_table().make("ball:1");
  LinearModel model(*loss, 2, false);
  const EvaluationData none;
  EXPECT_THROW(EvaluationPass(agreement, MetricsPolicy(MetricsPolicy::Sharing::local), model, *domain, none,
                              [] { return false; }),
               UsageError);
}

// Labels 1, 2, 3, 4 of one client, f = ½(x − y)²: the best model of the first t rounds is their mean, and the regret
// that of playing 0: ½ t mean².
TEST(StaticRegret, CurvesAreAgainstTheBestModelOfTheRoundsSoFar) {
  Game game{"squared", "box:-10,10"};
  game.marks = {1, 2, 4};
  const StaticRegret regret = with_pass(game, {{{{1}, 1}, {{1}, 2}, {{1}, 3}, {{1}, 4}}}, {Vector{0.5, 2.5, 15}},
                                        [](const EvaluationPass& pass) { return static_regret(pass); });
  ASSERT_EQ(regret.curve.size(), 3U);
  EXPECT_NEAR(regret.curve[0], 0.5, 1e-6);
  EXPECT_NEAR(regret.curve[1], 2.25, 1e-6);
  EXPECT_NEAR(regret.curve[2], 12.5, 1e-6);
  EXPECT_EQ(regret.curve[2], regret.total());
}

// A client that sits rounds out is evaluated on those that it has played, and is counted for those alone.
TEST(StaticRegret, LeavesOutTheRoundsThatAClientSatOut) {
  Game game{"squared", "free"};
  game.absent = {{0, 1}, {1, 0}};
  const std::vector<std::vector<Row1>> data{{{{1}, 1}, {{1}, 100}, {{1}, 2}}, {{{1}, 100}, {{1}, 6}, {{1}, 7}}};
  const StaticRegret regret = regret_of(game, data, 0);
  EXPECT_EQ(regret.client_rounds, 4);
  EXPECT_NEAR(regret.comparator.x[0], 4, 1e-5);
}

}  // namespace starling::static_regret_test
