#include "privacy/statement/statement.hpp"

#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "privacy/mechanism.hpp"
#include "support/testing.hpp"

namespace starling::statement_test {

using namespace testing_support;

/// 50 releases in two passes, at one price.
ClientLosses losses_by(const Mechanism& mechanism) {
  Spending spending;
  for (int t = 0; t < 50; ++t) spending.add(0.5, t / 25);
  return losses_of(spending, mechanism, std::nullopt);
}

PrivacyReport report_of(const std::string& mechanism, NoiseKeyPolicy policy = NoiseKeyPolicy::random,
                        PrivacyUnit unit = PrivacyUnit::record) {
  const ReleaseSettings settings{
      .price = PriceRange::of(0.5), .unit = unit, .batch = 4, .dimension = 6, .rounds = 50, .run_id = "hospital-7"};
  const auto made = mechanism_table().make(mechanism, settings);
  return privacy_report(*made, mechanism, policy, losses_by(*made), 3, std::nullopt);
}

testing::AssertionResult says(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is missing in: " << text;
}

TEST(PrivacyReport, ComposesLossesByWhatTheyAreLossesOf) {
  const PrivacyReport report = report_of("laplace");
  EXPECT_EQ(report.release.epsilon, 0.5);
  EXPECT_EQ(report.own().epsilon, 1);                  // two participations
  EXPECT_EQ(report.losses.component.epsilon, 1);       // no more than its record
  EXPECT_EQ(report.losses.one_per_batch.epsilon, 25);  // 50 releases
  EXPECT_EQ(report.losses.client.epsilon, 100);        // four records in each
  EXPECT_EQ(report.own().delta, 0);
  EXPECT_EQ(report.own().method, "pure");
  EXPECT_TRUE(report.is_private());
}

TEST(PrivacyReport, CountsARecordAsItsComponents) {
  const PrivacyReport report = report_of("laplace", NoiseKeyPolicy::random, PrivacyUnit::component);
  EXPECT_EQ(report.own().epsilon, 1);
  EXPECT_EQ(report.losses.record.epsilon, 6);
  EXPECT_EQ(report.losses.client.epsilon, 600);
}

TEST(PrivacyReport, AddsDeltas) {
  const PrivacyReport report = report_of("dissertation");
  EXPECT_EQ(report.unit, PrivacyUnit::component);
  EXPECT_DOUBLE_EQ(report.own().delta, 2 * report.release.delta);
  EXPECT_DOUBLE_EQ(report.losses.one_per_batch.delta, 50 * report.release.delta);
  EXPECT_EQ(report.losses.client.epsilon, std::numeric_limits<double>::infinity());
}

TEST(PrivacyReport, LosesNothingWithoutReleases) {
  ReleaseSettings settings;
  settings.dimension = 2;
  const auto none = mechanism_table().make("none", settings);
  Spending spending;
  EXPECT_EQ(losses_of(spending, *none, std::nullopt).record.epsilon, 0);
  spending.add(1, 0);
  EXPECT_EQ(losses_of(spending, *none, std::nullopt).record.epsilon, std::numeric_limits<double>::infinity());
}

TEST(PrivacyReport, RefusesImpossibleCounts) {
  const auto mechanism = mechanism_table().make("laplace", ReleaseSettings());
  const auto report = [&](const ClientLosses& losses) {
    static_cast<void>(privacy_report(*mechanism, "laplace", NoiseKeyPolicy::random, losses, 1, std::nullopt));
  };
  ClientLosses losses;
  losses.releases = 1;
  losses.participations = 2;
  EXPECT_THROW(report(losses), UsageError);
  losses.participations = -1;
  EXPECT_THROW(report(losses), UsageError);
}

TEST(Statement, NamesUnitNeighboursFiguresAndLimits) {
  const std::string text = statement(report_of("laplace"));
  for (const char* part :
       {"one record of one client", "one record is replaced by any other", "'hospital-7'", "3 client(s)",
        "at most 50 release(s)", "epsilon = 0.5", "entered at most 2 release(s), which costs at most epsilon = 1 ",
        "epsilon = 25 ", "epsilon = 100", "discrete Laplace", "neighbours in the communication graph",
        "sizes of its batches", "when messages are sent", "under one user account",
        "No metric computed from private records was shared"}) {
    EXPECT_TRUE(says(text, part));
  }
  EXPECT_FALSE(says(text, "NOT private"));
}

TEST(Statement, NamesHistogramsOfNorms) {
  PrivacyReport report = report_of("gaussian");
  EXPECT_THAT(statement(report), Not(HasSubstr("histogram")));
  PrivacyLoss once;
  once.epsilon = 0.125;
  report.norms.emplace(HistogramReport{0.01, once});
  EXPECT_TRUE(says(statement(report), "released once a histogram of the norms of all its records"));
  EXPECT_TRUE(says(statement(report), "which costs a record at most epsilon = 0.125"));
}

TEST(Statement, NamesHistogramsOfFeatures) {
  PrivacyReport report = report_of("gaussian");
  PrivacyLoss once;
  once.epsilon = 0.25;
  report.features.emplace(HistogramReport{0.1, once});
  EXPECT_TRUE(says(statement(report), "released once histograms or means of every feature of all its records"));
  EXPECT_TRUE(says(statement(report), "which costs a record at most epsilon = 0.25"));
}

TEST(Statement, NamesClientsThatJoined) {
  PrivacyReport report = report_of("laplace");
  report.joins = {{Membership::Change::Kind::join, 20, {3, 4, 5}, "late.csv"},
                  {Membership::Change::Kind::join, 40, {6}, "last.csv"}};
  const std::string text = statement(report);
  EXPECT_TRUE(says(text, "Client(s) 3-5 joined after round 20, and released nothing before. "));
  EXPECT_TRUE(says(text, "Client(s) 6 joined after round 40, and released nothing before. "));
}

TEST(Statement, SaysWhatCountsAlike) {
  PrivacyReport report = report_of("laplace");
  EXPECT_FALSE(says(statement(report), "counts alike"));
  report.client_weights = ClientWeights::records;
  EXPECT_TRUE(says(statement(report), "The model is made so that every record counts alike, whoever has it. "));
  report.client_weights = ClientWeights::equal;
  EXPECT_TRUE(says(statement(report), "every client counts alike, whatever its number of records: "));
}

TEST(Statement, SaysPlainlyThatARunIsNotPrivate) {
  EXPECT_TRUE(says(statement(report_of("none")), "NOT private: no noise"));
  EXPECT_TRUE(says(statement(report_of("none")), "unbounded"));
  EXPECT_FALSE(says(statement(report_of("none")), "What is protected"));
  const PrivacyReport seeded = report_of("laplace", NoiseKeyPolicy::seed);
  EXPECT_TRUE(says(statement(seeded), "NOT private: the noise comes from a public seed"));
  EXPECT_FALSE(seeded.is_private());
  EXPECT_FALSE(report_of("none").is_private());
  EXPECT_TRUE(says(statement(report_of("laplace", NoiseKeyPolicy::file)), "read from files"));
}

TEST(Statement, SaysThatPublicRecordsAreNotProtected) {
  PrivacyReport report = report_of("laplace");
  report.public_data = true;
  EXPECT_TRUE(says(statement(report), "records of this run are public"));
  EXPECT_FALSE(report.is_private());
}

TEST(Statement, NamesTheUnitOfAComponent) {
  const std::string text = statement(report_of("laplace", NoiseKeyPolicy::random, PrivacyUnit::component));
  EXPECT_TRUE(says(text, "only one component"));
  EXPECT_TRUE(says(text, "a group of 6 components: at most epsilon = 6."));
  EXPECT_TRUE(says(statement(report_of("dissertation")), "mean gradient differs by at most 1"));
  EXPECT_TRUE(says(statement(report_of("dissertation")), "no finite epsilon"));
  EXPECT_TRUE(says(statement(report_of("dissertation")), "with delta = "));
}

TEST(Statement, NamesMetricsThatWereShared) {
  PrivacyReport report = report_of("laplace");
  report.shared_metrics = {"loss.mean", "accuracy"};
  EXPECT_TRUE(says(statement(report), "Shared without noise, and outside every figure above: loss.mean; accuracy."));
}

TEST(Statement, SaysOfHowManyVectorsAReleaseIs) {
  PrivacyReport report = report_of("laplace");
  EXPECT_TRUE(says(statement(report), "at most 50 release(s), one vector each, computed"));
  report.vectors = 2;
  EXPECT_TRUE(says(statement(report), "at most 50 release(s), two vectors each, computed"));
  report.vectors = 5;
  EXPECT_TRUE(says(statement(report), "at most 50 release(s), at most 5 vectors each, computed"));
}

TEST(Statement, NeverRoundsALossDown) {
  PrivacyReport report = report_of("laplace");
  for (const double loss : {1.0 / 3, 1.23456449, 0.1000001, 12345.64, 2.0e-9 / 3}) {
    report.release.epsilon = loss;
    const std::string text = statement(report);
    const std::string head = "One release costs at most epsilon = ";
    const double printed = std::stod(text.substr(text.find(head) + head.size()));
    EXPECT_GE(printed, loss);
    EXPECT_LE(printed, loss * (1 + 2e-5));
  }
}

TEST(InShort, SaysWhoHowMuchFromWhomAndWhatNot) {
  PrivacyReport report = report_of("laplace");
  std::vector<std::string> lines = in_short(report);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "Who is protected: a record of one client.");
  EXPECT_EQ(lines[1], "How much: epsilon = 1 in this run; other runs on the same data add to it.");
  EXPECT_EQ(lines[2], "From whom: everyone who sees messages or results; not whoever operates the machines.");
  EXPECT_TRUE(says(lines[3], "Not covered: how many records there are"));
  report.ledger.scope = LedgerReport::Scope::owner;
  EXPECT_EQ(in_short(report)[1], "How much: epsilon = 1 in this run, the first of its ledger.");
  report.ledger.earlier_runs = 2;
  report.ledger.record.epsilon = 3.1;
  report.ledger.record.delta = 1e-5;
  EXPECT_TRUE(says(in_short(report)[1], "1 in this run; epsilon = 3.1 at delta = 1e-05 with the 2 earlier run(s)"));
  report.trust.model = TrustModel::central;
  EXPECT_TRUE(says(in_short(report)[2], "not whoever operates rank 0"));
  report.shared_metrics = {"loss.mean"};
  EXPECT_TRUE(says(in_short(report)[3], "metrics shared without noise"));
  EXPECT_FALSE(says(in_short(report)[3], "dealt"));
  report.dealt_by = "their labels";
  EXPECT_TRUE(says(in_short(report)[3], "which client has which record (they were dealt by their labels)"));
}

