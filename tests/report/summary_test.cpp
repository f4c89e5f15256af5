/// summary.json and the table of results.
#include "report/summary.hpp"

#include <limits>
#include <sstream>

#include <nlohmann/json.hpp>

#include "regret/regret.hpp"
#include "summaries.hpp"
#include "support/testing.hpp"

namespace starling::summary_test {

using namespace testing_support;

constexpr double inf = std::numeric_limits<double>::infinity();

Summary example() {
  Summary summary = stopped_run(3);
  summary.ranks = 2;
  summary.dimension = 2;
  summary.part<RunScores>().progressive = Score{60, 90, 120};
  summary.part<RunScores>().last_loss = 0.25;
  summary.part<RunTraffic>().edges = {{0, 1, 40, 960}, {1, 2, 40, 960}, {2, 0, 39, 936}};
  summary.part<RunTraffic>().evaluation_bytes = 512;
  summary.part<RunTimes>().wall = 2;
  summary.part<FinalModels>().mean = {0.5, -0.25};
  summary.part<PrivacyReport>().batch = 3;
  summary.part<PrivacyReport>().dimension = 2;
  summary.part<PrivacyReport>().clip = 1;
  return summary;
}

Summary aggregated_example() {
  return aggregated(example(), {{0, 1, 40, 800}, {0, 2, 40, 800}, {1, 0, 40, 1600}, {2, 0, 40, 1600}});
}

nlohmann::json parsed(const Summary& summary) {
  return nlohmann::json::parse(to_json(summary));
}

/// Paths are written "privacy/epsilon".
nlohmann::json at(const nlohmann::json& json, const std::string& path) {
  return json.at(nlohmann::json::json_pointer("/" + path));
}

/// A part that nobody but this test knows.
struct OwnPart {
  int value = 7;
};

TEST(Summary, HoldsPartsOfAnyTypeOneOfEach) {
  Summary summary;
  EXPECT_EQ(summary.find<OwnPart>(), nullptr);
  EXPECT_EQ(summary.get<OwnPart>().value, 7);
  EXPECT_EQ(summary.find<OwnPart>(), nullptr);
  OwnPart& part = summary.add(OwnPart{1});
  summary.part<RunScores>().objective = 2;
  EXPECT_EQ(&summary.part<OwnPart>(), &part);
  EXPECT_EQ(summary.add(OwnPart{3}).value, 3);
  const Summary copy = summary;
  summary.part<OwnPart>().value = 4;
  EXPECT_EQ(copy.get<OwnPart>().value, 3);
  EXPECT_EQ(copy.get<RunScores>().objective, 2);
}

class SummaryKey : public testing::TestWithParam<const char*> {};

TEST_P(SummaryKey, IsThere) {
  EXPECT_TRUE(parsed(example()).contains(nlohmann::json::json_pointer(std::string("/") + GetParam())));
}

// The keys that the interface promises of every run; those of other commands (intervals, per_client, uplink and
// downlink bits) do not apply, and models are there only if asked for.
INSTANTIATE_TEST_SUITE_P(Interface, SummaryKey,
                         testing::Values("command", "task", "clients", "rounds", "dimension", "loss/mean", "loss/last",
                                         "accuracy", "metrics", "consensus_error", "mass", "regret",
                                         "privacy/mechanism", "privacy/noise_key", "privacy/unit",
                                         "privacy/epsilon_per_release", "privacy/epsilon", "privacy/delta",
                                         "privacy/mu", "privacy/participations", "privacy/client_epsilon",
                                         "privacy/statement", "traffic/messages", "traffic/bytes", "traffic/edges",
                                         "traffic/evaluation_bytes", "time/wall", "time/rounds_per_second",
                                         "time/shares", "final_model", "withheld"),
                         [](const auto& row) { return test_name(row.param); });

TEST(SummaryJson, HoldsTheFigures) {
  const nlohmann::json json = parsed(example());
  EXPECT_EQ(at(json, "command"), "omd");
  EXPECT_EQ(at(json, "clients"), 3);
  EXPECT_EQ(at(json, "rounds"), 40);
  EXPECT_EQ(at(json, "loss/mean"), 0.5);
  EXPECT_EQ(at(json, "loss/last"), 0.25);
  EXPECT_EQ(at(json, "accuracy"), 0.75);
  EXPECT_EQ(at(json, "privacy/mechanism"), "laplace");
  EXPECT_EQ(at(json, "privacy/noise_key"), "random");
  EXPECT_EQ(at(json, "privacy/unit"), "record");
  EXPECT_EQ(at(json, "privacy/epsilon"), 2);
  EXPECT_EQ(at(json, "privacy/participations"), 4);
  EXPECT_EQ(at(json, "privacy/client_epsilon"), 60);
  EXPECT_EQ(at(json, "traffic/messages"), 119);
  EXPECT_EQ(at(json, "traffic/bytes"), 2856);
  EXPECT_EQ(at(json, "traffic/edges"), nlohmann::json::parse("[[0,1,40,960],[1,2,40,960],[2,0,39,936]]"));
  EXPECT_EQ(at(json, "traffic/evaluation_bytes"), 512);
  EXPECT_EQ(at(json, "time/rounds_per_second"), 20);
  EXPECT_EQ(at(json, "time/shares/learning"), 0.5);
  EXPECT_EQ(at(json, "final_model"), (Vector{0.5, -0.25}));
  EXPECT_EQ(at(json, "privacy/statement"), statement(example().part<PrivacyReport>()));
  EXPECT_FALSE(json.contains("models"));
}

TEST(Summary, ShowsRegretWithItsComparatorAndCertificate) {
  EXPECT_TRUE(at(parsed(example()), "regret").is_null());
  EXPECT_THAT(to_table(example()), Not(HasSubstr("static regret")));
  Summary summary = example();
  StaticRegret regret;
  regret.played = 70;
  regret.client_rounds = 120;
  regret.comparator.x = {0.75, 0.25};
  regret.comparator.value = 0.5;
  regret.comparator.certificate = 1e-10;
  regret.comparator.tolerance = 1e-9;
  regret.comparator.evaluations = 17;
  summary.add(Regret());
  summary.part<Regret>().played = 70;
  summary.part<Regret>().client_rounds = 120;
  summary.part<Regret>().fixed = regret;
  summary.part<Regret>().per_client = {{60, 40, 8, 0.5}, {60, 30, 2, 0.25}};
  summary.part<Regret>().curve.fixed_growth = GrowthFit{0.5, 0.02, 1, 10, 9};
  const nlohmann::json json = parsed(summary);
  EXPECT_EQ(at(json, "regret/static"), 10);
  EXPECT_EQ(at(json, "regret/static_per_client_round"), 10.0 / 120);
  EXPECT_EQ(at(json, "regret/comparator"), (Vector{0.75, 0.25}));
  EXPECT_EQ(at(json, "regret/certificate/kind"), "gap");
  EXPECT_EQ(at(json, "regret/certificate/value"), 1e-10);
  EXPECT_EQ(at(json, "regret/certificate/reached"), true);
  EXPECT_THAT(to_table(summary), HasSubstr("10, 0.0833333 per client-round (120 of them), grows as t^0.500"));
  EXPECT_EQ(at(json, "regret/exponent/static/value"), 0.5);
  EXPECT_EQ(at(json, "regret/exponent/static/standard_error"), 0.02);
  EXPECT_TRUE(at(json, "regret/exponent/dynamic").is_null());
  EXPECT_EQ(at(json, "regret/per_client/1/static"), 2);
  EXPECT_THAT(to_table(summary), HasSubstr("from 2 to 8 by client"));
  EXPECT_TRUE(at(json, "regret/dynamic").is_null());
  EXPECT_EQ(remark_on(regret), "");

  summary.part<Regret>().fixed->comparator.ending = Minimum::Ending::unbounded;
  EXPECT_TRUE(at(parsed(summary), "regret/static").is_null());
  EXPECT_THAT(to_table(summary), HasSubstr("none: no model is best"));
  summary.part<Regret>().fixed->comparator.ending = Minimum::Ending::gave_up;
  EXPECT_THAT(remark_on(*summary.part<Regret>().fixed), HasSubstr("by up to 1.2e-08"));
}

TEST(Summary, ShowsDynamicRegretWithItsPathAndWorstCertificate) {
  Summary summary = example();
  summary.add(Regret());
  summary.part<Regret>().client_rounds = 120;
  DynamicRegret regret;
  regret.played = 70;
  regret.best = 10;
  regret.client_rounds = 120;
  regret.rounds = 40;
  regret.path_length = 4;
  regret.worst.certificate = 2e-12;
  regret.worst.tolerance = 1e-11;
  regret.evaluations = 900;
  summary.part<Regret>().moving = regret;
  const nlohmann::json json = parsed(summary);
  EXPECT_EQ(at(json, "regret/dynamic"), 60);
  EXPECT_EQ(at(json, "regret/dynamic_per_client_round"), 0.5);
  EXPECT_EQ(at(json, "regret/path_length"), 4);
  EXPECT_EQ(at(json, "regret/dynamic_certificate/reached"), true);
  EXPECT_TRUE(at(json, "regret/static").is_null());
  const std::string table = to_table(summary);
  EXPECT_THAT(table, HasSubstr("60, 0.5 per client-round (120 of them)"));
  EXPECT_THAT(table, HasSubstr("4 over 40 rounds, 0.1 per round"));
  EXPECT_THAT(table, Not(HasSubstr("static regret")));
  summary.part<Regret>().moving->unbounded = 3;
  EXPECT_TRUE(at(parsed(summary), "regret/dynamic").is_null());
  EXPECT_THAT(to_table(summary), HasSubstr("none: see the note"));
}

// JSON has no infinity.
TEST(SummaryJson, WritesInfiniteLossesAsNull) {
  Summary summary = example();
  summary.part<PrivacyReport>().mechanism = "none";
  summary.part<PrivacyReport>().release.epsilon = summary.part<PrivacyReport>().losses.record.epsilon =
      summary.part<PrivacyReport>().losses.client.epsilon = inf;
  summary.part<PrivacyReport>().losses.one_per_batch.epsilon = summary.part<PrivacyReport>().clip = inf;
  const nlohmann::json json = parsed(summary);
  for (const char* key : {"privacy/epsilon_per_release", "privacy/epsilon", "privacy/client_epsilon",
                          "privacy/one_per_batch_epsilon", "privacy/clip"}) {
    EXPECT_TRUE(at(json, key).is_null()) << key;
  }
}

TEST(SummaryJson, WithheldFiguresAreNullAndListed) {
  Summary summary = example();
  summary.part<RunScores>().progressive = std::nullopt;
  summary.part<RunScores>().last_loss = std::nullopt;
  summary.withheld = {"loss", "accuracy", "metrics.progressive_accuracy"};
  const nlohmann::json json = parsed(summary);
  for (const char* key : {"loss/mean", "loss/last", "accuracy"}) EXPECT_TRUE(at(json, key).is_null()) << key;
  EXPECT_TRUE(at(json, "metrics/progressive_accuracy").is_null());
  EXPECT_EQ(at(json, "withheld"), summary.withheld);
}

TEST(SummaryJson, AccuracyIsThatOfTheTestSetIfThereIsOne) {
  Summary summary = example();
  summary.part<RunScores>().test = Score{10, 40, 50};
  const nlohmann::json json = parsed(summary);
  EXPECT_EQ(at(json, "accuracy"), 0.8);
  EXPECT_EQ(at(json, "metrics/test_loss"), 0.2);
  EXPECT_EQ(at(json, "metrics/progressive_accuracy"), 0.75);
  summary.classifies = false;
  EXPECT_TRUE(at(parsed(summary), "accuracy").is_null());
}

TEST(SummaryJson, HoldsFiguresByClass) {
  const nlohmann::json json = parsed(aggregated_example());
  EXPECT_EQ(at(json, "accuracy"), 0.8);  // of the test score
  EXPECT_EQ(at(json, "metrics/accuracy"), 0.6);
  EXPECT_EQ(at(json, "metrics/test/accuracy"), 0.6);
  EXPECT_EQ(at(json, "metrics/test/records"), 5);
  EXPECT_EQ(at(json, "metrics/test/auc"), 3.5 / 6);
  EXPECT_FALSE(at(json, "metrics/test").contains("log_loss"));
  EXPECT_EQ(at(json, "metrics/test/classes/1/records"), 3);
  EXPECT_EQ(at(json, "metrics/test_loss"), 0.2);
  EXPECT_EQ(at(json, "metrics/balanced_accuracy"), (2.0 / 3 + 0.5) / 2);
  for (const char* key : {"precision", "recall", "f1"}) {
    EXPECT_DOUBLE_EQ(at(json, std::string("metrics/") + key).get<double>(), 2.0 / 3) << key;
  }
  EXPECT_EQ(at(json, "metrics/specificity"), 0.5);
  EXPECT_EQ(at(json, "metrics/confusion"),
            nlohmann::json::parse(R"({"classes": [-1, 1], "counts": [[1, 1], [1, 2]]})"));
  Summary never = aggregated_example();
  never.add(metrics_of_margins({{1, -1}}));
  EXPECT_EQ(at(parsed(never), "metrics/precision"), 0) << "a class that is never predicted counts";
  EXPECT_FALSE(parsed(example()).contains("intervals"));
  EXPECT_FALSE(at(parsed(example()), "metrics").contains("precision"));
}

TEST(SummaryJson, HoldsIntervals) {
  const nlohmann::json json = parsed(aggregated_example());
  EXPECT_EQ(at(json, "intervals/0"), nlohmann::json::parse(R"({"name": "x1", "estimate": 0.5, "standard_error": 0.1,
    "low": 0.25, "high": 0.75, "excludes_zero": true, "level": 0.95, "method": "model"})"));
  EXPECT_EQ(at(json, "intervals/1/estimate"), -2);
  EXPECT_TRUE(at(json, "intervals/1/standard_error").is_null());
  EXPECT_TRUE(at(json, "intervals/1/low").is_null());
  EXPECT_TRUE(at(json, "intervals/1/excludes_zero").is_null());
  for (const char* key : {"per_client", "study", "interval_records"}) EXPECT_FALSE(json.contains(key)) << key;
}

TEST(SummaryJson, CountsWhatPassesTheAggregatorPerRound) {
  const nlohmann::json json = parsed(aggregated_example());
  EXPECT_EQ(at(json, "traffic/uplink_bytes_per_round"), 80);
  EXPECT_EQ(at(json, "traffic/downlink_bytes_per_round"), 20);
  EXPECT_TRUE(at(json, "mass").is_null());
  EXPECT_TRUE(at(json, "consensus_error").is_null());
  EXPECT_FALSE(at(parsed(example()), "traffic").contains("uplink_bytes_per_round"));
  Summary alone = aggregated_example();
  alone.clients = 1;
  alone.part<RunTraffic>().edges = {};
  EXPECT_EQ(at(parsed(alone), "traffic/downlink_bytes_per_round"), 0);
  alone.rounds = 0;
  EXPECT_TRUE(at(parsed(alone), "traffic/downlink_bytes_per_round").is_null());
}

TEST(SummaryJson, ListsAThousandEdgesAndNoMore) {
  Summary summary = example();
  summary.part<RunTraffic>().edges.assign(1000, {0, 1, 2, 3});
  EXPECT_EQ(at(parsed(summary), "traffic/edges").size(), 1000U);
  summary.part<RunTraffic>().edges.push_back({0, 1, 2, 3});
  EXPECT_EQ(at(parsed(summary), "traffic/edges").size(), 0U);
  EXPECT_EQ(at(parsed(summary), "traffic/messages"), 2002);
}

TEST(SummaryJson, HoldsAllModelsIfAsked) {
  Summary summary = example();
  Columns models(2, 3);
  for (std::size_t u = 0; u < 3; ++u) models[u][1] = static_cast<double>(u);
  summary.part<FinalModels>().of_clients = models;
  EXPECT_EQ(at(parsed(summary), "models"), nlohmann::json::parse("[[0,0],[0,1],[0,2]]"));
}

// A run that was stopped before its first round, or only averaged, has nothing to divide by.
TEST(SummaryJson, IsValidForARunOfNoRounds) {
  Summary summary = example();
  summary.rounds = 0;
  summary.part<RunScores>().progressive = Score{};
  summary.part<RunTimes>().wall = 0;
  summary.part<RunTimes>().shares = {};
  const nlohmann::json json = parsed(summary);
  for (const char* key : {"loss/mean", "accuracy", "time/rounds_per_second", "time/shares/mixing"}) {
    EXPECT_TRUE(at(json, key).is_null()) << key;
  }
}

// Nothing was released, so nothing was lost: 0, which null would not say.
TEST(SummaryJson, ClaimsNoLossWhereNoRecordWasUsed) {
  Summary summary = example();
  summary.learned = false;
  const nlohmann::json json = parsed(summary);
  for (const char* key : {"privacy/epsilon", "privacy/client_epsilon", "privacy/participations"}) {
    EXPECT_EQ(at(json, key), 0) << key;
  }
}

TEST(SummaryJson, RoundTripsNumbers) {
  Summary summary = example();
  summary.part<FinalModels>().mean = {1.0 / 3, 5e-324};
  summary.part<Consensus>().error = 0.1 + 0.2;
  EXPECT_EQ(at(parsed(summary), "final_model"), summary.part<FinalModels>().mean);
  EXPECT_EQ(at(parsed(summary), "consensus_error"), summary.part<Consensus>().error);
}

/// The text with all white space as single spaces: where lines are wrapped does not matter.
std::string unwrapped(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  for (std::string word; words >> word;) result += (result.empty() ? "" : " ") + word;
  return result;
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_THAT(unwrapped(text), HasSubstr(unwrapped(part))) << part << "\nin\n" << text;
  }
}

