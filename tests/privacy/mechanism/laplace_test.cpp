#include <algorithm>
#include <cmath>
#include <set>

#include "privacy/mechanism.hpp"
#include "privacy/noise/grid.hpp"
#include "privacy/statistics.hpp"
#include "releases.hpp"
#include "support/testing.hpp"

namespace starling::laplace_test {

ReleaseSettings settings_of(double epsilon, std::size_t batch, std::size_t dimension) {
  return {.price = PriceRange::of(epsilon), .batch = batch, .dimension = dimension, .run_id = "test"};
}

/// One release of a client with a fixed key.
Vector release(Mechanism& mechanism, const ReleaseAddress& address, const Vector& sum,
               const NoiseKey& key = NoiseKey::from_seed(1, 1)) {
  return testing_support::released(mechanism, address, mechanism.settings().price.least, sum, key);
}

/// Size of an integer of a release: the clip is 1.
double step_of(const Mechanism& mechanism) {
  return 1 / static_cast<double>(laplace_reach(mechanism.settings().price.least));
}

/// The integers (sum and noise) behind a released vector.
std::vector<std::int64_t> integers_of(const Vector& released, const Mechanism& mechanism) {
  const double step = step_of(mechanism);
  const auto batch = static_cast<double>(mechanism.settings().batch);
  std::vector<std::int64_t> result;
  for (const double value : released) result.push_back(std::llround(value * batch / step));
  return result;
}

/// How many components two vectors share.
std::size_t shared_components(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::size_t count = 0;
  for (std::size_t j = 0; j < a.size(); ++j) count += a[j] == b[j] ? 1 : 0;
  return count;
}

TEST(Laplace, ChargesWhatItsIntegersGive) {
  EXPECT_EQ(mechanism_table().make("laplace", settings_of(1, 1, 5))->charge(1).epsilon, 1);
  EXPECT_EQ(mechanism_table().make("laplace", settings_of(0.5, 8, 5))->charge(0.5).epsilon, 0.5);
  const Charge charge = mechanism_table().make("laplace", settings_of(0.1, 8, 5))->charge(0.1);
  EXPECT_EQ(charge.epsilon, 2 * 54975581388.0 / 0x1p40);
  EXPECT_LE(charge.epsilon, 0.1);
  EXPECT_EQ(charge.kind, ChargeKind::laplace);
}

// Mean |noise| is 2C/(ε m), with standard error 1/√n of it; error rate 2e-4 each.
TEST(Laplace, NoiseHasTheScaleOfReplaceOneSensitivity) {
  constexpr int rounds = 20000;
  for (const auto& [epsilon, batch] : {std::pair<double, std::size_t>{0.1, 1}, {1.0, 10}}) {
    const auto mechanism = mechanism_table().make("laplace", settings_of(epsilon, batch, 5));
    std::vector<double> sizes;
    for (Round t = 0; t < rounds; ++t) {
      for (const double value : release(*mechanism, {ReleasePath::by_itself, 0, t, 0}, Vector(5)))
        sizes.push_back(std::abs(value));
    }
    const double expected = 2 / (mechanism->charge(epsilon).epsilon * static_cast<double>(batch));
    EXPECT_NEAR(testing_support::mean(sizes) / expected, 1,
                testing_support::one_in_ten_thousand / std::sqrt(5.0 * rounds));
  }
}

// Error rate 2e-4 for each component.
TEST(Laplace, IsCentredOnTheMeanGradient) {
  constexpr int rounds = 20000;
  const auto mechanism = mechanism_table().make("laplace", settings_of(2, 4, 3));
  const Vector sum{1.5, -0.75, 0};
  Vector total(3);
  for (Round t = 0; t < rounds; ++t) {
    const Vector released = release(*mechanism, {ReleasePath::by_itself, 0, t, 0}, sum);
    for (std::size_t j = 0; j < 3; ++j) total[j] += released[j] / rounds;
  }
  const double noise = std::sqrt(2.0) * 2 / (2 * 4);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(total[j], sum[j] / 4, testing_support::one_in_ten_thousand * noise / std::sqrt(1.0 * rounds));
  }
}

TEST(Laplace, SameDataGiveTheSameBytesAgain) {
  const auto first = mechanism_table().make("laplace", settings_of(0.1, 4, 5));
  const auto second = mechanism_table().make("laplace", settings_of(0.1, 4, 5));
  const Vector sum{0.1, 0.2, -0.3, 0.4, 0.5};
  const Vector released = release(*first, {ReleasePath::by_itself, 2, 9, 0}, sum);
  release(*second, {ReleasePath::by_itself, 2, 8, 0}, sum);  // what was released before does not matter
  EXPECT_EQ(release(*second, {ReleasePath::by_itself, 2, 9, 0}, sum), released);
}

// Two noises agree in a component with probability below 2^-40.
TEST(Laplace, OneDifferentIntegerChangesAllTheNoise) {
  const auto mechanism = mechanism_table().make("laplace", settings_of(0.1, 4, 100));
  const double step = step_of(*mechanism);
  Vector sum(100);
  const auto before = integers_of(release(*mechanism, {ReleasePath::by_itself, 2, 9, 0}, sum), *mechanism);
  sum[50] = step;  // the next integer
  EXPECT_EQ(
      shared_components(before, integers_of(release(*mechanism, {ReleasePath::by_itself, 2, 9, 0}, sum), *mechanism)),
      0U);
  sum[50] = step / 4;  // the same integer: the same data as far as anybody can see
  EXPECT_EQ(
      shared_components(before, integers_of(release(*mechanism, {ReleasePath::by_itself, 2, 9, 0}, sum), *mechanism)),
      100U);
}

TEST(Laplace, EveryAddressRunAndKeyHasItsOwnNoise) {
  const auto mechanism = mechanism_table().make("laplace", settings_of(0.1, 4, 5));
  ReleaseSettings other = settings_of(0.1, 4, 5);
  other.run_id = "another";
  const auto elsewhere = mechanism_table().make("laplace", other);
  const auto coarser = mechanism_table().make("laplace", settings_of(0.2, 4, 5));
  const Vector sum(5);
  std::set<std::int64_t> seen;
  const auto keep = [&](const Mechanism& of, const Vector& released) {
    for (const std::int64_t q : integers_of(released, of)) seen.insert(q);
  };
  keep(*mechanism, release(*mechanism, {ReleasePath::by_itself, 2, 9, 0}, sum));
  keep(*mechanism, release(*mechanism, {ReleasePath::by_itself, 3, 9, 0}, sum));
  keep(*mechanism, release(*mechanism, {ReleasePath::by_itself, 2, 10, 0}, sum));
  keep(*mechanism, release(*mechanism, {ReleasePath::by_itself, 2, 9, 1}, sum));
  keep(*mechanism, release(*mechanism, {ReleasePath::by_itself, 2, 9, 0}, sum, NoiseKey::from_seed(1, 2)));
  keep(*elsewhere, release(*elsewhere, {ReleasePath::by_itself, 2, 9, 0}, sum));
  keep(*coarser, release(*coarser, {ReleasePath::by_itself, 2, 9, 0}, sum));
  EXPECT_EQ(seen.size(), 35U);
}

}  // namespace starling::laplace_test
