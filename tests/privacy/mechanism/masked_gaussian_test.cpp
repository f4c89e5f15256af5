/// Shares that only together say something, and then as much as one release at the aggregator.
#include "privacy/mechanism/masked_gaussian.hpp"

#include <cmath>

#include "core/check.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/noise/grid.hpp"
#include "privacy/statistics.hpp"
#include "releases.hpp"
#include "support/testing.hpp"

namespace starling::masked_gaussian_test {

using namespace testing_support;

constexpr double mu = 0.5;

ReleaseSettings settings_of(std::size_t batch, std::size_t dimension) {
  return {.price = PriceRange::of(mu), .clip = 2, .batch = batch, .dimension = dimension, .run_id = "masked"};
}

/// All clients of a run.
struct Clients {
  explicit Clients(std::size_t count) {
    std::vector<MaskKey> secret;
    std::vector<MaskKey::Bytes> shown;
    for (std::size_t u = 0; u < count; ++u) {
      keys.push_back(NoiseKey::from_seed(3, static_cast<Client>(u)));
      secret.push_back(MaskKey::derived(keys.back(), "masked"));
      shown.push_back(secret.back().public_key());
    }
    for (std::size_t u = 0; u < count; ++u) maskers.emplace_back(secret[u], static_cast<Client>(u), shown, "masked");
  }

  Masked share(MaskedGaussian& mechanism, std::size_t u, Round round, const Vector& sum) {
    return mechanism.contribute({ReleasePath::by_itself, static_cast<Client>(u), round, 0}, mu, keys[u], maskers[u],
                                Secret<Vector>(sum));
  }
  /// What the aggregator reads.
  Vector opened(MaskedGaussian& mechanism, Round round, const Vector& sum) {
    std::vector<std::uint64_t> total(sum.size());
    for (std::size_t u = 0; u < keys.size(); ++u) {
      const Masked each = share(mechanism, u, round, sum);
      for (std::size_t j = 0; j < total.size(); ++j) total[j] += each.words()[j];
    }
    return mechanism.open(mu, total).value();
  }

