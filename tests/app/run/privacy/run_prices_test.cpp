#include "app/run/privacy/run_prices.hpp"

#include <gtest/gtest.h>

#include "starling/privacy/accounting/accounting.hpp"
#include "starling/privacy/accounting/spending.hpp"

namespace starling::run_prices_test {

PrivacyOptions total_of(const std::string& mechanism, const std::string& total, std::int64_t passes) {
  PrivacyOptions options;
  options.mechanism = mechanism;
  options.total_epsilon = total;
  options.passes = passes;
  options.adds_plainly = false;
  return options;
}

/// That of all releases at the price.
double total_at(const Charge& charge, std::int64_t passes, double delta) {
  return compose(std::vector<ChargeGroup>{{charge, passes}}, delta).epsilon;
}

TEST(TotalPrice, OfPureReleasesIsDivided) {
  const PrivacyOptions options = total_of("laplace", "2", 8);
  const double price = prices_of(options, 100, 1).at(0, 7);
  EXPECT_NEAR(price, 0.25, 1e-12);
  EXPECT_LE(8 * price, 2);
}

TEST(TotalPrice, IsAsLargeAsTheAccountantAllows) {
  for (const auto& [total, passes, delta] :
       {std::tuple{2.0, 64, 1e-6}, {0.1, 1000, 1e-5}, {5.0, 3, 1e-9}, {1.0, 1, 1e-3}, {20.0, 500, 1e-6}}) {
    PrivacyOptions options = total_of("laplace", std::to_string(total), passes);
    options.delta = delta;
    const double price = prices_of(options, 10, 1).at(0, 0);
    const double sum = total_at(Charge::laplace(price), passes, delta);
    EXPECT_LE(sum, total) << passes;
    EXPECT_GE(sum, total * (1 - 1e-6)) << passes;
    EXPECT_GE(price * static_cast<double>(passes), total * (1 - 1e-6)) << passes;
  }
}

TEST(TotalPrice, OfGaussianReleasesAddsInSquaresWhateverARoundHolds) {
  const PrivacyOptions options = total_of("gaussian", "3", 16);
  const double price = prices_of(options, 10, 1, 1.7).at(0, 0);  // a total is that of all parts of a round
  const double sum = total_at(Charge::gaussian(price), 16, usual_delta);
  EXPECT_LE(sum, 3);
  EXPECT_NEAR(sum, 3, 1e-9);
}

TEST(TotalPrice, LeavesRoomWhereAHistogramSharesIt) {
  PrivacyOptions options = total_of("laplace", "2", 4);
  options.delta = 1e-6;
  options.adds_plainly = true;
  EXPECT_NEAR(prices_of(options, 10, 1).at(0, 0), 0.5, 1e-12);
}

}  // namespace starling::run_prices_test