TEST(SummaryTable, SaysWhatAPersonNeeds) {
  expect_parts(to_table(example()), {"3 clients on 2 ranks",
                                     "40 of 50 rounds",
                                     "dimension 2",
                                     "0.500000 mean",
                                     "0.250000 over the last tenth",
                                     "75.00 %",
                                     "consensus error",
                                     "1.000e-04",
                                     "mass",
                                     "epsilon per record",
                                     "4 x 0.5 per release",
                                     "unit record",
                                     "mechanism laplace",
                                     "60  (all records of a client; 20 for one record in every batch)",
                                     "119 over 3 edges",
                                     "20 rounds/s",
                                     "stopped by a signal",
                                     in_short(example().part<PrivacyReport>())[0],
                                     in_short(example().part<PrivacyReport>())[3],
                                     "runs/7",
                                     "starling omd --source a.csv"});
}

TEST(SummaryTable, NamesTheUnitOfWhichOneIsInEveryBatch) {
  Summary summary = example();
  summary.part<PrivacyReport>().unit = PrivacyUnit::component;
  expect_parts(to_table(summary), {"60  (all records of a client; 20 for one component in every batch)"});
}

TEST(SummaryTable, HasTheWholeStatementWhereItIsWanted) {
  const std::string whole = "Privacy. " + statement(example().part<PrivacyReport>());
  expect_parts(to_table(example(), true), {in_short(example().part<PrivacyReport>())[0], whole});
  EXPECT_THAT(to_table(example()), Not(HasSubstr(whole)));
}

