#include "run/privacy/run_prices.hpp"

#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <vector>

#include <gtest/gtest.h>

#include "core/check.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/accounting/spending.hpp"
#include "support/testing.hpp"

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
       {std::tuple{2.0, 64, 1e-6}, {0.1, 1000, 1e-5}, {5.0, 3, 1e-9}, {1.0, 1, 1e-3}}) {
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

// By hand: a total of μ is that of the histograms' μ √S, of the norms' in what features leave, and of the gradients'.
TEST(HistogramPrice, OfATotalIsTheSameHoweverManyPassesCome) {
  PrivacyOptions options = total_of("gaussian", "2", 3);
  options.feature_share = 0.1;
  const double mu = gaussian_mu(2, usual_delta);
  std::string text;
  for (const std::int64_t passes : {3, 2, 1}) {
    options.passes = passes;
    const HistogramPrices prices = histogram_prices(options, 0.01, 3, 4);
    EXPECT_NEAR(prices.features->at(3, 0), std::sqrt(0.1) * mu, 1e-12);
    EXPECT_NEAR(prices.norms->at(3, 0), std::sqrt(0.9 * 0.01) * mu, 1e-12);
    const double gradient = norm_share_of(options, 0.01, 3).of_gradients(prices_of(options, 10, 4).at(3, 0));
    EXPECT_NEAR(gradient, std::sqrt(0.9 * 0.99 / static_cast<double>(passes)) * mu, 1e-12);
    if (!text.empty()) {
      EXPECT_EQ(prices.text(options, 4, nullptr), text);
    }
    text = prices.text(options, 4, nullptr);
  }
  EXPECT_EQ(text, fmt::format("mu:features={:.12g},norms={:.12g},unit=record", std::sqrt(0.1) * mu,
                              std::sqrt(0.9 * 0.01) * mu));
}

// Squares of μ of all releases add up to that of the whole price. Only what was released before the run is in the text.
TEST(HistogramPrice, SumsOfScoresComeOffFirst) {
  PrivacyOptions options = total_of("gaussian", "2", 3);
  options.score_share = 0.05;
  options.feature_share = 0.1;
  const double mu = gaussian_mu(2, usual_delta);
  const HistogramPrices prices = histogram_prices(options, 0.01, 3, 4);
  const double gradient = norm_share_of(options, 0.01, 3).of_gradients(prices_of(options, 10, 4).at(3, 0));
  EXPECT_NEAR(prices.scores->at(3, 0), std::sqrt(0.05) * mu, 1e-12);
  EXPECT_NEAR(prices.features->at(3, 0), std::sqrt(0.95 * 0.1) * mu, 1e-12);
  const double all = std::sqrt(std::pow(prices.scores->at(3, 0), 2) + std::pow(prices.features->at(3, 0), 2) +
                               std::pow(prices.norms->at(3, 0), 2) + 3 * gradient * gradient);
  EXPECT_LE(all, mu);
  EXPECT_NEAR(all, mu, 1e-12);
  EXPECT_EQ(prices.text(options, 4, nullptr).find("score"), std::string::npos);
  options.feature_share.reset();
  EXPECT_EQ(histogram_prices(options, 0, 3, 4).text(options, 4, nullptr), "");
  options.mechanism = "laplace";
  EXPECT_THROW(static_cast<void>(prices_of(options, 10, 4)), UsageError);
}

TEST(HistogramPrice, IsRefusedWhereItIsNotWhatHistogramsHaveCost) {
  PrivacyOptions options = total_of("laplace", "2", 1);
  const auto cost = [](const PrivacyOptions& of_run, double share, std::int64_t uses) {
    return histogram_prices(of_run, share, uses, 1).text(of_run, 1, nullptr);
  };
  EXPECT_EQ(cost(options, 0.01, 4), "epsilon:norms=0.2,unit=record");
  EXPECT_EQ(cost(options, 0, 4), "");
  EXPECT_NO_THROW(check_histogram_price(options, ""));
  EXPECT_THROW(check_histogram_price(options, cost(options, 0.01, 4)), UsageError);
  options.histogram_price = cost(options, 0.01, 4);
  EXPECT_NO_THROW(check_histogram_price(options, cost(options, 0.01, 7)));
  EXPECT_THROW(check_histogram_price(options, ""), UsageError);
  EXPECT_THROW(check_histogram_price(options, cost(options, 0.02, 4)), UsageError);
  for (const auto& change : std::vector<std::function<void(PrivacyOptions&)>>{
           [](PrivacyOptions& other) { other.total_epsilon = "0.1"; },
           [](PrivacyOptions& other) { other.mechanism = "gaussian"; },
           [](PrivacyOptions& other) { other.unit = PrivacyUnit::person; }}) {
    PrivacyOptions other = options;
    change(other);
    EXPECT_THROW(check_histogram_price(other, cost(other, 0.01, 4)), UsageError);
  }
  options.mechanism = "none";  // nothing is claimed
  EXPECT_NO_THROW(check_histogram_price(options, ""));
}

TEST(HistogramPrice, OfClientsTellsWhoPaysWhat) {
  testing_support::TemporaryFolder folder;
  PrivacyOptions options;
  options.mechanism = "gaussian";
  const auto text = [&](const char* prices) {
    options.mu = "clients:" + folder.write("mu.csv", prices);
    return histogram_prices(options, 0.01, 1, 3).text(options, 3, nullptr);
  };
  const std::string first = text("0,1\n1,2\n2,3\n");
  EXPECT_THAT(first, testing::StartsWith("mu:norms=0.1/0.3/"));
  EXPECT_NE(first, text("0,1\n1,3\n2,2\n"));
  EXPECT_EQ(first, text("2,3\n1,2\n0,1\n"));
}

}  // namespace starling::run_prices_test
