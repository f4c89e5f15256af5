#include "privacy/accounting/spending.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "privacy/mechanism.hpp"
#include "support/testing.hpp"

namespace starling::spending_test {

std::unique_ptr<Mechanism> mechanism_of(const std::string& name, PrivacyUnit unit = PrivacyUnit::record) {
  const ReleaseSettings settings{.price = {0.125, 2}, .unit = unit, .batch = 4, .dimension = 9, .run_id = "test"};
  return mechanism_table().make(name, settings);
}

std::int64_t total(const PriceTally& tally) {
  return std::accumulate(tally.counts().begin(), tally.counts().end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
}

TEST(PriceTally, CountsByPrice) {
  PriceTally tally;
  tally.add(0.5);
  tally.add(0.25, 3);
  tally.add(0.5, 2);
  EXPECT_EQ(tally.counts(), (std::map<double, std::int64_t>{{0.25, 3}, {0.5, 3}}));
  const auto groups = tally.groups(*mechanism_of("laplace"));
  EXPECT_EQ(groups, (std::vector<ChargeGroup>{{Charge::laplace(0.25), 3}, {Charge::laplace(0.5), 3}}));
}

// However many prices there are: few are kept, none is lost, and none is made smaller.
TEST(PriceTally, MergesTowardsTheDearer) {
  PriceTally tally;
  double sum = 0;
  for (int i = 1; i <= 100000; ++i) {
    const double price = 1 + static_cast<double>(i) * 1e-5;
    tally.add(price);
    sum += price;
  }
  EXPECT_LE(tally.counts().size(), 1024U);
  EXPECT_EQ(total(tally), 100000);
  double kept = 0;
  for (const auto& [price, count] : tally.counts()) kept += price * static_cast<double>(count);
  EXPECT_GE(kept, sum * (1 - 1e-12));
  EXPECT_LE(kept, sum * 1.01);
  EXPECT_EQ(tally.counts().rbegin()->first, 2);
}

// Whoever enters two releases of a pass may enter the dearest two, whichever pass they were in.
TEST(Spending, AUnitOfSeveralUsesPaysTheDearestReleases) {
  Spending spending;
  for (const double price : {1.0, 0.5, 0.25, 0.5}) spending.add(price, 0);
  EXPECT_EQ(spending.dearest(1).counts(), (std::map<double, std::int64_t>{{1, 1}}));
  EXPECT_EQ(spending.dearest(2).counts(), (std::map<double, std::int64_t>{{0.5, 1}, {1, 1}}));
  EXPECT_EQ(spending.dearest(9).counts(), spending.all().counts());  // there are no more
  spending.add(2, 1);
  EXPECT_EQ(spending.dearest(2).counts(), (std::map<double, std::int64_t>{{0.5, 2}, {1, 1}, {2, 1}}));
  const auto mechanism = mechanism_of("laplace", PrivacyUnit::person);
  const ClientLosses losses = losses_of(spending, *mechanism, 0, std::nullopt, 2);
  EXPECT_EQ(losses.participations, 4);
  EXPECT_EQ(losses.releases, 5);
  EXPECT_DOUBLE_EQ(losses.record.epsilon, 4);
}

TEST(Spending, ARecordPaysTheDearestOfEachPass) {
  Spending spending;
  for (const auto& [price, pass] : {std::pair{1.0, 0}, {0.5, 0}, {0.25, 1}, {0.5, 1}, {0.25, 1}, {0.125, 3}}) {
    spending.add(price, pass);
  }
  EXPECT_EQ(spending.releases(), 6);
  EXPECT_EQ(spending.dearest(1).total(), 3);
  EXPECT_EQ(spending.dearest_of_passes().counts(), (std::map<double, std::int64_t>{{0.125, 1}, {0.5, 1}, {1, 1}}));
  EXPECT_EQ(total(spending.all()), 6);
}

// A list of all releases, beside what is kept of them: prices that stay or change, within passes and between, and what
// checkpoints make of it.
TEST(Spending, IsWhatAListOfReleasesComesTo) {
  std::mt19937_64 random(7);
  const auto draw = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  for (int history = 0; history < 200; ++history) {
    const int change = draw(20);  // of the price, in so many of 20 releases
    Spending spending;
    std::map<double, std::int64_t> all;
    std::map<std::int64_t, double> dearest;
    std::int64_t pass = draw(1);
    double price = 0.5;
    for (int t = draw(60); t > 0; --t) {
      if (draw(19) < change) price = 0.125 * (1 + draw(4));
      if (draw(5) == 0) pass += 1 + draw(2);
      if (draw(15) == 0) {
        spending.assume_pass(price, pass);
      } else {
        spending.add(price, pass);
        ++all[price];
      }
      dearest[pass] = std::max(dearest[pass], price);
      if (draw(9) == 0) {
        Snapshot written;
        spending.persist(written);
        Spending other;
        other.add(3, 0);
        other.add(4, 1);
        Snapshot read(written.content());
        other.persist(read);
        read.require_end();
        spending = std::move(other);
      }
    }
    std::map<double, std::int64_t> passes;
    for (const auto& [number, most] : dearest) ++passes[most];
    EXPECT_EQ(spending.all().counts(), all);
    EXPECT_EQ(spending.dearest_of_passes().counts(), passes);
    EXPECT_EQ(spending.releases(), total(spending.all()));
    EXPECT_EQ(spending.dearest(1).total(), static_cast<std::int64_t>(dearest.size()));
  }
}

TEST(ClientLosses, OfOnePassAreParallel) {
  Spending spending;
  for (int t = 0; t < 1000; ++t) spending.add(0.5, 0);
  const ClientLosses losses = losses_of(spending, *mechanism_of("laplace"), std::nullopt);
  EXPECT_EQ(losses.record.epsilon, 0.5);
  EXPECT_EQ(losses.component.epsilon, 0.5);
  EXPECT_EQ(losses.one_per_batch.epsilon, 500);
  EXPECT_EQ(losses.client.epsilon, 2000);
}

TEST(ClientLosses, AreComposedAtTheDeltaThatIsAsked) {
  Spending spending;
  for (int t = 0; t < 50; ++t) spending.add(0.125, t);
  const auto mechanism = mechanism_of("laplace");
  const ClientLosses pure = losses_of(spending, *mechanism, std::nullopt);
  const ClientLosses composed = losses_of(spending, *mechanism, 1e-5);
  EXPECT_EQ(pure.record.epsilon, 6.25);
  EXPECT_LT(composed.record.epsilon, 4);
  EXPECT_EQ(composed.record.delta, 1e-5);
}

TEST(ClientLosses, HaveNoFigureForAGroupOfApproximateCharges) {
  const ReleaseSettings settings{.price = PriceRange::of(0.1), .dimension = 2, .rounds = 50};
  const auto mechanism = mechanism_table().make("dissertation", settings);
  Spending spending;
  spending.add(0.1, 0);
  const ClientLosses losses = losses_of(spending, *mechanism, std::nullopt);
  EXPECT_DOUBLE_EQ(losses.component.epsilon, 0.1);
  EXPECT_EQ(losses.client.epsilon, std::numeric_limits<double>::infinity());
}

// Six releases of a price of 0.5, batches of four records; one release of all records at once, 0.25 for each of 20.
TEST(ClientLosses, CountASingleReleaseForAsManyRecordsAsAreInIt) {
  Spending spending;
  for (int t = 0; t < 6; ++t) spending.add(0.5, t / 3);
  const SingleRelease of_laplace{Charge::laplace(0.25), 3, 20};
  const ClientLosses pure = losses_of(spending, *mechanism_of("laplace"), std::nullopt, of_laplace);
  EXPECT_EQ(pure.record.epsilon, 2 * 0.5 + 0.25);
  EXPECT_EQ(pure.component.epsilon, 2 * 0.5 + 0.25);
  EXPECT_EQ(pure.one_per_batch.epsilon, 6 * 0.5 + 3 * 0.25);
  EXPECT_EQ(pure.client.epsilon, 6 * 4 * 0.5 + 20 * 0.25);
  const SingleRelease of_gaussian{Charge::gaussian(0.25), 3, 20};
  const ClientLosses gaussian = losses_of(spending, *mechanism_of("gaussian"), std::nullopt, of_gaussian);
  EXPECT_DOUBLE_EQ(gaussian.record.mu.value(), std::hypot(std::sqrt(2.0) * 0.5, 0.25));
  EXPECT_DOUBLE_EQ(gaussian.one_per_batch.mu.value(), std::hypot(std::sqrt(6.0) * 0.5, 3 * 0.25));
  EXPECT_DOUBLE_EQ(gaussian.client.mu.value(), std::hypot(std::sqrt(6.0) * 4 * 0.5, 20 * 0.25));
}

TEST(ClientLosses, TakeTheWorseOfEachAndTravelAsText) {
  ClientLosses a;
  a.releases = 5;
  a.record.epsilon = 1;
  a.record.mu = 0.1;
  a.record.method = "gdp";
  a.client.epsilon = std::numeric_limits<double>::infinity();
  a.client.method = "none";
  ClientLosses b;
  b.participations = 2;
  b.record.epsilon = 2;
  b.record.delta = 1e-5;
  b.record.renyi = 2.5;
  b.record.method = "pld";
  a.take_worse(b);
  const ClientLosses read = ClientLosses::parse(a.text());
  EXPECT_EQ(read.releases, 5);
  EXPECT_EQ(read.participations, 2);
  EXPECT_EQ(read.record.epsilon, 2);
  EXPECT_EQ(read.record.delta, 1e-5);
  EXPECT_FALSE(read.record.mu.has_value());
  EXPECT_EQ(read.record.renyi, 2.5);
  EXPECT_EQ(read.record.method, "pld");
  EXPECT_TRUE(std::isinf(read.client.epsilon));
}

}  // namespace starling::spending_test
