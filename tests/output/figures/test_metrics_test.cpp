#include "output/figures/test_metrics.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "core/check.hpp"
#include "core/random.hpp"

namespace starling::test_metrics_test {

constexpr double infinity = std::numeric_limits<double>::infinity();

const PredictionForm margins{1, true, Link::none};
const PredictionForm numbers{1, false, Link::identity};

/// So many records of each (true, predicted) class.
struct Cell {
  double truth;
  double predicted;
  int count;
};

Classification classes_of(const PredictionForm& form, const std::vector<Cell>& cells) {
  PredictionTally tally(form);
  for (const Cell& cell : cells) {
    Vector scores(form.scores, 0.0);
    if (form.scores == 1) {
      scores[0] = cell.predicted;
    } else {
      scores[static_cast<std::size_t>(cell.predicted)] = 1;
    }
    for (int i = 0; i < cell.count; ++i) tally.add(scores, cell.truth);
  }
  return *tally.metrics().classification;
}

// 100 records: TP 30, FN 10, FP 20, TN 40.
TEST(PredictionTally, OfTwoClassesIsThatOfTheLarger) {
  const Classification m = classes_of(margins, {{1, 1, 30}, {-1, -1, 40}, {1, -1, 10}, {-1, 1, 20}});
  EXPECT_EQ(m.classes[0].label, -1);
  EXPECT_EQ(m.classes[1].label, 1);
  EXPECT_EQ(m.confusion, (std::vector<std::int64_t>{40, 20, 10, 30}));
  EXPECT_DOUBLE_EQ(m.accuracy, 0.7);
  EXPECT_DOUBLE_EQ(m.balanced_accuracy, (30.0 / 40 + 40.0 / 60) / 2);
  EXPECT_DOUBLE_EQ(m.precision, 0.6);
  EXPECT_DOUBLE_EQ(m.recall, 0.75);
  EXPECT_DOUBLE_EQ(m.f1, 2 * 0.6 * 0.75 / (0.6 + 0.75));
  EXPECT_DOUBLE_EQ(m.specificity, 40.0 / 60);
  EXPECT_EQ(m.classes[0].records, 60);
  EXPECT_EQ(m.classes[0].predicted, 50);
  EXPECT_DOUBLE_EQ(m.classes[0].precision, 0.8);
  EXPECT_FALSE(m.probabilities.has_value());
  EXPECT_DOUBLE_EQ(m.roc->area, (30.0 * 40 + (30.0 * 20 + 10.0 * 40) / 2) / (40 * 60));
}

TEST(PredictionTally, OfMoreClassesIsTheMeanOverThem) {
  const Classification m =
      classes_of({3, true, Link::none}, {{0, 0, 5}, {0, 1, 1}, {0, 2, 4}, {1, 1, 8}, {1, 0, 2}, {2, 2, 7}, {2, 1, 3}});
  EXPECT_EQ(m.confusion, (std::vector<std::int64_t>{5, 1, 4, 2, 8, 0, 0, 3, 7}));
  EXPECT_DOUBLE_EQ(m.accuracy, 20.0 / 30);
  EXPECT_DOUBLE_EQ(m.recall, (0.5 + 0.8 + 0.7) / 3);
  EXPECT_DOUBLE_EQ(m.balanced_accuracy, m.recall);
  EXPECT_DOUBLE_EQ(m.precision, (5.0 / 7 + 8.0 / 12 + 7.0 / 11) / 3);
  EXPECT_DOUBLE_EQ(m.f1, (10.0 / 17 + 16.0 / 22 + 14.0 / 21) / 3);
  EXPECT_DOUBLE_EQ(m.specificity, (18.0 / 20 + 16.0 / 20 + 16.0 / 20) / 3);
  EXPECT_FALSE(m.roc.has_value());
}

TEST(PredictionTally, HasNoNumbersWhereNothingDefinesThem) {
  const Classification never = classes_of(margins, {{1, -1, 3}, {-1, -1, 9}});
  EXPECT_EQ(never.precision, 0);
  EXPECT_EQ(never.recall, 0);
  EXPECT_EQ(never.f1, 0);
  EXPECT_EQ(never.balanced_accuracy, 0.5);
  const Classification absent = classes_of(margins, {{-1, -1, 4}});
  EXPECT_TRUE(std::isnan(absent.recall));
  EXPECT_TRUE(std::isnan(absent.f1));
  EXPECT_TRUE(std::isnan(absent.roc->area));
  EXPECT_EQ(absent.balanced_accuracy, 1);
  const Classification none = classes_of(margins, {});
  EXPECT_TRUE(std::isnan(none.accuracy));
  EXPECT_TRUE(std::isnan(PredictionTally(numbers).metrics().regression->rmse));
}

// What scikit-learn has with average="macro" and zero_division=0, by hand. A class counts if it occurs or is predicted.
TEST(PredictionTally, ClassesThatAreNeverPredictedCount) {
  const PredictionForm four{4, true, Link::none};
  const Classification missed = classes_of(four, {{0, 0, 6}, {0, 1, 2}, {1, 1, 5}, {2, 0, 4}, {3, 3, 3}});
  EXPECT_EQ(missed.classes[2].precision, 0);
  EXPECT_DOUBLE_EQ(missed.precision, (6.0 / 10 + 5.0 / 7 + 0 + 1) / 4);
  EXPECT_DOUBLE_EQ(missed.recall, (6.0 / 8 + 1 + 0 + 1) / 4);
  EXPECT_DOUBLE_EQ(missed.f1, (12.0 / 18 + 10.0 / 12 + 0 + 1) / 4);
  EXPECT_DOUBLE_EQ(missed.balanced_accuracy, missed.recall);
  // Class 2 is predicted and does not occur, and of class 3 there is nothing.
  const Classification invented = classes_of(four, {{0, 0, 6}, {0, 2, 2}, {1, 1, 4}});
  EXPECT_EQ(invented.classes[2].recall, 0);
  EXPECT_TRUE(std::isnan(invented.classes[3].precision));
  EXPECT_DOUBLE_EQ(invented.precision, (1.0 + 1 + 0) / 3);
  EXPECT_DOUBLE_EQ(invented.recall, (6.0 / 8 + 1 + 0) / 3);
  EXPECT_DOUBLE_EQ(invented.f1, (12.0 / 14 + 1 + 0) / 3);
  EXPECT_DOUBLE_EQ(invented.specificity, (1.0 + 1 + 10.0 / 12) / 3);
  EXPECT_DOUBLE_EQ(invented.balanced_accuracy, (6.0 / 8 + 1) / 2);
}

TEST(PredictionTally, TakesTiesForWrong) {
  EXPECT_EQ(classes_of(margins, {{1, 0, 2}, {-1, 0, 3}}).confusion, (std::vector<std::int64_t>{0, 3, 2, 0}));
  PredictionTally tally({3, true, Link::softmax});
  for (const double truth : {0, 1, 2}) tally.add(Vector{2, 2, 1}, truth);
  EXPECT_EQ(tally.metrics().classification->confusion, (std::vector<std::int64_t>{0, 1, 0, 1, 0, 0, 1, 0, 0}));
}

/// A loss's own value is −ln p of the true class for a loss that has probabilities.
TEST(PredictionTally, LogLossIsTheMeanOfTheLoss) {
  for (const char* name : {"logistic", "softmax:2", "softmax:4"}) {
    const auto loss = loss_table().make(name);
    PredictionTally tally(PredictionForm::of(*loss));
    AddressedRandom random(3, Purpose::experiment, 0, 0);
    double total = 0;
    for (int i = 0; i < 200; ++i) {
      Vector scores(loss->scores());
      for (double& score : scores) score = 5 * random.normal();
      const double label = loss->scores() == 1 ? (i % 3 == 0 ? 1 : -1) : i % static_cast<int>(loss->scores());
      tally.add(scores, label);
      total += loss->value(scores, label) / 200;
    }
    EXPECT_NEAR(tally.metrics().classification->probabilities->log_loss, total, 1e-12) << name;
  }
}

TEST(PredictionTally, SoftmaxOfTwoIsLogisticOfTheDifference) {
  PredictionTally one({1, true, Link::logit});
  PredictionTally two({2, true, Link::softmax});
  AddressedRandom random(5, Purpose::experiment, 0, 0);
  for (int i = 0; i < 100; ++i) {
    const double score = random.normal();
    one.add(Vector{score}, i % 2 == 0 ? 1 : -1);
    two.add(Vector{0, score}, i % 2 == 0 ? 1 : 0);
  }
  const ProbabilityMetrics a = *one.metrics().classification->probabilities;
  const ProbabilityMetrics b = *two.metrics().classification->probabilities;
  EXPECT_EQ(a.log_loss, b.log_loss);
  EXPECT_EQ(a.brier, b.brier);
  for (std::size_t i = 0; i < a.calibration.size(); ++i) {
    EXPECT_EQ(a.calibration[i].records, b.calibration[i].records);
  }
}

TEST(PredictionTally, CalibratesByTenths) {
  PredictionTally tally({1, true, Link::logit});
  for (const double p : {0.02, 0.08, 0.31, 0.39, 0.97}) {
    tally.add(Vector{std::log(p / (1 - p))}, p == 0.08 || p == 0.97 ? 1 : -1);
  }
  tally.add(Vector{800}, 1);  // p = 1
  const ProbabilityMetrics m = *tally.metrics().classification->probabilities;
  EXPECT_EQ(m.calibration[0].records, 2);
  EXPECT_NEAR(m.calibration[0].probability, 0.05, 1e-15);
  EXPECT_EQ(m.calibration[0].frequency, 0.5);
  EXPECT_EQ(m.calibration[3].records, 2);
  EXPECT_EQ(m.calibration[3].frequency, 0);
  EXPECT_EQ(m.calibration[9].records, 2);
  EXPECT_EQ(m.calibration[9].frequency, 1);
  EXPECT_TRUE(std::isnan(m.calibration[5].frequency));
  const double squares = 0.02 * 0.02 + 0.92 * 0.92 + 0.31 * 0.31 + 0.39 * 0.39 + 0.03 * 0.03;
  EXPECT_NEAR(m.brier, squares / 6, 1e-15);
}

TEST(PredictionTally, OfMoreClassesCalibratesTheMostProbable) {
  PredictionTally tally({3, true, Link::softmax});
  const Vector scores{std::log(0.7), std::log(0.2), std::log(0.1)};
  tally.add(scores, 0);
  tally.add(scores, 2);
  const ProbabilityMetrics m = *tally.metrics().classification->probabilities;
  const CalibrationBin& bin = m.calibration[7].records > 0 ? m.calibration[7] : m.calibration[6];  // 0.7 rounds
  EXPECT_EQ(bin.records, 2);
  EXPECT_NEAR(bin.probability, 0.7, 1e-15);
  EXPECT_EQ(bin.frequency, 0.5);
  EXPECT_NEAR(m.brier, (0.09 + 0.04 + 0.01 + 0.49 + 0.04 + 0.81) / 2, 1e-15);
}

TEST(PredictionTally, MeasuresNumbers) {
  PredictionTally tally(numbers);
  const Vector labels{1, 2, 4, 9};
  const Vector scores{1.5, 2, 3, 7};
  for (std::size_t i = 0; i < labels.size(); ++i) tally.add(View(scores).subspan(i, 1), labels[i]);
  const TestMetrics m = tally.metrics();
  EXPECT_EQ(m.records, 4);
  EXPECT_FALSE(m.classification.has_value());
  EXPECT_DOUBLE_EQ(m.regression->rmse, std::sqrt((0.25 + 0 + 1 + 4) / 4));
  EXPECT_DOUBLE_EQ(m.regression->mae, (0.5 + 0 + 1 + 2) / 4);
  EXPECT_DOUBLE_EQ(m.regression->r2, 1 - 5.25 / (9 + 4 + 0 + 25));
  PredictionTally constant(numbers);
  for (int i = 0; i < 3; ++i) constant.add(Vector{4}, 5);
  EXPECT_TRUE(std::isnan(constant.metrics().regression->r2));
}

TEST(PredictionTally, LabelsFarFromZeroKeepTheirSpread) {
  PredictionTally tally(numbers);
  for (int i = 0; i < 10; ++i) tally.add(Vector{1e9 + i + 1}, 1e9 + i);
  EXPECT_NEAR(tally.metrics().regression->r2, 1 - 10 / 82.5, 1e-12);
}

// Scores are logarithms of means. The mean label is 2.
TEST(TestMetrics, DeviancesOfCountsAndAmounts) {
  for (const char* text : {"poisson", "gamma"}) {
    const auto loss = loss_table().make(text);
    PredictionTally tally(PredictionForm::of(*loss));
    const Vector labels{1, 4, 1};
    const Vector means{2, 3, 0.5};
    double deviance = 0;
    double null = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      tally.add(Vector{std::log(means[i])}, labels[i]);
      deviance += 2 * loss->value(Vector{std::log(means[i])}, labels[i]) / 3;
      null += 2 * loss->value(Vector{std::log(2.0)}, labels[i]) / 3;
    }
    const RegressionMetrics metrics = tally.metrics().regression.value();
    EXPECT_NEAR(metrics.deviance.value(), deviance, 1e-12) << text;
    EXPECT_NEAR(metrics.null_deviance.value(), null, 1e-12) << text;
    EXPECT_DOUBLE_EQ(metrics.mae, (1 + 1 + 0.5) / 3);
  }
  PredictionTally zeros(PredictionForm::of(*loss_table().make("poisson")));
  zeros.add(Vector{-800}, 0);
  EXPECT_NEAR(zeros.metrics().regression->deviance.value(), 0, 1e-12);
  EXPECT_TRUE(std::isnan(zeros.metrics().regression->null_deviance.value()));
}

