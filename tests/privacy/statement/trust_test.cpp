/// What a run says of whom its clients trust.
#include "privacy/statement/trust.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

#include <gtest/gtest.h>

#include "core/check.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/mechanism/multipart_mechanism.hpp"
#include "privacy/mechanism/paper_perturbation.hpp"
#include "privacy/statement/statement.hpp"

namespace starling::trust_test {

using testing::HasSubstr;
using testing::Not;

ReleaseSettings settings_of(std::size_t batch) {
  return {.price = PriceRange::of(0.5), .batch = batch, .dimension = 6, .run_id = "hospital-7"};
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

/// Of parties with three releases a round at mu = 0.5, or without noise.
PrivacyReport vertical_report(const std::string& name, const VerticalTrust& vertical) {
  MultipartMechanism mechanism(name, settings_of(20), 3);
  mechanism.add("embedding", 1, 80);
  mechanism.add("gradient", 1, 6);
  PrivacyReport report = report_of(mechanism, name == "none" ? TrustModel::none : TrustModel::local);
  report.vectors = 3;
  report.trust.vertical = vertical;
  report.trust.vertical->in_all_parties = loss_in_clients(report.own(), vertical.holders());
  return report;
}

TEST(VerticalTrust, SaysWhatPartiesSendAndWhatItCostsWhom) {
  const PrivacyReport report = vertical_report("gaussian", {true, 4, 2, false});
  const std::string text = statement(report);
  EXPECT_TRUE(report.is_private());
  for (const char* part :
       {"each of 4 parties took part in at most 1 release(s), at most 3 vectors each, computed from its columns of a "
        "batch of at most 20 record(s)",
        "sent embeddings of these records to rank 0 and, through it, every other party, with noise; every party gets "
        "the head that rank 0 makes of them as well; whoever reads the run directory gets the parties' networks "
        "besides",
        "Its network learns from gradients with noise alone", "the 2 local step(s) of a round each as a release",
        "the columns of all 4 parties pays by all of them at most mu = 1.0000",
        "Labels are known to all clients and NOT covered by any figure", "match the ids of their records",
        "One release costs at most mu = 0.5 ", "sizes of its batches", "when messages are sent"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("may invert")));
  EXPECT_THAT(text, Not(HasSubstr("its model")));
}

TEST(VerticalTrust, CountsTheLabelsThatAReleaseProtects) {
  const PrivacyReport report = vertical_report("gaussian", {false, 3, 1, false});
  const std::string text = statement(report);
  EXPECT_THAT(text,
              HasSubstr("to rank 0, with noise, which sends each party the derivatives of the loss by its "
                        "embeddings, with noise; whoever reads the run directory gets the parties' networks besides"));
  EXPECT_THAT(text, HasSubstr("Labels are known to rank 0 alone"));
  EXPECT_THAT(text, HasSubstr("charged to the record's label"));
  EXPECT_THAT(
      text,
      HasSubstr("of all 3 parties and in the labels pays by all of them at most mu = 1.0000"));  // √4 · 0.5, rounded up
  EXPECT_THAT(text, Not(HasSubstr("NOT covered by any figure")));
  // A single party has nobody to be composed with, unless it is the labels.
  EXPECT_THAT(statement(vertical_report("gaussian", {true, 1, 1, false})), Not(HasSubstr("pays by all of them")));
  EXPECT_THAT(statement(vertical_report("gaussian", {false, 1, 1, false})), HasSubstr("mu = 0.70710"));
}

TEST(VerticalTrust, SaysPlainlyThatEmbeddingsAreUnprotected) {
  const PrivacyReport head = vertical_report("none", {false, 2, 1, false});
  EXPECT_FALSE(head.is_private());
  const std::string text = statement(head);
  EXPECT_THAT(text, HasSubstr("This run is NOT private"));
  EXPECT_THAT(text, HasSubstr("to rank 0, without noise, which sends each party the derivatives of the loss by its "
                              "embeddings, without noise. "));
  EXPECT_THAT(text, HasSubstr("functions of raw columns that nothing protects: whoever gets them, rank 0, may invert"));
  EXPECT_THAT(text, HasSubstr("The paper of this method has no protection either"));
  EXPECT_THAT(text, HasSubstr("the sign of a record's derivative is the label"));
  const std::string all = statement(vertical_report("none", {true, 2, 2, false}));
  EXPECT_THAT(all, HasSubstr("rank 0 and every other party, may invert"));
  EXPECT_THAT(all, Not(HasSubstr("sign of a record")));
  for (const std::string& each : {text, all}) {
    EXPECT_THAT(each, HasSubstr("The privacy loss of every record is unbounded"));
    EXPECT_THAT(each, Not(HasSubstr("with noise")));
    EXPECT_THAT(each, Not(HasSubstr("nobody sees more")));
    EXPECT_THAT(each, Not(HasSubstr("pays by all of them")));
  }
}

// Whatever mechanism there might be: raw columns are raw columns.
TEST(VerticalTrust, OfTheCentralBaselineProtectsNothing) {
  for (const char* name : {"none", "gaussian"}) {
    PrivacyReport report = vertical_report(name, {true, 3, 1, true});
    report.losses.claim_nothing();
    EXPECT_FALSE(report.is_private());
    EXPECT_TRUE(std::isinf(report.own().epsilon));
    EXPECT_TRUE(std::isinf(report.losses.client.epsilon));
    const std::string text = statement(report);
    EXPECT_THAT(text, HasSubstr("This run is NOT private: parties sent their raw columns to rank 0."));
    EXPECT_THAT(text, HasSubstr("each of 3 parties sent its columns of the records, in batches of at most 20, to "
                                "whoever operates rank 0, without noise"));
    EXPECT_THAT(text, HasSubstr("has the parties' columns as they are"));
    EXPECT_THAT(text, HasSubstr("The privacy loss of every record is unbounded"));
    EXPECT_THAT(text, Not(HasSubstr("embeddings")));
    EXPECT_THAT(text, Not(HasSubstr("What is protected")));
  }
}

TEST(VerticalTrust, ComposesOverParties) {
  PrivacyLoss record;
  record.mu = 0.5;
  record.delta = 1e-5;
  record.epsilon = gaussian_epsilon(0.5, 1e-5);
  const PrivacyLoss six = loss_in_clients(record, 6);
  EXPECT_NEAR(*six.mu, 0.5 * std::sqrt(6.0), 1e-9);
  EXPECT_GE(*six.mu, 0.5 * std::sqrt(6.0));
  EXPECT_NEAR(six.epsilon, compose(std::vector<ChargeGroup>{{Charge::gaussian(0.5), 6}}, 1e-5).epsilon, 1e-6);
  EXPECT_EQ(six.delta, 1e-5);
  EXPECT_EQ(*loss_in_clients(record, 1).mu, 0.5);
  record.mu.reset();
  record.epsilon = 0.25;
  EXPECT_EQ(loss_in_clients(record, 3).epsilon, 0.75);
  EXPECT_DOUBLE_EQ(loss_in_clients(record, 3).delta, 3e-5);
  record.epsilon = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isinf(loss_in_clients(record, 3).epsilon));
  EXPECT_THROW(static_cast<void>(loss_in_clients(record, 0)), UsageError);
  EXPECT_EQ((VerticalFacts{true, 3, 1, false}.holders()), 3);
  EXPECT_EQ((VerticalFacts{false, 3, 1, false}.holders()), 4);
}

TEST(PaperClaim, ComposesWhatThePaperClaims) {
  const PaperTerms terms{.epsilon = 0.8, .lambda = 0.1};
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
  const PaperTerms terms{.noise = PaperTerms::Noise::laplace, .epsilon = 0.8, .lambda = 0.1};
  EXPECT_NEAR(claim_of(terms, 10).composed.epsilon, 8, 1e-9);
  EXPECT_FALSE(claim_of(terms, 10).epsilon_by_noise);
}

TEST(PaperClaim, IsInTheStatementWithItsGaps) {
  const PaperTerms terms{.epsilon = 0.8, .lambda = 0.1};
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

}  // namespace starling::trust_test
