/// Two releases a round: each is what a mechanism of its own would release, and together they cost what is charged.
#include "privacy/mechanism/paired_mechanism.hpp"

#include <cmath>

#include "core/check.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/accounting/spending.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/statistics.hpp"
#include "releases.hpp"
#include "support/testing.hpp"

namespace starling::paired_mechanism_test {

using namespace testing_support;

const NoiseKey key = NoiseKey::from_seed(1, 1);

ReleaseSettings settings_of(double price) {
  return {.price = PriceRange::of(price), .clip = 2, .batch = 4, .dimension = 6, .run_id = "pair"};
}

PairedMechanism pair_of(const std::string& name, double price, double share) {
  return {name, settings_of(price), {"part", 0.5, 3, share}};
}

Vector second_released(PairedMechanism& pair, const ReleaseAddress& address, double price, const Vector& sum) {
  Released<Vector> mean(declare_public(Vector()));
  pair.release_second(address, price, key, Secret<Vector>(sum), mean);
  return mean.value();
}

// The second part's standard deviation is C √2/μ₂ in place of 2 C/μ₂, to within four standard errors (two-sided error
// 6e-5).
TEST(PairedMechanism, ReplacedCurvaturesNeedLessNoise) {
  constexpr std::size_t d = 20'000;
  PairedMechanism pair("gaussian", settings_of(0.8), {"curvature", 0.5, d, 0.25, std::sqrt(2.0)});
  const Vector second = second_released(pair, {ReleasePath::by_itself, 0, 0, 0}, 0.8, Vector(d));
  const double expected = 0.5 * std::sqrt(2.0) / (0.4 * 4);  // of the mean over 4
  EXPECT_NEAR(mean_square(second) / (expected * expected), 1, 4 * std::sqrt(2.0 / d));
  EXPECT_THROW(PairedMechanism("laplace", settings_of(0.8), {"curvature", 0.5, d, 0.25, std::sqrt(2.0)}), UsageError);
}

class Pair : public testing::TestWithParam<std::string> {
 protected:
  double price_ = 0.8;
  double share_ = 0.25;
  PairedMechanism pair_ = pair_of(GetParam(), price_, share_);
  bool gaussian_ = GetParam() == "gaussian";

