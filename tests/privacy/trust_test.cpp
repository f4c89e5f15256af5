/// What a run says of whom its clients trust.
#include "starling/privacy/trust.hpp"

#include <cmath>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "starling/privacy/statement.hpp"

namespace starling {
namespace {

using testing::HasSubstr;
using testing::Not;

ReleaseSettings settings_of(std::size_t batch) {
  ReleaseSettings settings;
  settings.price = PriceRange::of(0.5);
  settings.batch = batch;
  settings.dimension = 6;
  settings.run_id = "hospital-7";
  return settings;
}

PaperClaim claim_of(const PaperTerms& terms, std::int64_t releases) {
  return paper_claim(PaperPerturbation(settings_of(20), terms), 200, releases);
}

PrivacyReport report_of(const Protection& mechanism, TrustModel model) {
  Spending spending;
  spending.add(0.5, 0);
  PrivacyReport report = privacy_report(mechanism, "gaussian", NoiseKeyPolicy::random,
                                        losses_of(spending, mechanism, std::nullopt), 4, std::nullopt);
  report.trust.aggregated = true;
  report.trust.model = model;
  return report;
}

TEST(Trust, NamesWhoSeesNumbersWithoutNoise) {
  const auto mechanism = mechanism_table().make("gaussian", settings_of(20));
  const std::string local = statement(report_of(*mechanism, TrustModel::local));
  EXPECT_THAT(local, HasSubstr("to rank 0 with noise"));
  EXPECT_THAT(local, Not(HasSubstr("NOT hold")));
  const std::string central = statement(report_of(*mechanism, TrustModel::central));
  EXPECT_THAT(central, HasSubstr("whoever operates rank 0, without noise"));
  EXPECT_THAT(central, HasSubstr("They do NOT hold against whoever operates rank 0"));
  PrivacyReport masked = report_of(*mechanism, TrustModel::masked);
  masked.trust.collusion = collusions(masked.own(), 4, 1);
  EXPECT_THAT(statement(masked), HasSubstr("it can read the noisy sum over all clients and nothing else"));
  EXPECT_THAT(statement(masked), HasSubstr("that of 2 client(s) a record pays at most mu = 0.70710"));
}

// Sums of curvatures that rank 0 is entrusted with, beside gradients that are noised before they leave.
TEST(Trust, WithCurvaturesIsTrustOfRank0InTheirSums) {
  const auto mechanism = mechanism_table().make("gaussian", settings_of(20));
  const std::string text = statement(report_of(*mechanism, TrustModel::curvature));
  EXPECT_THAT(text, HasSubstr("to rank 0 with noise, and after the last round sums of curvatures without noise to "
                              "whoever operates rank 0"));
  EXPECT_THAT(text, HasSubstr("what it makes of the latter with noise"));
  EXPECT_THAT(text, HasSubstr("They do NOT hold against whoever operates rank 0, or reads its memory"));
  EXPECT_THAT(text, Not(HasSubstr("nobody sees more")));
  EXPECT_STREQ(name_of(TrustModel::curvature), "central-curvature");
  // Without an aggregator nobody is entrusted with anything.
  PrivacyReport mixing = report_of(*mechanism, TrustModel::curvature);
  mixing.trust.aggregated = false;
  EXPECT_EQ(statement_of(mixing.trust), "");
  EXPECT_THAT(recipients_of(mixing.trust), HasSubstr("neighbours"));
}

TEST(Trust, OneReleaseOfAllClientsHoldsAClientsShareOfItsRecords) {
  ReleaseSettings central = settings_of(80);
  central.clients = 4;
  const auto of_all = mechanism_table().make("gaussian", central);
  const auto alone = mechanism_table().make("gaussian", settings_of(20));
  const PrivacyReport report = report_of(*of_all, TrustModel::central);
  EXPECT_EQ(report.batch, 20U);
  EXPECT_EQ(report.losses.client.epsilon, report_of(*alone, TrustModel::local).losses.client.epsilon);
}

TEST(Trust, CollusionCountsTheSharesThatAreLeft) {
  PrivacyLoss record;
  record.mu = 0.5;
  record.delta = 1e-5;
  record.epsilon = gaussian_epsilon(0.5, 1e-5);
  const std::vector<Collusion> ten = collusions(record, 10, 3);
  ASSERT_EQ(ten.size(), 4U);
  EXPECT_EQ(ten[0].clients, 0);
  EXPECT_EQ(ten[0].record.epsilon, record.epsilon);
  EXPECT_EQ(ten[1].clients, 1);
  EXPECT_NEAR(*ten[1].record.mu, 0.5 * std::sqrt(10.0 / 9), 1e-9);
  EXPECT_EQ(ten[2].clients, 3);  // of rank 0
  EXPECT_NEAR(*ten[2].record.mu, 0.5 * std::sqrt(10.0 / 7), 1e-9);
  EXPECT_EQ(ten[3].clients, 5);
  EXPECT_NEAR(ten[3].record.epsilon, gaussian_epsilon(0.5 * std::sqrt(2.0), 1e-5), 1e-6);
  // Two clients: one of them is half. One client: it alone, who knows its own records.
  EXPECT_EQ(collusions(record, 2, 1).size(), 2U);
  EXPECT_TRUE(std::isinf(collusions(record, 1, 1).back().record.epsilon));
}

TEST(PaperClaim, ComposesWhatThePaperClaims) {
  PaperTerms terms;
  terms.epsilon = 0.8;
  terms.lambda = 0.1;
  const PaperClaim once = claim_of(terms, 1);
  EXPECT_NEAR(once.composed.epsilon, 0.8, 1e-3);
  EXPECT_EQ(once.unmet, 0);
  const PaperClaim hundred = claim_of(terms, 100);
  EXPECT_DOUBLE_EQ(hundred.composed.delta, 2e-3);
  EXPECT_GT(hundred.composed.epsilon, 20);
  EXPECT_LT(hundred.composed.epsilon, 80);
  // By the noise: mu = 2/24.2 for each release, ten times that for all, and Σ 2 ln(1 + 0.2/j), j = 1 … 100.
  double determinants = 0;
  for (int j = 1; j <= 100; ++j) determinants += 2 * std::log1p(0.2 / j);
  EXPECT_NEAR(*hundred.epsilon_by_noise, gaussian_epsilon(10 * 2 / 24.19923, 1e-5) + determinants, 1e-4);
}

TEST(PaperClaim, SaysNothingWhereDeltasAddUpToHalf) {
  const PaperClaim many = claim_of(PaperTerms(), 30'000);
  EXPECT_TRUE(std::isinf(many.composed.epsilon));
  EXPECT_TRUE(std::isinf(*many.epsilon_by_noise));  // lambda = rho = 0: no bound on the determinants
  EXPECT_EQ(many.unmet, 30'000);
}

TEST(PaperClaim, OfLaplaceNoiseAddsUp) {
  PaperTerms terms;
  terms.noise = PaperTerms::Noise::laplace;
  terms.epsilon = 0.8;
  terms.lambda = 0.1;
  EXPECT_NEAR(claim_of(terms, 10).composed.epsilon, 8, 1e-9);
  EXPECT_FALSE(claim_of(terms, 10).epsilon_by_noise);
}

TEST(PaperClaim, IsInTheStatementWithItsGaps) {
  PaperTerms terms;
  terms.epsilon = 0.8;
  terms.lambda = 0.1;
  const PaperPerturbation mechanism(settings_of(20), terms);
  PrivacyReport report = report_of(mechanism, TrustModel::paper);
  report.trust.paper = paper_claim(mechanism, 200, 100);
  const std::string text = statement(report);
  EXPECT_FALSE(report.is_private());
  EXPECT_THAT(text, HasSubstr("NOT private by any figure that starling can prove"));
  EXPECT_THAT(text, HasSubstr("gradients and curvatures alike, without noise"));
  EXPECT_THAT(text, HasSubstr("a record stays in the curvature behind every later model"));
  EXPECT_THAT(text, HasSubstr("which nothing enforces"));
  EXPECT_THAT(text, HasSubstr("The privacy loss of every record is unbounded"));
}

}  // namespace
}  // namespace starling
