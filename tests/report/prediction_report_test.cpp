#include "report/prediction_report.hpp"

#include <cmath>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/view/summary_view.hpp"

namespace starling::prediction_report_test {

using testing::HasSubstr;
using testing::IsEmpty;

TestMetrics of_scores(const PredictionForm& form, const std::vector<std::pair<Vector, double>>& records) {
  PredictionTally tally(form);
  for (const auto& [scores, label] : records) tally.add(scores, label);
  return tally.metrics();
}

/// Rows of metrics that stand at "metrics".
SummaryView view_of(const TestMetrics& metrics) {
  return {Json{{"metrics", json_of(metrics)}}, "test"};
}

const TestMetrics of_logits =
    of_scores({1, true, Link::logit}, {{{2}, 1}, {{-1}, 1}, {{-3}, -1}, {{0.5}, -1}, {{0.5}, 1}});

TEST(PredictionReport, HasTheMetricsOfTwoClasses) {
  const Json json = json_of(of_logits);
  EXPECT_EQ(json["records"], 5);
  EXPECT_EQ(json["accuracy"], 0.6);
  EXPECT_EQ(json["auc"], (2 + 1 + 1.5) / 6);
  EXPECT_EQ(json["calibration"].size(), 10U);
  EXPECT_EQ(json["calibration"][6]["records"], 2);
  EXPECT_EQ(json["calibration"][6]["frequency"], 0.5);
  EXPECT_TRUE(json["calibration"][3]["frequency"].is_null());
  EXPECT_EQ(json["classes"][0]["class"], -1);
  EXPECT_EQ(json["confusion"]["counts"], Json::parse("[[1, 1], [1, 2]]"));
  EXPECT_FALSE(json.contains("r2"));
}

TEST(PredictionReport, HasNullForWhatIsUndefinedOrInfinite) {
  const Json json = json_of(of_scores({1, true, Link::logit}, {{{std::nan("")}, 1}}));
  for (const char* key : {"auc", "auc_standard_error", "log_loss"}) EXPECT_TRUE(json[key].is_null()) << key;
  EXPECT_TRUE(json_of(of_scores({1, false, Link::identity}, {{{1}, 2}}))["r2"].is_null());
}

TEST(PredictionReport, LeavesListsOutWithVeryManyClasses) {
  PredictionTally tally({most_confused + 1, true, Link::none});
  tally.add(Vector(most_confused + 1, 0.0), 4);
  const Json json = json_of(tally.metrics());
  EXPECT_EQ(json["accuracy"], 0);
  EXPECT_FALSE(json.contains("classes"));
  EXPECT_FALSE(json.contains("confusion"));
}

TEST(PredictionReport, HasRowsForPeople) {
  const SummaryView view = view_of(of_logits);
  EXPECT_THAT(metric_rows(view, "metrics"), HasSubstr("58.33 %, precision 66.67 %, recall 66.67 %, F1 66.67 %"));
  EXPECT_THAT(metric_rows(view, "metrics"), HasSubstr("AUC                   0.7500, standard error"));
  EXPECT_THAT(class_rows(view, "metrics"), HasSubstr("\n  1                                3     66.67 %"));
  EXPECT_THAT(calibration_rows(view, "metrics"),
              HasSubstr("\n  0.6 to 0.7                       2      0.6225      0.5000\n"));
  EXPECT_THAT(metric_rows(view, "elsewhere"), IsEmpty());
}

TEST(PredictionReport, HasARowForNumbers) {
  const TestMetrics metrics = of_scores({1, false, Link::identity}, {{{1}, 2}, {{2}, 2}, {{6}, 4}});
  EXPECT_THAT(metric_rows(view_of(metrics), "metrics"), HasSubstr("-0.8750, RMSE 1.29099, mean absolute error 1\n"));
  EXPECT_THAT(class_rows(view_of(metrics), "metrics"), IsEmpty());
  EXPECT_THAT(calibration_rows(view_of(metrics), "metrics"), IsEmpty());
}

}  // namespace starling::prediction_report_test
