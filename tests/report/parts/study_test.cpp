/// Coverage, length and bias in studies of replications.
#include "output/intervals/study.hpp"

#include <cmath>
#include <sstream>

#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "files/durable_file.hpp"
#include "report/summary.hpp"
#include "support/testing.hpp"

namespace starling::study_test {

using namespace testing_support;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Two coefficients, which are 1 and 2.
const Vector truth{1, 2};

Interval one(const std::string& name, double low, double high, const std::string& method = "random-scaling",
             std::optional<Client> client = std::nullopt) {
  return {name, (low + high) / 2, nan, low, high, 0.95, method, client};
}

/// Four replications: the first coefficient is covered in three, the second in one; lengths are 1 and 2.
Study four() {
  Study study;
  const std::vector<std::pair<bool, bool>> covered{{true, true}, {true, false}, {true, false}, {false, false}};
  for (const auto& [first, second] : covered) {
    study.add({100, 200, {one("a", first ? 0.5 : 4, first ? 1.5 : 5), one("b", second ? 1 : 5, second ? 3 : 7)}},
              truth);
  }
  return study;
}

TEST(Study, AveragesOverCoefficientsAndReplications) {
  const std::vector<StudyCell> cells = four().cells();
  ASSERT_EQ(cells.size(), 1U);
  const StudyCell& cell = cells[0];
  EXPECT_EQ(cell.method, "random-scaling");
  EXPECT_EQ(cell.level, 0.95);
  EXPECT_EQ(cell.steps, 100);
  EXPECT_EQ(cell.records, 200);
  EXPECT_EQ(cell.replications, 4);
  EXPECT_EQ(cell.unknown, 0);
  EXPECT_DOUBLE_EQ(cell.coverage.mean, 0.5);
  EXPECT_DOUBLE_EQ(cell.length.mean, 1.5);
  EXPECT_DOUBLE_EQ(cell.length.error, 0);
}

// A replication's two intervals are one observation: 1, 1/2, 1/2, 0 with s² = 1/6. As eight they would have s² = 2/7.
TEST(Study, TakesErrorsOverReplications) {
  EXPECT_DOUBLE_EQ(four().cells()[0].coverage.error, std::sqrt(1.0 / 6 / 4));
}

TEST(Study, KnowsEachCoefficient) {
  const StudyCell cell = four().cells()[0];
  ASSERT_EQ(cell.coefficients.size(), 2U);
  EXPECT_EQ(cell.coefficients[0].name, "a");
  EXPECT_DOUBLE_EQ(cell.coefficients[0].coverage.mean, 0.75);
  EXPECT_DOUBLE_EQ(cell.coefficients[0].coverage.error, std::sqrt(0.25 / 4));
  EXPECT_DOUBLE_EQ(cell.coefficients[1].coverage.mean, 0.25);
  EXPECT_DOUBLE_EQ(cell.coefficients[0].length.mean, 1);
  EXPECT_DOUBLE_EQ(cell.coefficients[1].length.mean, 2);
  EXPECT_DOUBLE_EQ(cell.coefficients[0].bias.mean, 3.5 / 4);  // the fourth's estimate is 4.5
}

// Clients of one run share their neighbours' noise and data.
TEST(Study, CountsClientsOfOneReplicationTogether) {
  Study study;
  study.add({10, 20, {one("a", 0, 2, "m", 0), one("b", 0, 3, "m", 0), one("a", 0, 2, "m", 1), one("b", 4, 7, "m", 1)}},
            truth);
  const StudyCell cell = study.cells()[0];
  EXPECT_EQ(cell.replications, 1);
  EXPECT_DOUBLE_EQ(cell.coverage.mean, 0.75);
  EXPECT_DOUBLE_EQ(cell.coefficients[1].coverage.mean, 0.5);
  EXPECT_TRUE(std::isnan(cell.coverage.error));
}

TEST(Study, HasACellForEachMethodAndMoment) {
  Study study;
  for (const Round steps : {20, 10}) {
    study.add({steps,
               1.0 * static_cast<double>(steps),
               {one("a", 0, 2, "plug-in"), one("b", 0, 3, "plug-in"), one("a", 4, 5, "batch-means"),
                one("b", 4, 5, "batch-means")}},
              truth);
  }
  std::string order;
  for (const StudyCell& cell : study.cells())
    order += fmt::format("{} {} {}; ", cell.method, cell.steps, cell.coverage.mean);
  EXPECT_EQ(order, "plug-in 10 1; plug-in 20 1; batch-means 10 0; batch-means 20 0; ");
}

TEST(Study, CountsIntervalsWithoutBoundsApart) {
  Study study = four();
  study.add({100, 200, {one("a", nan, nan), one("b", 1, 3)}}, truth);
  study.add({100, 200, {one("a", nan, nan), one("b", nan, nan)}}, truth);
  const StudyCell cell = study.cells()[0];
  EXPECT_EQ(cell.replications, 6);
  EXPECT_EQ(cell.unknown, 3);
  EXPECT_DOUBLE_EQ(cell.coverage.mean, 3.0 / 5);  // 1, 1/2, 1/2, 0, 1
  EXPECT_DOUBLE_EQ(cell.coefficients[0].coverage.mean, 0.75);
  EXPECT_THAT(study_table(study.cells()), HasSubstr("3 intervals had no bounds"));
}

TEST(Study, RefusesIntervalsOfOtherCoefficients) {
  Study study;
  EXPECT_NE(message_of<UsageError>([&] { study.add({1, 1, {one("a", 0, 1)}}, truth); }), "");
  EXPECT_NE(message_of<UsageError>([&] { study.add({1, 1, {one("a", 0, 1), one("b", 0, 1)}}, {1}); }), "");
}

std::vector<StudyCell> over_time(std::size_t moments) {
  std::vector<StudyCell> cells;
  for (const char* method : {"plug-in", "random-scaling"}) {
    for (std::size_t i = 1; i <= moments; ++i) {
      const auto steps = static_cast<Round>(1000 * i);
      cells.push_back(
          {method, 0.95, steps, 2.0 * static_cast<double>(steps), 200, 0, 0, {0.9525, 0.0075}, {0.0722, 0.001}, {}});
    }
  }
  return cells;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(StudyTable, HasARowForEachMethodAndAColumnForEachMoment) {
  const std::vector<std::string> lines = lines_of(study_table(over_time(2)));
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0],
            "  Coverage in % (its standard error) / mean length x 100, over 200 replications and all coefficients");
  EXPECT_EQ(lines[2], "  records                             2000                4000");
  EXPECT_EQ(lines[3], "  steps                               1000                2000");
  EXPECT_EQ(lines[4], "  plug-in, 95 %          95.2 (0.8) / 7.22   95.2 (0.8) / 7.22");
  EXPECT_EQ(lines[5], "  random-scaling, 95 %   95.2 (0.8) / 7.22   95.2 (0.8) / 7.22");
}