TEST(InShort, HasTheNameOfTheUnit) {
  const std::string line = in_short(report_of("laplace", NoiseKeyPolicy::random, PrivacyUnit::component))[0];
  EXPECT_EQ(line, "Who is protected: a component of one client's gradient, and not a whole record.");
}

TEST(InShort, ProtectsNobodyWithoutNoiseOrSecretKeys) {
  for (const PrivacyReport& report : {report_of("none"), report_of("laplace", NoiseKeyPolicy::seed)}) {
    const std::vector<std::string> lines = in_short(report);
    EXPECT_TRUE(says(lines[0], "Who is protected: nobody. This run is NOT private")) << lines[0];
    EXPECT_TRUE(says(lines[2], "From whom: nobody"));
    EXPECT_EQ(lines[3], "Not covered: everything.");
  }
  EXPECT_TRUE(says(in_short(report_of("none"))[1], "the loss is unbounded"));
}

TEST(Weaknesses, NamesLargeLosses) {
  PrivacyReport report = report_of("laplace");
  report.units = 1000;
  EXPECT_TRUE(weaknesses_of(report).empty());
  report.losses.record.delta = 0.001;
  EXPECT_TRUE(weaknesses_of(report).empty());
  report.losses.record.delta = 0.0011;
  ASSERT_EQ(weaknesses_of(report).size(), 1U);
  EXPECT_TRUE(says(weaknesses_of(report)[0], "delta = 0.0011 protects little: it is above 1/1000"));
  report.losses.record.epsilon = 10.5;
  EXPECT_EQ(weaknesses_of(report).size(), 2U);
  report.units.reset();
  ASSERT_EQ(weaknesses_of(report).size(), 1U);
  EXPECT_TRUE(says(weaknesses_of(report)[0], "epsilon = 10.5 protects little"));
  report.public_data = true;
  EXPECT_TRUE(weaknesses_of(report).empty());
}

}  // namespace starling::statement_test
