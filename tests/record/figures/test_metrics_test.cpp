#include "starling/record/figures/test_metrics.hpp"

#include "support/testing.hpp"
#include <cmath>
#include <gmock/gmock.h>

#include "starling/core/check.hpp"

namespace starling {
namespace {

using testing::HasSubstr;
using testing_support::message_of;

/// So many records of each (true, predicted).
struct Cell {
  double truth;
  double predicted;
  int count;
};
TestMetrics metrics_of(const std::vector<double>& classes, const std::vector<Cell>& cells) {
  Vector truth;
  Vector predicted;
  for (const Cell& cell : cells) {
    truth.insert(truth.end(), static_cast<std::size_t>(cell.count), cell.truth);
    predicted.insert(predicted.end(), static_cast<std::size_t>(cell.count), cell.predicted);
  }
  return test_metrics(classes, truth, predicted);
}

// 100 records: TP 30, FN 10, FP 20, TN 40.
TEST(TestMetrics, OfTwoClassesAreThoseOfTheLarger) {
  const TestMetrics m = metrics_of({1, -1}, {{1, 1, 30}, {-1, -1, 40}, {1, -1, 10}, {-1, 1, 20}});
  EXPECT_EQ(m.classes, (std::vector<double>{-1, 1}));
  EXPECT_EQ(m.counts, (std::vector<std::int64_t>{40, 20, 10, 30}));
  EXPECT_DOUBLE_EQ(m.accuracy, 0.7);
  EXPECT_DOUBLE_EQ(m.balanced_accuracy, (30.0 / 40 + 40.0 / 60) / 2);
  EXPECT_DOUBLE_EQ(m.precision, 0.6);
  EXPECT_DOUBLE_EQ(m.recall, 0.75);
  EXPECT_DOUBLE_EQ(m.f1, 2 * 0.6 * 0.75 / (0.6 + 0.75));
  EXPECT_DOUBLE_EQ(m.specificity, 40.0 / 60);
}

TEST(TestMetrics, OfMoreClassesAreMeansOverThem) {
  const TestMetrics m =
      metrics_of({0, 1, 2}, {{0, 0, 5}, {0, 1, 1}, {0, 2, 4}, {1, 1, 8}, {1, 0, 2}, {2, 2, 7}, {2, 1, 3}});
  EXPECT_EQ(m.counts, (std::vector<std::int64_t>{5, 1, 4, 2, 8, 0, 0, 3, 7}));
  EXPECT_DOUBLE_EQ(m.accuracy, 20.0 / 30);
  EXPECT_DOUBLE_EQ(m.recall, (0.5 + 0.8 + 0.7) / 3);
  EXPECT_DOUBLE_EQ(m.balanced_accuracy, m.recall);
  EXPECT_DOUBLE_EQ(m.precision, (5.0 / 7 + 8.0 / 12 + 7.0 / 11) / 3);
  EXPECT_DOUBLE_EQ(m.f1, (10.0 / 17 + 16.0 / 22 + 14.0 / 21) / 3);
  EXPECT_DOUBLE_EQ(m.specificity, (18.0 / 20 + 16.0 / 20 + 16.0 / 20) / 3);
}

TEST(TestMetrics, AreNoNumbersWhereNothingDefinesThem) {
  const TestMetrics never = metrics_of({-1, 1}, {{1, -1, 3}, {-1, -1, 9}});
  EXPECT_TRUE(std::isnan(never.precision));
  EXPECT_EQ(never.recall, 0);
  EXPECT_EQ(never.f1, 0);
  EXPECT_EQ(never.specificity, 1);
  EXPECT_EQ(never.balanced_accuracy, 0.5);

  const TestMetrics absent = metrics_of({-1, 1}, {{-1, -1, 4}});
  EXPECT_TRUE(std::isnan(absent.recall));
  EXPECT_TRUE(std::isnan(absent.f1));
  EXPECT_EQ(absent.accuracy, 1);
  EXPECT_EQ(absent.balanced_accuracy, 1);

  const TestMetrics none = metrics_of({-1, 1}, {});
  for (const double value :
       {none.accuracy, none.balanced_accuracy, none.precision, none.recall, none.f1, none.specificity}) {
    EXPECT_TRUE(std::isnan(value));
  }

  // Class 2 is neither there nor predicted, and class 1 is never predicted.
  const TestMetrics three = metrics_of({0, 1, 2}, {{0, 0, 6}, {1, 0, 2}});
  EXPECT_DOUBLE_EQ(three.precision, 0.75);
  EXPECT_DOUBLE_EQ(three.recall, 0.5);
  EXPECT_DOUBLE_EQ(three.f1, (12.0 / 14 + 0) / 2);
}

TEST(TestMetrics, NamesRecordsOfOtherClasses) {
  EXPECT_THAT(message_of<DataError>([] {
                metrics_of({-1, 1}, {{1, 1, 2}, {3, 1, 1}});
              }),
              testing::AllOf(HasSubstr("record 3"), HasSubstr("true class 3")));
  EXPECT_THAT(message_of<DataError>([] { metrics_of({-1, 1}, {{1, 0, 1}}); }), HasSubstr("predicted class 0"));
  EXPECT_THAT(message_of<DataError>([] { metrics_of({-1, 1}, {{std::nan(""), 1, 1}}); }), HasSubstr("true class nan"));
  EXPECT_THAT(message_of<FailureError>([] {
                static_cast<void>(test_metrics({-1, 1}, Vector{1}, Vector{}));
              }),
              HasSubstr("0 predictions"));
}

}  // namespace
}  // namespace starling