TEST(SummaryTable, SaysWhatIsWithheldAndWhereItIs) {
  Summary summary = example();
  summary.part<RunScores>().progressive = std::nullopt;
  summary.withheld = {"loss.mean", "loss.last", "metrics.progressive_accuracy", "accuracy"};
  const std::string text = to_table(summary);
  expect_parts(text, {"withheld: in private/, for each owner", "withheld: in private/ (name a public --test set"});
  EXPECT_THAT(text, Not(HasSubstr("0.5000")));
}

TEST(SummaryTable, NeverCallsAnInfiniteLossANumber) {
  Summary summary = example();
  summary.part<PrivacyReport>().mechanism = "none";
  summary.part<PrivacyReport>().release.epsilon = summary.part<PrivacyReport>().losses.record.epsilon =
      summary.part<PrivacyReport>().losses.client.epsilon = inf;
  summary.part<PrivacyReport>().losses.one_per_batch.epsilon = inf;
  expect_parts(to_table(summary), {"unbounded  (4 x unbounded per release"});
}

// A finite loss under a key that anybody can compute must not stand alone.
TEST(SummaryTable, WarnsOfAPublicNoiseKey) {
  Summary summary = example();
  EXPECT_THAT(to_table(summary), Not(HasSubstr("but see below")));
  summary.part<PrivacyReport>().noise_key = NoiseKeyPolicy::seed;
  expect_parts(to_table(summary), {"2, but see below"});
}