  /// What a mechanism by itself has that pays `price`.
  std::unique_ptr<Mechanism> alone(double price, double clip, std::size_t dimension) {
    ReleaseSettings settings = settings_of(price);
    settings.clip = clip;
    settings.dimension = dimension;
    return mechanism_table().make(GetParam(), settings);
  }
  /// Noise scales are those of the parts' prices, up to the last digits.
  double first_price() const { return gaussian_ ? std::sqrt(0.75) * price_ : 0.75 * price_; }
  double second_price() const { return gaussian_ ? std::sqrt(0.25) * price_ : 0.25 * price_; }
};

TEST_P(Pair, ChargesBothPartsTogether) {
  const std::vector<ChargeGroup> both{{pair_.charge(price_), 1}};
  const std::vector<ChargeGroup> parts{{alone(first_price(), 2, 6)->charge(first_price()), 1},
                                       {alone(second_price(), 0.5, 3)->charge(second_price()), 1}};
  for (const double delta : {0.0, 1e-9, 1e-5, 1e-3, 0.1}) {
    if (delta == 0 && gaussian_) continue;
    const double together = compose(both, delta).epsilon;
    EXPECT_LE(
        together,
        compose(std::vector<ChargeGroup>{{gaussian_ ? Charge::gaussian(price_) : Charge::laplace(price_), 1}}, delta)
            .epsilon);
    // What is charged is the loss of one vector with both parts: no less than the parts composed (every rounding of the
    // composition is upwards, by some 1e-3 at most).
    EXPECT_GE(together * (1 + 1e-3) + 1e-6, compose(parts, delta).epsilon) << delta;
  }
  const Charge charge = pair_.charge(price_);
  EXPECT_NEAR(gaussian_ ? charge.mu : charge.epsilon, price_, 1e-11);
}

TEST_P(Pair, EachPartIsWhatAMechanismOfItsOwnReleases) {
  const Vector gradient{0.5, -1, 0.25, 0, 1, -0.125};
  const Vector other{0.25, -0.125, 0};
  const Vector first = released(pair_, {ReleasePath::by_itself, 3, 7, 0}, price_, gradient);
  const Vector second = second_released(pair_, {ReleasePath::by_itself, 3, 7, 0}, price_, other);
  ASSERT_EQ(first.size(), 6U);
  ASSERT_EQ(second.size(), 3U);
  EXPECT_EQ(pair_.clip().bound, alone(first_price(), 2, 6)->clip().bound);
  EXPECT_EQ(pair_.second_clip().bound, alone(second_price(), 0.5, 3)->clip().bound);
  if (!gaussian_) {  // the same price to the last bit: the same noise, at the next index
    EXPECT_EQ(first, released(*alone(first_price(), 2, 6), {ReleasePath::by_itself, 3, 7, 0}, first_price(), gradient));
    EXPECT_EQ(second,
              released(*alone(second_price(), 0.5, 3), {ReleasePath::by_itself, 3, 7, 1}, second_price(), other));
  }
}

// Mean squares of the noise on zeros against the deviations that are claimed: relative standard error √(5/n) for
// Laplace, √(2/n) for Gaussian, of n = 3000 · 6 and 3000 · 3 draws: within 6 standard errors, error rate 2e-9 or less.
TEST_P(Pair, NoiseOfAPartIsOfItsShare) {
  double first_squares = 0;
  double second_squares = 0;
  for (Round t = 0; t < 3000; ++t) {
    const ReleaseAddress address{ReleasePath::by_itself, 1, t, 0};
    first_squares += mean_square(released(pair_, address, price_, Vector(6, 0.0))) / 3000;
    second_squares += mean_square(second_released(pair_, address, price_, Vector(3, 0.0))) / 3000;
  }
  const double first = pair_.deviation(price_);
  const double second = pair_.second_deviation(price_);
  EXPECT_NEAR(first_squares / (first * first), 1, 6 * std::sqrt(5.0 / 18'000));
  EXPECT_NEAR(second_squares / (second * second), 1, 6 * std::sqrt(5.0 / 9000));
  // By hand: sensitivity 2C of the sum, divided by m: 2C/(μ₁ m) and 2C/(μ₂ m), √2 times as much for Laplace noise.
  const double unit = (gaussian_ ? 1 : std::sqrt(2.0)) * 2 / 4;
  EXPECT_NEAR(first / (2 * unit / first_price()), 1, 1e-9);
  EXPECT_NEAR(second / (0.5 * unit / second_price()), 1, 1e-9);
}

TEST_P(Pair, NobodyPaysMoreForManyReleasesThanTheyCharge) {
  for (const std::int64_t n : {1, 7, 1000}) EXPECT_EQ(pair_.accumulation().factor(n), 1);
}

TEST_P(Pair, PartsHaveDifferentNoise) {
  PairedMechanism even(GetParam(), settings_of(1), {"part", 2, 6, 0.5});
  const Vector zeros(6, 0.0);
  const Vector first = released(even, {ReleasePath::by_itself, 0, 0, 0}, 1, zeros);
  const Vector second = second_released(even, {ReleasePath::by_itself, 0, 0, 0}, 1, zeros);
  for (std::size_t j = 0; j < 6; ++j) EXPECT_NE(first[j], second[j]);
  EXPECT_EQ(even.description().find("two parts") != std::string::npos, true);
  EXPECT_TRUE(even.description().ends_with('.'));
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, Pair, testing::Values("laplace", "gaussian"));

TEST(PairedMechanism, NoneReleasesBothAsTheyAre) {
  ReleaseSettings settings = settings_of(1);
  settings.clip = std::numeric_limits<double>::infinity();
  PairedMechanism pair("none", settings, {"part", settings.clip, 2, 0.5});
  const Vector second = second_released(pair, {ReleasePath::by_itself, 0, 0, 0}, 1, {4, 8});
  EXPECT_EQ(second, (Vector{1, 2}));
  EXPECT_EQ(pair.charge(1), Charge::unbounded());
  EXPECT_EQ(pair.second_clip().kind, ClipKind::none);
}

constexpr std::size_t of_all = 600;  ///< records of a run, whose second parts are released together

PairedMechanism released_once(const std::string& name, double price, double share) {
  return {name, settings_of(price), {"part", 0.5, 3, share, 2, of_all}};
}

/// Of n releases in one pass, each with a batch of 4.
ClientLosses losses_of_releases(const Mechanism& mechanism, double price, std::int64_t n) {
  Spending spending;
  for (std::int64_t t = 0; t < n; ++t) spending.add(price, 0);
  return losses_of(spending, mechanism, 1e-5);
}

// By hand: with μ₁² = (1 − s) μ² and μ₂² = s μ², a record is in one first part and in the sum of second parts; who has
// one in each of n releases moves n first parts, each by a record's bound, and the sum by n of them; a client has 4 in
// each.
TEST(ReleasedOnce, ChargesWhoHasManyRecordsForAllOfThem) {
  const double mu = 0.6;
  for (const double share : {0.25, 2.0 / 3}) {
    const PairedMechanism pair = released_once("gaussian", mu, share);
    const double first = (1 - share) * mu * mu;
    const double second = share * mu * mu;
    for (const std::int64_t count : {1, 2, 50, 5000}) {
      const auto n = static_cast<double>(count);
      const ClientLosses losses = losses_of_releases(pair, mu, count);
      const double somebody = std::sqrt(n * first + n * n * second);
      EXPECT_NEAR(*losses.record.mu, mu, 1e-9);
      EXPECT_NEAR(*losses.one_per_batch.mu / somebody, 1, 1e-9) << count;
      EXPECT_GE(*losses.one_per_batch.mu, somebody) << count;
      EXPECT_NEAR(*losses.client.mu / (4 * somebody), 1, 1e-9) << count;
      EXPECT_GE(*losses.client.mu, 4 * somebody) << count;
      // Released with each first part, the second would cost them √n μ.
      const ClientLosses by_round = losses_of_releases(pair_of("gaussian", mu, share), mu, count);
      EXPECT_NEAR(*by_round.one_per_batch.mu, std::sqrt(n) * mu, 1e-9 * std::sqrt(n)) << count;
      EXPECT_NEAR(*by_round.client.mu, 4 * std::sqrt(n) * mu, 1e-8 * std::sqrt(n)) << count;
    }
  }
}

// Noise on a mean over all: 2C/(μ₂ N), for N = 600. n = 12,000 draws: within six standard errors √(2/n), error rate
// 2e-9.
TEST(ReleasedOnce, HasTheNoiseOfASumOverAll) {
  const double mu = 0.6;
  constexpr std::size_t d = 12'000;
  PairedMechanism pair("gaussian", settings_of(mu), {"part", 0.5, d, 0.25, 2, of_all});
  EXPECT_EQ(pair.second_batch(), of_all);
  Vector sum(d, 0.0);
  sum[0] = 50;  // 600 records of norm 0.5 may add up to this
  const Vector mean = second_released(pair, {ReleasePath::by_itself, 0, 50, 0}, mu, sum);
  double squares = 0;
  for (std::size_t j = 1; j < d; ++j) squares += mean[j] * mean[j];
  const double deviation = pair.second_deviation(mu);
  EXPECT_NEAR(deviation / (2 * 0.5 / (0.3 * of_all)), 1, 1e-9);
  EXPECT_NEAR(squares / (d - 1) / (deviation * deviation), 1, 6 * std::sqrt(2.0 / d));
  EXPECT_NEAR(mean[0], 50.0 / of_all, 6 * deviation);
  EXPECT_THAT(pair.description(), HasSubstr("released once, after the last round"));
  EXPECT_THAT(pair.description(), Not(HasSubstr("two parts")));
  // The first part is still of a batch.
  EXPECT_NEAR(pair.deviation(mu) / (2 * 2 / (std::sqrt(0.75) * mu * 4)), 1, 1e-9);
}

TEST(ReleasedOnce, IsForGaussianNoiseOrNone) {
  EXPECT_ERROR(UsageError, "Choose gaussian", released_once("laplace", 1, 0.5));
  ReleaseSettings settings = settings_of(1);
  settings.clip = std::numeric_limits<double>::infinity();
  PairedMechanism none("none", settings, {"part", settings.clip, 2, 0.5, 2, of_all});
  const Vector mean = second_released(none, {ReleasePath::by_itself, 0, 9, 0}, 1, {600, -300});
  EXPECT_EQ(mean, (Vector{1, -0.5}));
  EXPECT_EQ(none.deviation(1), 0);
  EXPECT_EQ(none.second_deviation(1), 0);
  EXPECT_EQ(none.accumulation().factor(100), 1);
  EXPECT_EQ(none.charge(1), Charge::unbounded());
}

// The first five rounds have one release together, of 20 records: who has a record in each of n rounds moves it by
// min(n, 5) of them, and each later release by one.
TEST(FirstRounds, PayForTheirOneRelease) {
  constexpr Round first = 5;
  const double mu = 0.6;
  SecondPart part{"part", 0.5, 3, 0.5, 2, first * 4};
  part.of_first_rounds = first;
  PairedMechanism pair("gaussian", settings_of(mu), part);
  for (const std::int64_t count : {1, 4, 5, 6, 100}) {
    const auto together = static_cast<double>(std::min<std::int64_t>(count, first));
    const double somebody = mu * std::sqrt(together * together + static_cast<double>(count) - together);
    const ClientLosses losses = losses_of_releases(pair, mu, count);
    EXPECT_NEAR(*losses.record.mu, mu, 1e-9);
    EXPECT_NEAR(*losses.one_per_batch.mu / somebody, 1, 1e-9) << count;
    EXPECT_GE(*losses.one_per_batch.mu, somebody) << count;
    EXPECT_NEAR(*losses.client.mu / (4 * somebody), 1, 1e-9) << count;
  }
  // Both parts have the whole price.
  EXPECT_NEAR(pair.deviation(mu) / (2 * 2 / (mu * 4)), 1, 1e-9);
  EXPECT_NEAR(pair.second_deviation(mu) / (2 * 0.5 / (mu * first * 4)), 1, 1e-9);
  EXPECT_THAT(pair.description(), HasSubstr("used in nothing else"));
}

// Releases after the first rounds cost what a chain of so many costs who has a record in each of them.
TEST(FirstRounds, ComeBeforeAChain) {
  constexpr Round first = 5;
  const double mu = 0.6;
  ReleaseSettings settings = settings_of(mu);
  settings.correlation = best_correlation(100, 1);
  SecondPart part{"part", 0.5, 3, 0.5, 2, first * 4};
  part.of_first_rounds = first;
  PairedMechanism pair("gaussian", settings, part);
  const std::unique_ptr<Mechanism> chain = mechanism_table().make("gaussian", settings);
  for (const std::int64_t count : {1, 5, 6, 100}) {
    const auto together = static_cast<double>(std::min<std::int64_t>(count, first));
    const double later = static_cast<double>(count) - together;
    const double factor = later > 0 ? chain->accumulation().factor(count - first) : 0;
    const double squares = together * together + factor * factor * later;
    EXPECT_NEAR(pair.accumulation().factor(count) / std::sqrt(squares / static_cast<double>(count)), 1, 1e-9) << count;
  }
  EXPECT_EQ(pair.charge(mu), Charge::gaussian(mu));
}

// A second part that is alone in a round has the price of the round, and later its share, and each round costs its
// price.
TEST(AloneAtFirst, HasTheWholePrice) {
  constexpr std::size_t d = 20'000;
  const double mu = 0.8;
  SecondPart part{"part", 0.5, d, 0.25};
  part.alone_in = 2;
  PairedMechanism pair("gaussian", settings_of(mu), part);
  const double alone = 2 * 0.5 / (mu * 4);
  EXPECT_NEAR(pair.deviation_alone(mu) / alone, 1, 1e-9);
  EXPECT_NEAR(pair.second_deviation(mu) / (2 * alone), 1, 1e-9);
  for (const Round t : {Round{0}, Round{1}, Round{2}}) {
    const Vector second = second_released(pair, {ReleasePath::by_itself, 0, t, 0}, mu, Vector(d));
    const double expected = t < 2 ? alone : 2 * alone;
    EXPECT_NEAR(mean_square(second) / (expected * expected), 1, 4 * std::sqrt(2.0 / d)) << t;
  }
  EXPECT_EQ(pair.charge(mu), Charge::gaussian(mu));
  EXPECT_THAT(pair.description(), HasSubstr("In the first 2 rounds there is a second part alone"));
  part.once_of = 4;
  EXPECT_THROW(PairedMechanism("gaussian", settings_of(mu), part), UsageError);
}

TEST(PairedMechanism, RefusesWhatNobodyCanAccountFor) {
  EXPECT_ERROR(UsageError, "two releases", pair_of("dissertation", 0.1, 0.5));
  EXPECT_ERROR(UsageError, "share", pair_of("laplace", 1, 1));
  EXPECT_THAT(message_of<UsageError>([] {
                ReleaseSettings settings = settings_of(1);
                settings.unit = PrivacyUnit::component;
                PairedMechanism("laplace", settings, {"part", 1, 1, 0.5});
              }),
              HasSubstr("unit component"));
}

}  // namespace starling::paired_mechanism_test