  std::vector<NoiseKey> keys;
  std::vector<Masker> maskers;
};

class Shares : public testing::TestWithParam<std::size_t> {};

/// Mean and variance of the noise of an opened sum: at four standard errors each (two-sided error 6e-5).
TEST_P(Shares, SumHasTheNoiseOfOneRelease) {
  constexpr std::size_t d = 100'000;
  const std::size_t clients_count = GetParam();
  MaskedGaussian mechanism(settings_of(4, d), static_cast<std::int64_t>(clients_count));
  Clients clients(clients_count);
  const Vector each(d, 0.01);
  const Vector sum = clients.opened(mechanism, 0, each);
  double mean = 0;
  double square = 0;
  for (const double value : sum) {
    const double noise = value - 0.01 * static_cast<double>(clients_count);
    mean += noise / d;
    square += noise * noise / d;
  }
  const double deviation = 2 * 2 / mu;  // 2 C/μ, as of a Gaussian release of a sum
  EXPECT_NEAR(mechanism.deviation(mu), deviation, deviation * 0x1p-19);
  EXPECT_GT(mechanism.deviation(mu), deviation);
  EXPECT_NEAR(mean, 0, 4 * deviation / std::sqrt(double{d}));
  EXPECT_NEAR(square, deviation * deviation, 4 * deviation * deviation * std::sqrt(2.0 / d));
}

/// The central release of the same sum, at the same μ, has the same variance: F-test's statistic ln(s₁²/s₂²), at four
/// standard errors (two-sided error 6e-5).
TEST_P(Shares, AreAsAccurateAsTheCentralRelease) {
  constexpr std::size_t d = 100'000;
  const std::size_t count = GetParam();
  MaskedGaussian masked(settings_of(4, d), static_cast<std::int64_t>(count));
  const auto central = mechanism_table().make("gaussian", settings_of(4 * count, d));
  Clients clients(count);
  const Vector opened = clients.opened(masked, 7, Vector(d, 0.0));
  const Vector mean = released(*central, {ReleasePath::by_itself, 0, 7, 0}, mu, Vector(d, 0.0));
  const double of_central = mean_square(mean) * std::pow(4 * static_cast<double>(count), 2);
  EXPECT_NEAR(std::log(mean_square(opened) / of_central), 0, 4 * std::sqrt(4.0 / d));
}

INSTANTIATE_TEST_SUITE_P(Clients, Shares, testing::Values(1, 2, 7));

/// A colluding client takes off its own share and leaves its masks: half of the noise's variance is left.
TEST(MaskedGaussian, ColludersTakeOffTheirOwnNoiseOnly) {
  constexpr std::size_t d = 50'000;
  MaskedGaussian mechanism(settings_of(1, d), 2);
  Clients clients(2);
  const Vector zero(d, 0.0);
  const Masked honest = clients.share(mechanism, 0, 0, zero);
  std::vector<std::uint64_t> words = honest.words();
  clients.maskers[1].mask(0, 0, words);  // the colluding client's masks alone
  const double variance = std::pow(2 * 2 / mu, 2) / 2;
  EXPECT_NEAR(mean_square(mechanism.open(mu, words).value()), variance,
              4 * variance * std::sqrt(2.0 / d));  // two-sided error 6e-5
}

TEST(MaskedGaussian, AReplayedRoundOpensTheSame) {
  MaskedGaussian mechanism(settings_of(4, 8), 3);
  Clients clients(3);
  const Vector sum(8, 0.25);
  EXPECT_EQ(clients.opened(mechanism, 2, sum), clients.opened(mechanism, 2, sum));
  EXPECT_NE(clients.opened(mechanism, 2, sum), clients.opened(mechanism, 3, sum));
}

TEST(MaskedGaussian, OneShareMissingOpensNothing) {
  MaskedGaussian mechanism(settings_of(4, 64), 3);
  Clients clients(3);
  const Vector zero(64, 0.0);
  std::vector<std::uint64_t> total(64);
  for (const std::size_t u : {0U, 1U}) {
    const Masked each = clients.share(mechanism, u, 0, zero);
    for (std::size_t j = 0; j < total.size(); ++j) total[j] += each.words()[j];
  }
  // Uniform words of 64 bits: all within 2^45 steps (thirteen deviations) has probability 2^-18 for each of them.
  const Vector opened = mechanism.open(mu, total).value();
  const double far = 0x1p45 * mechanism.step(mu);
  int near = 0;
  for (const double value : opened) near += std::abs(value) < far ? 1 : 0;
  EXPECT_EQ(near, 0);
}

TEST(MaskedGaussian, ChargesItsPrice) {
  const MaskedGaussian mechanism(settings_of(4, 3), 4);
  EXPECT_EQ(mechanism.charge(mu), Charge::gaussian(mu));
  EXPECT_EQ(mechanism.price_kind(), PriceKind::mu);
  EXPECT_EQ(mechanism.clip().kind, ClipKind::l2);
  EXPECT_LT(mechanism.clip().bound, 2);
}

TEST(MaskedGaussian, RefusesWhatCannotBeProved) {
  EXPECT_THROW(MaskedGaussian(settings_of(1 << 12, 3), 1 << 10), UsageError);  // 2^22 records of 2^40
  EXPECT_NO_THROW(MaskedGaussian(settings_of(1 << 11, 3), 1 << 10));
  EXPECT_THROW(MaskedGaussian(settings_of(4, 3), 0), UsageError);
  ReleaseSettings coarse = settings_of(1, 1 << 20);
  coarse.price = PriceRange::of(0x1p30);  // s = 2^10: in so many dimensions it shows that shares are integers
  EXPECT_THAT(message_of([&] { MaskedGaussian(coarse, 4); }), HasSubstr("too coarse"));
  coarse.price = PriceRange::of(0x1p38);
  EXPECT_THAT(message_of([&] { MaskedGaussian(coarse, 4); }), HasSubstr("can be drawn for"));
  coarse.price = PriceRange::of(1e-6);
  EXPECT_THAT(message_of([&] { MaskedGaussian(coarse, 4); }), HasSubstr("can be drawn for"));
}

TEST(MaskedGaussian, RefusesSumsBeyondTheClip) {
  MaskedGaussian mechanism(settings_of(2, 2), 2);
  Clients clients(2);
  EXPECT_THROW((void)clients.share(mechanism, 0, 0, {4.1, 0}), DataError);
  EXPECT_THROW((void)clients.share(mechanism, 0, 0, {NAN, 0}), DataError);
  EXPECT_THROW((void)clients.share(mechanism, 0, 0, {1, 0, 0}), DataError);
}

}  // namespace starling::masked_gaussian_test