TEST(PredictionTally, CountsScoresThatAreNoNumbersAsWrong) {
  PredictionTally tally({1, true, Link::logit});
  tally.add(Vector{std::nan("")}, 1);
  tally.add(Vector{infinity}, 1);
  tally.add(Vector{2}, 1);
  const Classification m = *tally.metrics().classification;
  EXPECT_DOUBLE_EQ(m.accuracy, 1.0 / 3);
  EXPECT_EQ(m.probabilities->log_loss, infinity);
  PredictionTally regression(numbers);
  regression.add(Vector{std::nan("")}, 1);
  regression.add(Vector{2}, 1);
  EXPECT_EQ(regression.metrics().regression->rmse, infinity);
}

TEST(PredictionTally, HasAConfusionMatrixForFewClassesOnly) {
  PredictionTally tally({most_confused + 1, true, Link::none});
  Vector scores(most_confused + 1, 0.0);
  scores[most_confused] = 1;
  tally.add(scores, most_confused);
  tally.add(scores, 3);
  const Classification m = *tally.metrics().classification;
  EXPECT_TRUE(m.confusion.empty());
  EXPECT_EQ(m.accuracy, 0.5);
  EXPECT_EQ(m.balanced_accuracy, 0.5);
}

// Own models say which class it is, and their labels are any.
TEST(PredictionTally, CountsClassesThatScoresName) {
  const PredictionForm names{1, true, Link::none, true};
  const std::vector<Cell> cells{{5, 5, 30}, {-2, -2, 40}, {5, -2, 10}, {-2, 5, 20}};
  const Classification m = classes_of(names, cells);
  EXPECT_EQ(m.classes[0].label, -2);
  EXPECT_EQ(m.classes[1].label, 5);
  EXPECT_EQ(m.confusion, (std::vector<std::int64_t>{40, 20, 10, 30}));
  EXPECT_DOUBLE_EQ(m.accuracy, 0.7);
  EXPECT_DOUBLE_EQ(m.precision, 0.6);
  EXPECT_DOUBLE_EQ(m.recall, 0.75);
  EXPECT_FALSE(m.roc.has_value());
  PredictionTally tally(names);
  tally.add(Vector{std::nan("")}, 7);
  tally.add(Vector{8}, 7);
  const Classification wrong = *tally.metrics().classification;
  EXPECT_EQ(wrong.accuracy, 0);
  EXPECT_EQ(wrong.classes[0].records, 2);  // of class 7
  EXPECT_EQ(wrong.classes[0].predicted, 0);
  EXPECT_EQ(wrong.classes[1].predicted, 1);
  for (std::size_t k = 0; k < most_confused; ++k) tally.add(Vector{static_cast<double>(k) + 0.25}, 7);
  EXPECT_THROW(static_cast<void>(tally.metrics()), DataError);
}

TEST(PredictionTally, RefusesWhatItCannotMeasure) {
  EXPECT_THROW(PredictionTally({1, false, Link::none}), FailureError);
  EXPECT_THROW(PredictionTally({2, false, Link::identity}), FailureError);
  EXPECT_THROW(PredictionTally(margins).add(Vector{1}, 2), FailureError);
  EXPECT_THROW(PredictionTally({3, true, Link::softmax}).add(Vector{1, 2, 3}, 3), FailureError);
}

TEST(LongSum, IsExactToRoundings) {
  LongSum sum;
  sum.add(1e16);
  for (int i = 0; i < 1000; ++i) sum.add(1);
  sum.add(-1e16);
  EXPECT_EQ(sum.value(), 1000);
}

TEST(PredictionForm, FollowsFromTheLoss) {
  EXPECT_TRUE(PredictionForm::of(*loss_table().make("hinge")).predicts());
  EXPECT_TRUE(PredictionForm::of(*loss_table().make("huber")).predicts());
  EXPECT_FALSE(PredictionForm::of(*loss_table().make("linear")).predicts());
}

}  // namespace starling::test_metrics_test
