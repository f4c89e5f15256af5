// Noise of parties and dealer on shared sums: its size, its price, and what colluding parties leave of it.
#include "privacy/shares/shared_gaussian.hpp"

#include <cmath>

#include "support/testing.hpp"

namespace starling::shared_gaussian_test {

constexpr double mu = 0.25;

SharedSumTerms terms_of(std::int64_t parties) {
  SharedSumTerms terms;
  terms.most_slope = std::int64_t{1} << 20;
  terms.row_bound = 3 * std::ldexp(1.0, 20);
  terms.step = std::ldexp(1.0, -40);
  terms.records = 1000;
  terms.parties = parties;
  return terms;
}

ReleaseSettings settings_of(std::size_t dimension) {
  return {.price = PriceRange::of(mu), .clip = 3, .batch = 1000, .dimension = dimension, .run_id = "shared"};
}

class Parties : public testing::TestWithParam<std::int64_t> {};

/// Variance of the noise of all but one of those who draw: Σ² = (2 S R/μ)². At four standard errors (two-sided 6e-5).
TEST_P(Parties, LeaveTheWholeNoiseWithoutOneOfThem) {
  constexpr std::size_t d = 50'000;
  SharedGaussian mechanism(settings_of(d), terms_of(GetParam()));
  std::vector<Word> total(d);
  for (Client u = 1; u <= static_cast<Client>(GetParam()); ++u) {  // not the dealer
    std::vector<Word> share(d, Word{1} << 63);                     // words are not in the range of noise
    mechanism.add_noise({ReleasePath::by_itself, u, 0, 0}, mu, NoiseKey::from_seed(2, u), share);
    for (std::size_t j = 0; j < d; ++j) total[j] += share[j] - (Word{1} << 63);
  }
  const double whole = 2 * 3 / mu / 1000;
  const Vector opened = mechanism.open(total).value();
  double squares = 0;
  for (const double x : opened) squares += x * x;
  const double variance = squares / d;
  EXPECT_NEAR(variance / whole / whole, 1, 4 * std::sqrt(2.0 / d));
  const double all = mechanism.deviation(mu);
  EXPECT_NEAR(all * all / whole / whole, (static_cast<double>(GetParam()) + 1) / static_cast<double>(GetParam()), 1e-5);
}
INSTANTIATE_TEST_SUITE_P(Counts, Parties, testing::Values(2, 3, 6));

TEST(SharedGaussian, IsTheSameForTheSameShareAlone) {
  SharedGaussian mechanism(settings_of(4), terms_of(2));
  const ReleaseAddress address{ReleasePath::by_itself, 1, 3, 0};
  const auto noisy = [&](Word word) {
    std::vector<Word> share(4, word);
    mechanism.add_noise(address, mu, NoiseKey::from_seed(2, 1), share);
    for (Word& each : share) each -= word;
    return share;
  };
  EXPECT_EQ(noisy(5), noisy(5));
  EXPECT_NE(noisy(5), noisy(6));
}

TEST(SharedGaussian, CostsWhatItSays) {
  const SharedGaussian mechanism(settings_of(4), terms_of(2));
  EXPECT_EQ(mechanism.charge(mu).mu, mu);
  EXPECT_EQ(mechanism.charge(mu).kind, ChargeKind::gaussian);
  EXPECT_THAT(mechanism.description(), testing::HasSubstr("each of 2 parties and the dealer"));
  SharedSumTerms open = terms_of(2);
  open.noisy = false;
  SharedGaussian bare(settings_of(4), open);
  EXPECT_EQ(bare.price_kind(), PriceKind::none);
  std::vector<Word> share{1, 2, 3, 4};
  bare.add_noise({ReleasePath::by_itself, 1, 0, 0}, 1, NoiseKey::from_seed(2, 1), share);
  EXPECT_EQ(share, (std::vector<Word>{1, 2, 3, 4}));
}

TEST(SharedGaussian, RefusesWhatCannotBeProved) {
  SharedSumTerms large = terms_of(2);
  large.records = std::int64_t{1} << 30;
  EXPECT_ERROR(UsageError, "do not fit into 64-bit integers", SharedGaussian(settings_of(4), large));
  ReleaseSettings tiny = settings_of(4);
  tiny.price = PriceRange::of(1e-6);
  EXPECT_ERROR(UsageError, "Choose a larger price", SharedGaussian(tiny, terms_of(2)));
  EXPECT_ERROR(UsageError, "two or more", SharedGaussian(settings_of(4), terms_of(1)));
}

TEST(SharedGaussian, CollusionTakesSharesAway) {
  EXPECT_NEAR(loss_by_collusion(2, 1), 1, 1e-11);
  EXPECT_NEAR(loss_by_collusion(2, 2), std::sqrt(2), 1e-11);
  EXPECT_NEAR(loss_by_collusion(5, 3), std::sqrt(5.0 / 3), 1e-11);
  EXPECT_TRUE(std::isinf(loss_by_collusion(2, 3)));
}

}  // namespace starling::shared_gaussian_test
