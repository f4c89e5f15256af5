#include <cmath>
#include <set>

#include "core/check.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/statistics.hpp"
#include "releases.hpp"
#include "support/testing.hpp"

namespace starling::gaussian_test {

using namespace testing_support;

std::unique_ptr<Mechanism> gaussian(PriceRange mu, std::size_t batch, std::size_t dimension) {
  const ReleaseSettings settings{.price = mu, .clip = 2, .batch = batch, .dimension = dimension, .run_id = "test"};
  return mechanism_table().make("gaussian", settings);
}

TEST(Gaussian, ChargesWhatIsPaidInMu) {
  const auto mechanism = gaussian({0.1, 2}, 4, 3);
  EXPECT_EQ(mechanism->charge(0.5), Charge::gaussian(0.5));
  EXPECT_EQ(mechanism->price_kind(), PriceKind::mu);
  EXPECT_EQ(mechanism->clip().kind, ClipKind::l2);
}

// The standard deviation of a component is 2C/(μ m); that of its estimate 1/√(2n) of it. Error rate 2e-4 each.
TEST(Gaussian, NoiseHasTheScaleOfReplaceOneSensitivity) {
  constexpr int rounds = 20000;
  for (const auto& [mu, batch] : {std::pair<double, std::size_t>{0.1, 1}, {1.0, 10}}) {
    const auto mechanism = gaussian(PriceRange::of(mu), batch, 5);
    std::vector<double> squares;
    for (Round t = 0; t < rounds; ++t) {
      for (const double value : released(*mechanism, {ReleasePath::by_itself, 0, t, 0}, mu, Vector(5)))
        squares.push_back(value * value);
    }
    const double expected = 2 * 2 / (mu * static_cast<double>(batch));
    EXPECT_NEAR(std::sqrt(mean(squares)) / expected, 1,
                testing_support::one_in_ten_thousand / std::sqrt(2 * 5.0 * rounds));
  }
}

// Whatever was released before at another price: the scale of one price is not left over for the next.
TEST(Gaussian, PricesMayChangeFromReleaseToRelease) {
  const auto both = gaussian({0.1, 2}, 4, 3);
  const Vector sum{1, -1, 0.5};
  const Vector cheap = released(*both, {ReleasePath::by_itself, 2, 7, 0}, 0.1, sum);
  const Vector dear = released(*both, {ReleasePath::by_itself, 2, 7, 0}, 2, sum);
  EXPECT_EQ(released(*both, {ReleasePath::by_itself, 2, 7, 0}, 0.1, sum), cheap);
  EXPECT_EQ(released(*gaussian({0.1, 2}, 4, 3), {ReleasePath::by_itself, 2, 7, 0}, 2, sum), dear);
  EXPECT_NE(cheap, dear);
}

TEST(Gaussian, EveryAddressAndSumHasItsOwnNoise) {
  const auto mechanism = gaussian(PriceRange::of(1), 4, 3);
  std::set<double> seen;
  const auto keep = [&](const ReleaseAddress& address, const Vector& sum) {
    for (const double value : released(*mechanism, address, 1, sum)) seen.insert(value);
  };
  keep({ReleasePath::by_itself, 2, 7, 0}, Vector(3));
  keep({ReleasePath::by_itself, 3, 7, 0}, Vector(3));
  keep({ReleasePath::by_itself, 2, 8, 0}, Vector(3));
  keep({ReleasePath::by_itself, 2, 7, 1}, Vector(3));
  keep({ReleasePath::by_itself, 2, 7, 0}, Vector{0x1p-38, 0, 0});
  EXPECT_EQ(seen.size(), 15U);
}

TEST(Gaussian, RefusesPricesThatItCannotDraw) {
  for (const double mu : {1e-6, 1e12}) {
    const std::string message = message_of<UsageError>([&] { gaussian(PriceRange::of(mu), 1, 1); });
    EXPECT_THAT(message, HasSubstr(fmt::format("mu={}", mu)));
  }
  const auto mechanism = gaussian({0.5, 1}, 1, 1);
  EXPECT_THROW(released(*mechanism, {}, 2, Vector(1)), FailureError);
}

}  // namespace starling::gaussian_test
