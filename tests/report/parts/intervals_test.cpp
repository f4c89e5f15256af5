/// Intervals in summary.json, in the table of a regression, and on their way.
#include <cmath>
#include <limits>
#include <sstream>

#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "files/durable_file.hpp"
#include "output/intervals/interval.hpp"
#include "privacy/statement/statement.hpp"
#include "report/summary.hpp"
#include "support/testing.hpp"

namespace starling::intervals_test {

namespace fs = std::filesystem;
using namespace testing_support;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Intervals of one client, or without a client: `age` is above 0, `income` about it.
std::vector<Interval> of_two(const std::string& method, double level, std::optional<Client> client = std::nullopt,
                             double shift = 0) {
  return {{"age", 1.25 + shift, nan, 1.125 + shift, 1.375 + shift, level, method, client},
          {"income", shift, nan, -0.5 + shift, 0.5 + shift, level, method, client}};
}

void append(std::vector<Interval>& to, const std::vector<Interval>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

Summary regression(const std::vector<Interval>& intervals) {
  Summary summary;
  summary.command = "infer";
  summary.clients = 1;
  summary.ranks = 1;
  summary.rounds = 2000;
  summary.aggregated = true;
  summary.learned = true;
  summary.part<RunIntervals>().records = 20000;
  summary.part<RunIntervals>().intervals = intervals;
  summary.part<PrivacyReport>().mechanism = "gaussian";
  summary.part<PrivacyReport>().losses.record.epsilon = 4.375;
  summary.part<PrivacyReport>().losses.record.delta = 1e-5;
  summary.part<PrivacyReport>().losses.record.mu = 1;
  return summary;
}

/// The lines of the regression's table, which stands above all other figures, that hold a text, their words set apart
/// by one space each.
std::vector<std::string> lines_with(const std::string& part, const Summary& summary) {
  const std::string all = to_table(summary);
  std::istringstream text(all.substr(0, all.find("\n  loss ")));
  std::vector<std::string> found;
  for (std::string line; std::getline(text, line);) {
    if (line.find(part) == std::string::npos) continue;
    std::istringstream words(line);
    std::string packed;
    for (std::string word; words >> word;) packed += (packed.empty() ? "" : " ") + word;
    found.push_back(packed);
  }
  return found;
}

using Lines = std::vector<std::string>;

TEST(ExcludesZero, WhereBothBoundsAreOnOneSide) {
  const auto of = [](double low, double high) { return excludes_zero({"x", 0, 0, low, high, 0.95, "m"}); };
  EXPECT_EQ(of(0.5, 1), true);
  EXPECT_EQ(of(-2, -1), true);
  EXPECT_EQ(of(-1, 1), false);
  EXPECT_EQ(of(0, 1), false);
  EXPECT_EQ(of(nan, 1), std::nullopt);
  EXPECT_EQ(of(-1, nan), std::nullopt);
}

TEST(RegressionTable, ShowsWhichCoefficientsAreNotZero) {
  const Summary summary = regression(of_two("random-scaling", 0.95));
  EXPECT_EQ(lines_with("Coefficients", summary),
            Lines{"Coefficients from 20000 records, 2000 steps; privacy per record: mu = 1, epsilon = 4.375 at delta = "
                  "1e-05"});
  EXPECT_EQ(lines_with("random-scaling", summary), Lines{"random-scaling estimate 95 % low high excludes 0"});
  EXPECT_EQ(lines_with("age", summary), Lines{"age 1.250 1.125 1.375 * yes"});
  EXPECT_EQ(lines_with("income", summary), Lines{"income 0.000 -0.500 0.500 no"});
  EXPECT_EQ(lines_with("per_client", summary), Lines{});
}

TEST(RegressionTable, AlignsItsColumns) {
  std::istringstream text(to_table(regression(of_two("random-scaling", 0.95))));
  std::vector<std::string> rows;
  for (std::string line; std::getline(text, line);) {
    for (const char* start : {"  random-scaling ", "  age ", "  income "}) {
      if (line.starts_with(start)) rows.push_back(line);
    }
  }
  ASSERT_EQ(rows.size(), 3U);
  const std::size_t end = rows[0].find("high") + 4;
  EXPECT_EQ(rows[1].find("1.375") + 5, end);
  EXPECT_EQ(rows[2].rfind("0.500") + 5, end);
  EXPECT_EQ(rows[1].find("yes"), rows[2].find("no"));
}

TEST(RegressionTable, ShowsStandardErrorsWhereThereAreAny) {
  std::vector<Interval> intervals = of_two("plug-in", 0.95);
  EXPECT_EQ(lines_with("std. error", regression(intervals)), Lines{});
  intervals[0].standard_error = 0.0625;
  const Summary summary = regression(intervals);
  EXPECT_EQ(lines_with("std. error", summary), Lines{"plug-in estimate std. error z 95 % low high excludes 0"});
  EXPECT_EQ(lines_with("age", summary), Lines{"age 1.250 0.062 20.00 1.125 1.375 * yes"});
  EXPECT_EQ(lines_with("income", summary), Lines{"income 0.000 - - -0.500 0.500 no"});
}

TEST(RegressionTable, SetsTwoLevelsSideBySideAndMethodsBelowEachOther) {
  std::vector<Interval> intervals = of_two("random-scaling", 0.95);
  append(intervals, of_two("random-scaling", 0.9));
  append(intervals, of_two("random-scaling", 0.8));
  append(intervals, of_two("plug-in", 0.95));
  const Summary summary = regression(intervals);
  EXPECT_EQ(lines_with("estimate", summary),
            (Lines{"random-scaling estimate 95 % low high excludes 0 90 % low high excludes 0",
                   "random-scaling estimate 80 % low high excludes 0", "plug-in estimate 95 % low high excludes 0"}));
  EXPECT_EQ(lines_with("age", summary).size(), 3U);
  EXPECT_EQ(lines_with("age", summary)[0], "age 1.250 1.125 1.375 * yes 1.125 1.375 * yes");
}

TEST(RegressionTable, ShowsFourClientsInFull) {
  std::vector<Interval> intervals;
  for (Client u = 0; u < 4; ++u) append(intervals, of_two("random-scaling", 0.95, u, 0.25 * u));
  const Summary summary = regression(intervals);
  EXPECT_EQ(lines_with("client 3,", summary), Lines{"client 3, random-scaling estimate 95 % low high excludes 0"});
  EXPECT_EQ(lines_with("income", summary)[3], "income 0.750 0.250 1.250 * yes");
  EXPECT_EQ(lines_with("of all", summary), Lines{});
}

TEST(RegressionTable, ShowsTheRangeOverManyClients) {
  std::vector<Interval> intervals;
  for (Client u = 0; u < 5; ++u) {
    append(intervals, of_two("random-scaling", 0.95, u, 0.25 * u));
    append(intervals, of_two("batch-means", 0.95, u, 0.25 * u));
  }
  const Summary summary = regression(intervals);
  EXPECT_EQ(lines_with("client 0,", summary), (Lines{"client 0, random-scaling estimate 95 % low high excludes 0",
                                                     "client 0, batch-means estimate 95 % low high excludes 0"}));
  EXPECT_EQ(lines_with("client 1,", summary), Lines{});
  EXPECT_EQ(lines_with("estimates of all", summary),
            Lines{"estimates of all 5 clients least greatest 95 %, random-scaling: excludes 0"});
  EXPECT_EQ(lines_with("income", summary)[2], "income 0.000 1.000 2 of 5");  // 0 is the end of client 2's
  EXPECT_EQ(lines_with("Each client's own", summary).size(), 1U);
}

TEST(RegressionTable, ShowsTwelveCoefficients) {
  std::vector<Interval> intervals;
  for (int j = 0; j < 14; ++j) intervals.push_back({fmt::format("x{}", j), 1, nan, 0, 2, 0.95, "random-scaling"});
  const Summary summary = regression(intervals);
  EXPECT_EQ(lines_with("x11", summary).size(), 1U);
  EXPECT_EQ(lines_with("x12", summary), Lines{});
  EXPECT_EQ(lines_with("...", summary), Lines{"... 2 more, in summary.json and coefficients.csv"});
}

// Among numbers of such different sizes no common number of decimals is of use.
TEST(RegressionTable, ShowsAnyNumbers) {
  const Summary summary = regression({{"charges", 1.5e9, nan, 1e9, 2e9, 0.95, "random-scaling"},
                                      {"rate", 1.5e-9, nan, 1e-9, 2e-9, 0.95, "random-scaling"},
                                      {"lost", nan, nan, nan, nan, 0.95, "random-scaling"}});
  EXPECT_EQ(lines_with("charges", summary), Lines{"charges 1.5e+09 1e+09 2e+09 * yes"});
  EXPECT_EQ(lines_with("rate", summary), Lines{"rate 1.5e-09 1e-09 2e-09 * yes"});
  EXPECT_EQ(lines_with("lost", summary), Lines{"lost - - - -"});
}

TEST(RegressionTable, ShowsDigitsOfEstimatesThatHaveNoInterval) {
  const Summary summary = regression(
      {{"age", 0.0123, nan, nan, nan, 0.95, "plug-in"}, {"intercept", 812, 210, 400, 1224, 0.95, "plug-in"}});
  EXPECT_EQ(lines_with("age", summary), Lines{"age 0.0123 - - - - -"});
  EXPECT_EQ(lines_with("intercept", summary), Lines{"intercept 812.0000 210.0000 3.87 400.0000 1224.0000 * yes"});
}

TEST(RegressionTable, SaysWhereThereIsNoPrivacy) {
  Summary summary = regression(of_two("random-scaling", 0.95));
  summary.part<PrivacyReport>().losses.record.epsilon = std::numeric_limits<double>::infinity();
  summary.part<RunIntervals>().records = std::nullopt;
  EXPECT_EQ(lines_with("Coefficients", summary), Lines{"Coefficients, 2000 steps; no privacy"});
}

TEST(RegressionTable, SaysWhereFiguresProtectNobody) {
  Summary summary = regression(of_two("random-scaling", 0.95));
  summary.part<PrivacyReport>().noise_key = NoiseKeyPolicy::seed;
  EXPECT_EQ(lines_with("Coefficients", summary),
            Lines{"Coefficients from 20000 records, 2000 steps; privacy per record: mu = 1, epsilon = 4.375 at delta = "
                  "1e-05, but see below"});
}

/// A path that makes many effective steps, or few.
PathSettling path_with(bool settled, std::optional<Client> client = std::nullopt) {
  return {client, settled, settled ? 80.0 : 3.0, 39, "income", 1.5, 4.4, "age"};
}

TEST(RegressionTable, HasNoStarsWhereThePathHasNotSettled) {
  Summary summary = regression(of_two("random-scaling", 0.95));
  summary.part<RunIntervals>().settling.paths = {path_with(false)};
  EXPECT_EQ(lines_with("age", summary), Lines{"age 1.250 1.125 1.375 not settled"});
  EXPECT_EQ(lines_with("income", summary), Lines{"income 0.000 -0.500 0.500 not settled"});
  summary.part<RunIntervals>().settling.paths = {path_with(true)};
  EXPECT_EQ(lines_with("age", summary), Lines{"age 1.250 1.125 1.375 * yes"});
}

TEST(RegressionTable, HasNoStarsForTheClientsWhosePathsHaveNotSettled) {
  std::vector<Interval> intervals;
  for (Client u = 0; u < 2; ++u) append(intervals, of_two("random-scaling", 0.95, u));
  Summary summary = regression(intervals);
  summary.part<RunIntervals>().settling.paths = {path_with(true, 0), path_with(false, 1)};
  EXPECT_EQ(lines_with("age", summary), (Lines{"age 1.250 1.125 1.375 * yes", "age 1.250 1.125 1.375 not settled"}));
}

TEST(RegressionTable, CountsTheClientsWhosePathsHaveSettled) {
  std::vector<Interval> intervals;
  for (Client u = 0; u < 5; ++u) append(intervals, of_two("random-scaling", 0.95, u, 0.25 * u));
  Summary summary = regression(intervals);
  auto& paths = summary.part<RunIntervals>().settling.paths;
  for (Client u = 0; u < 5; ++u) paths.push_back(path_with(u != 4, u));
  EXPECT_EQ(lines_with("income", summary)[1], "income 0.000 1.000 1 of 4, 1 not settled");
  for (PathSettling& each : paths) each.settled = false;
  EXPECT_EQ(lines_with("income", summary)[1], "income 0.000 1.000 not settled");
}

TEST(RegressionTable, HasTheDataSOwnUnitsFirst) {
  Summary summary = regression(of_two("random-scaling", 0.95));
  summary.part<RunIntervals>().own_units = of_two("random-scaling", 0.95, std::nullopt, 10);
  EXPECT_EQ(lines_with("own units", summary), Lines{"In the data's own units:"});
  EXPECT_EQ(lines_with("age", summary), (Lines{"age 11.250 11.125 11.375 * yes", "age 1.250 1.125 1.375 * yes"}));
}

TEST(SummaryJson, SaysWhetherThePathsHaveSettled) {
  const auto json_with = [](const std::vector<PathSettling>& paths) {
    Summary summary = regression(of_two("random-scaling", 0.95));
    summary.part<RunIntervals>().settling.paths = paths;
    return nlohmann::json::parse(to_json(summary));
  };
  EXPECT_EQ(json_with({})["settled"], nullptr);
  EXPECT_EQ(json_with({})["settling"], nullptr);
  const auto json = json_with({path_with(false)});
  EXPECT_EQ(json["settled"], false);
  EXPECT_EQ(json["settling"],
            nlohmann::json::parse(R"({"knows_scales": true, "effective_steps": 3.0, "least_effective_steps": 39.0,
    "slowest": "income", "drift": 1.5, "most_drift": 4.4, "drifting": "age"})"));
  // A tenth of the clients may be false alarms.
  std::vector<PathSettling> many(20, path_with(true));
  many[4] = many[7] = path_with(false);
  EXPECT_EQ(json_with(many)["settled"], true);
  EXPECT_EQ(json_with(many)["settling"]["effective_steps"], 3);
  many[8] = many[7];
  EXPECT_EQ(json_with(many)["settled"], false);
}

// A path that seems to have settled says nothing where the scales of the features are unknown.
TEST(RegressionTable, HasNoStarsWhereScalesAreUnknown) {
  Summary summary = regression(of_two("random-scaling", 0.95));
  for (const std::vector<PathSettling>& paths : {std::vector<PathSettling>(), {path_with(true)}}) {
    summary.part<RunIntervals>().settling.paths = paths;
    summary.part<RunIntervals>().settling.knows_scales = false;
    const auto json = nlohmann::json::parse(to_json(summary));
    EXPECT_EQ(json["settled"], false);
    EXPECT_EQ(json["settling"]["knows_scales"], false);
    EXPECT_THAT(to_table(summary), testing::HasSubstr("not settled"));
  }
}

// Means 0 and 0.25, half-widths 0.125 of age and 0.5 of income: each is an eighth from the mean.
TEST(SummaryJson, SaysHowFarClientsDisagree) {
  std::vector<Interval> intervals;
  for (Client u = 0; u < 2; ++u) append(intervals, of_two("random-scaling", 0.95, u, 0.25 * u));
  append(intervals, of_two("batch-means", 0.95, 0, 1000));
  Summary summary = regression(intervals);
  summary.part<RunIntervals>().settling = {.paths = {path_with(true, 0), path_with(true, 1)},
                                           .disagreement = disagreement_of(intervals)};
  const auto json = nlohmann::json::parse(to_json(summary));
  EXPECT_EQ(json["settled"], false);
  EXPECT_DOUBLE_EQ(json["settling"]["disagreement"], 1);
  EXPECT_EQ(json["settling"]["disagreeing"], "age");
  EXPECT_EQ(json["per_client"][0]["settled"], false);
  EXPECT_EQ(lines_with("income", summary)[0], "income 0.000 -0.500 0.500 not settled");
  summary.part<RunIntervals>().settling.disagreement->size = 0.5;
  EXPECT_EQ(nlohmann::json::parse(to_json(summary))["settled"], true);
  EXPECT_FALSE(disagreement_of(of_two("random-scaling", 0.95)));
}

TEST(SummaryJson, HoldsIntervalsOfEachClient) {
  std::vector<Interval> intervals;
  for (const Client u : {0, 3}) append(intervals, of_two("random-scaling", 0.95, u, 1.0 * u));
  const auto json = nlohmann::json::parse(to_json(regression(intervals)));
  EXPECT_EQ(json["interval_records"], 20000);
  EXPECT_EQ(json["intervals"].size(), 4U);
  EXPECT_EQ(json["intervals"][2]["client"], 3);
  EXPECT_EQ(json["intervals"][1]["excludes_zero"], false);
  EXPECT_EQ(json["per_client"].size(), 2U);
  EXPECT_EQ(json["per_client"][1], nlohmann::json::parse(R"({"client": 3, "intervals": [
    {"name": "age", "estimate": 4.25, "standard_error": null, "low": 4.125, "high": 4.375, "excludes_zero": true,
     "level": 0.95, "method": "random-scaling"},
    {"name": "income", "estimate": 3.0, "standard_error": null, "low": 2.5, "high": 3.5, "excludes_zero": true,
     "level": 0.95, "method": "random-scaling"}]})"));
}

// Intervals on their way.

std::vector<IntervalsAt> some_path(bool of_clients) {
  std::vector<IntervalsAt> path;
  for (const Round steps : {10, 20, 40}) {
    IntervalsAt at{steps, 3.0 * static_cast<double>(steps), {}};
    for (Client u = 0; u < (of_clients ? 2 : 1); ++u) {
      const std::optional<Client> client = of_clients ? std::optional(u) : std::nullopt;
      append(at.intervals, of_two("random-scaling", 0.95, client, 1.0 / static_cast<double>(steps)));
      append(at.intervals, of_two("odd, \"name\"", 0.9, client));
    }
    at.intervals.back().low = at.intervals.back().high = nan;
    path.push_back(at);
  }
  return path;
}

/// NaN is not equal to itself, so as text.
std::string text_of(const std::vector<IntervalsAt>& path) {
  std::string text;
  for (const IntervalsAt& at : path) {
    for (const Interval& each : at.intervals) {
      text += fmt::format("{} {} {} {} {} {} {} {} {}\n", at.steps, at.records, each.client.value_or(-1), each.name,
                          each.estimate, each.low, each.high, each.level, each.method);
    }
  }
  return text;
}

class IntervalPath : public testing::TestWithParam<bool> {};

TEST_P(IntervalPath, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  write_interval_path(folder / ".", some_path(GetParam()));
  EXPECT_EQ(text_of(read_interval_path(folder / ".")), text_of(some_path(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(OfClients, IntervalPath, testing::Values(false, true),
                         [](const auto& row) { return row.param ? "each" : "together"; });

TEST(IntervalPath, IsATable) {
  const TemporaryFolder folder;
  write_interval_path(folder / ".", {{5, 10, of_two("random-scaling", 0.95)}});
  EXPECT_EQ(read_whole_file(folder / "intervals.csv"),
            "steps,records,name,estimate,low,high,level,method\n"
            "5,10,age,1.25,1.125,1.375,0.95,random-scaling\n"
            "5,10,income,0,-0.5,0.5,0.95,random-scaling\n");
}

TEST(IntervalPath, OfAFolderWithoutOneIsEmpty) {
  const TemporaryFolder folder;
  EXPECT_TRUE(read_interval_path(folder / ".").empty());
}

TEST(IntervalPath, IsRefusedWhereItIsDamaged) {
  const TemporaryFolder folder;
  const std::string head = "steps,records,name,estimate,low,high,level,method\n";
  const auto problem = [&](const std::string& text) {
    folder.write("intervals.csv", text);
    return message_of<DataError>([&] { return read_interval_path(folder / "."); });
  };
  EXPECT_EQ(problem(head), "");
  EXPECT_EQ(problem(head + "5,10,\"a,\"\"b\"\"\",,,,,m"), "");
  EXPECT_THAT(problem(""), HasSubstr("intervals.csv"));
  EXPECT_NE(problem("a,b\n"), "");
  EXPECT_THAT(problem(head + "5,10,\"a,,,,,m"), HasSubstr("no end"));
  for (const char* row :
       {"5,10,a,1,0,2,0.95\n", "5,10,a,1,0,2,0.95,m,m\n", "x,10,a,1,0,2,0.95,m\n", "-5,10,a,1,0,2,0.95,m\n",
        "5,,a,1,0,2,0.95,m\n", "5,-1,a,1,0,2,0.95,m\n", "5,10,a,inf,0,2,0.95,m\n", "5,10,a,1,0x,2,0.95,m\n", "\n"}) {
    EXPECT_THAT(problem(head + row), HasSubstr("row 2")) << row;
  }
  EXPECT_THAT(problem(head + "5,10,a,1,0,2,0.95,m\n4,10,a,1,0,2,0.95,m\n"), HasSubstr("row 3"));
}

}  // namespace starling::intervals_test