TEST(SummaryTable, ShowsDebtOnlyIfThereIsSome) {
  Summary summary = example();
  EXPECT_THAT(to_table(summary), Not(HasSubstr("step debt")));
  summary.part<Steps>().largest_debt = 1.5;
  expect_parts(to_table(summary), {"step debt", "1.5 of the first round's steps not yet repaid"});
}

TEST(SummaryTable, OfAnAggregatedRunShowsItsFigures) {
  Summary summary = aggregated_example();
  const std::string text = to_table(summary);
  expect_parts(text, {"accuracy 80.00 % on --test",
                      "balanced accuracy 58.33 %, precision 66.67 %, recall 66.67 %, F1 66.67 %, specificity 50.00 %",
                      "coefficients x1 0.5 +- 0.1 [0.25, 0.75] at 95 % (model) intercept -2",
                      "messages 160 to and from the aggregator, client 0",
                      "per round 80 bytes up from all other clients, 20 bytes down in one broadcast"});
  for (const char* part : {"consensus", "mass"}) EXPECT_THAT(text, Not(HasSubstr(part))) << part;
  summary.part<RunIntervals>().intervals.assign(14, summary.part<RunIntervals>().intervals[0]);
  expect_parts(to_table(summary), {"... 2 more, in summary.json and coefficients.csv"});
}

TEST(SummaryTable, CutsLongListsOfEdges) {
  Summary summary = example();
  summary.part<RunTraffic>().edges.assign(15, {7, 8, 1, 2});
  expect_parts(to_table(summary, true), {"per edge", "7 -> 8", "... 3 more edges"});
  EXPECT_THAT(to_table(summary), Not(HasSubstr("7 -> 8")));
}

// Mixing alone has no losses and no privacy to speak of.
TEST(SummaryTable, SaysNothingOfLearningWhereThereIsNone) {
  Summary summary = example();
  summary.learned = false;
  const std::string text = to_table(summary);
  for (const char* part : {"loss", "accuracy", "epsilon", "Privacy."}) EXPECT_THAT(text, Not(HasSubstr(part))) << part;
}

}  // namespace starling::summary_test