TEST(StudyTable, ShowsFiveMomentsAndTheLastOne) {
  const std::string steps = lines_of(study_table(over_time(30)))[3];
  std::istringstream words(steps);
  std::vector<std::string> found;
  for (std::string word; words >> word;) found.push_back(word);
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[1], "1000");
  EXPECT_EQ(found[5], "30000");
}

TEST(StudyTable, CountsPathsThatHaveNotSettled) {
  Study study = four();
  EXPECT_THAT(study_table(study.cells()), Not(HasSubstr("settled")));
  study.add({100, 200, {one("a", 0.5, 1.5), one("b", 5, 7)}, false}, truth);
  study.add({100, 200, {one("a", 0.5, 1.5), one("b", 5, 7)}, true}, truth);
  EXPECT_EQ(study.cells()[0].not_settled, 1);
  EXPECT_THAT(study_table(study.cells()), HasSubstr("1 of 6 paths had not settled"));
}

TEST(StudyTable, OfNothingIsEmpty) {
  EXPECT_EQ(study_table({}), "");
}

TEST(StudyFile, HasALineForEachCellAndCoefficient) {
  const TemporaryFolder folder;
  Study study;
  study.add({100, 200, {one("a, b", 0.5, 1.5), one("c", 5, 7)}, false}, truth);
  write_study(folder / ".", study.cells());
  EXPECT_EQ(read_whole_file(folder / "study.csv"),
            "method,level,steps,records,coefficient,replications,unknown,not_settled,coverage,coverage_error,length,"
            "length_error,bias,bias_error\n"
            "random-scaling,0.95,100,200,,1,0,1,0.5,,1.5,,,\n"
            "random-scaling,0.95,100,200,\"a, b\",1,,,1,,1,,0,\n"
            "random-scaling,0.95,100,200,c,1,,,0,,2,,4,\n");
}

TEST(SummaryJson, HoldsTheStudy) {
  Summary summary;
  summary.command = "infer";
  const auto& cells = summary.add(four().cells());
  const auto json = nlohmann::json::parse(to_json(summary));
  ASSERT_EQ(json["study"].size(), 1U);
  EXPECT_EQ(json["study"][0]["replications"], 4);
  EXPECT_EQ(json["study"][0]["coverage"], 0.5);
  EXPECT_EQ(json["study"][0]["coefficients"][1]["coverage"], 0.25);
  EXPECT_THAT(to_table(summary), HasSubstr(study_table(cells)));
}

}  // namespace starling::study_test
