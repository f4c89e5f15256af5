#include "protocol/canary.hpp"

#include "loss/loss.hpp"
#include "model/linear_model.hpp"
#include "model/network/network_model.hpp"
#include "privacy/mechanism.hpp"
#include "support/testing.hpp"

namespace starling::canary_test {

/// Two records with two features.
Batch two_records() {
  Batch batch;
  batch.clear();
  const Vector first{100, 100};
  const Vector second{0.25, -0.5};
  batch.add({first, {}}, 1);
  batch.add({second, {}}, 1);
  return batch;
}

TEST(CanaryModel, ReplacesTheFirstRecordsGradientAlone) {
  const auto loss = loss_table().make("logistic");
  LinearModel model(*loss, 2, false);
  CanaryLog log;
  CanaryModel canary(model, 1, NoiseKey::from_seed(1, 0), log);
  const Clip clip{ClipKind::l1, 0.5};
  Vector gradient;
  int plus = 0;
  for (int t = 0; t < 64; ++t) {
    const Score score = canary.evaluate(Vector{0, 0}, two_records(), clip, gradient);
    EXPECT_EQ(score.records, 2);
    ASSERT_EQ(log.signs.size(), static_cast<std::size_t>(t) + 1);
    EXPECT_EQ(gradient, (Vector{-0.125, 0.25 + 0.5 * log.signs.back()}));  // −½ x of the second, and the canary
    plus += log.signs.back() > 0 ? 1 : 0;
  }
  EXPECT_GT(plus, 10);
  EXPECT_LT(plus, 54);
}

TEST(CanaryModel, BoundsParametersAsItsModelDoes) {
  const auto loss = loss_table().make("logistic");
  NetworkModel<float> network(*loss, perceptron({2, 3, 1}));
  CanaryLog log;
  const CanaryModel canary(network, 1, NoiseKey::from_seed(1, 0), log);
  EXPECT_EQ(canary.largest_parameter(), network.largest_parameter());
}

TEST(CanaryMechanism, NotesWhatWasReleased) {
  const auto loss = loss_table().make("logistic");
  LinearModel model(*loss, 2, false);
  CanaryLog log;
  CanaryModel canary(model, 1, NoiseKey::from_seed(1, 0), log);
  const ReleaseSettings settings{.batch = 2, .dimension = 2, .run_id = "test"};
  const auto laplace = mechanism_table().make("laplace", settings);
  CanaryMechanism mechanism(*laplace, 1, log);
  EXPECT_EQ(mechanism.charge(1), laplace->charge(1));
  EXPECT_EQ(mechanism.clip().bound, laplace->clip().bound);

  Released<Vector> noisy(declare_public(Vector()));
  const NoiseKey key = NoiseKey::from_seed(2, 0);
  mechanism.release({ReleasePath::by_itself, 0, 0, 0}, 1, key, Secret<Vector>(Vector{0, 0}),
                    noisy);  // without a canary
  EXPECT_TRUE(log.seen.empty());
  Vector gradient;
  static_cast<void>(canary.evaluate(Vector{0, 0}, two_records(), mechanism.clip(), gradient));
  mechanism.release({ReleasePath::by_itself, 0, 1, 0}, 1, key, Secret<Vector>(gradient), noisy);
  EXPECT_EQ(log.seen, Vector{noisy.value()[1]});
  EXPECT_TRUE(log.clients.empty());
}

// A release without a canary shows those of earlier rounds, so all releases are noted, each with its client and round.
TEST(CanaryMechanism, NotesAllReleasesUnderCorrelatedNoise) {
  const auto loss = loss_table().make("logistic");
  LinearModel model(*loss, 2, false);
  CanaryLog log;
  CanaryModel canary(model, 1, NoiseKey::from_seed(1, 0), log);
  const ReleaseSettings settings{.price = PriceRange::of(0.5),
                                 .batch = 2,
                                 .dimension = 2,
                                 .run_id = "test",
                                 .correlation = best_correlation(8, 1)};
  const auto gaussian = mechanism_table().make("gaussian", settings);
  CanaryMechanism mechanism(*gaussian, 1, log);

  Released<Vector> noisy(declare_public(Vector()));
  const NoiseKey key = NoiseKey::from_seed(2, 0);
  Vector gradient;
  static_cast<void>(canary.evaluate(Vector{0, 0}, two_records(), mechanism.clip(), gradient));
  mechanism.release({ReleasePath::by_itself, 3, 0, 0}, 0.5, key, Secret<Vector>(gradient), noisy);
  Vector seen{noisy.value()[1]};
  mechanism.release({ReleasePath::by_itself, 3, 2, 0}, 0.5, key, Secret<Vector>(Vector{0, 0}), noisy);
  seen.push_back(noisy.value()[1]);
  EXPECT_EQ(log.seen, seen);
  ASSERT_EQ(log.signs.size(), 2U);
  EXPECT_NE(log.signs[0], 0);
  EXPECT_EQ(log.signs[1], 0);
  EXPECT_EQ(log.clients, (std::vector<Client>{3, 3}));
  EXPECT_EQ(log.rounds, (std::vector<Round>{0, 2}));
  EXPECT_DOUBLE_EQ(log.noise, 2 * noise_factor(*settings.correlation) / 0.5);
}

}  // namespace starling::canary_test
