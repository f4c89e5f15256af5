/// Conformance tests of all losses of the table, and of one that is added to it.
#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "core/numerics/kernels.hpp"
#include "core/random.hpp"
#include "examples.hpp"
#include "pseudo_huber.hpp"
#include "support/testing.hpp"

namespace starling::losses_test {

using namespace testing_support;

/// The table's losses and one more, which is defined in pseudo_huber.hpp alone.
const Table<Loss>& extended_table() {
  static const Table<Loss> table = loss_table().with(pseudo_huber_row());
  return table;
}

std::vector<LossExample> extended_examples() {
  std::vector<LossExample> examples = loss_examples();
  examples.push_back({"pseudo-huber:0.7", {-3.5, 0, 0.25, 7}, {}, ""});
  return examples;
}

class AnyLoss : public testing::TestWithParam<LossExample> {
 protected:
  std::unique_ptr<Loss> loss_ = extended_table().make(GetParam().spec);
  AddressedRandom random_{40, Purpose::experiment, 0, 0};

  Vector random_scores(double size) {
    Vector scores(loss_->scores());
    for (double& score : scores) score = size * random_.normal();
    return scores;
  }
  [[nodiscard]] Vector derivative(View scores, double label) const {
    Vector result(scores.size(), std::nan(""));  // what was there must not matter
    loss_->derivative(scores, label, result);
    return result;
  }
  /// The example's labels as the loss has them.
  [[nodiscard]] Vector labels() const {
    Vector result;
    for (const double raw : GetParam().labels) result.push_back(loss_->label(raw));
    return result;
  }
};

/// The mean slope vanishes at the scores of the labels' own shares.
TEST(ScoresOfProbabilities, AreThoseOfLeastMeanLoss) {
  for (const char* const name : {"logistic", "hazard", "softmax:3"}) {
    const std::unique_ptr<Loss> loss = loss_table().make(name);
    const std::size_t classes = classes_of(*loss);
    const Vector shares = classes == 2 ? Vector{0.98, 0.02} : Vector{0.9, 0.07, 0.03};
    const Vector scores = scores_of(loss->link(), shares);
    ASSERT_EQ(scores.size(), loss->scores()) << name;
    Vector slope(scores.size());
    Vector mean(scores.size());
    for (std::size_t k = 0; k < classes; ++k) {
      loss->derivative(scores, loss->label(static_cast<double>(k)), slope);
      for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += shares[k] * slope[j];
    }
    for (const double each : mean) EXPECT_NEAR(each, 0, 1e-15) << name;
  }
}

TEST(LossTable, EveryRowHasAnExample) {
  EXPECT_EQ(rows_without_example(), "") << "give these losses an example spec in tests/loss/examples.hpp";
}

TEST_P(AnyLoss, DerivativeIsThatOfTheValue) {
  constexpr double h = 1e-5;
  for (int trial = 0; trial < 200; ++trial) {
    const Vector scores = random_scores(3);
    for (const double label : labels()) {
      const Vector slope = derivative(scores, label);
      for (std::size_t k = 0; k < scores.size(); ++k) {
        Vector above = scores;
        Vector beneath = scores;
        above[k] += h;
        beneath[k] -= h;
        EXPECT_NEAR(slope[k], (loss_->value(above, label) - loss_->value(beneath, label)) / (2 * h), 1e-8);
      }
    }
  }
}

// Along segments, and above its tangents: the second would notice a derivative with a wrong sign far out.
TEST_P(AnyLoss, IsConvex) {
  for (int trial = 0; trial < 500; ++trial) {
    const Vector a = random_scores(trial % 2 == 0 ? 2 : 40);
    const Vector b = random_scores(trial % 3 == 0 ? 2 : 40);
    const double share = random_.uniform();
    Vector between = a;
    scale(share, between);
    axpy(1 - share, b, between);
    for (const double label : labels()) {
      const double chord = share * loss_->value(a, label) + (1 - share) * loss_->value(b, label);
      EXPECT_LE(loss_->value(between, label), chord + 1e-12 * (1 + std::abs(chord)));
      const Vector slope = derivative(a, label);
      const double tangent = loss_->value(a, label) + dot(slope, b) - dot(slope, a);
      EXPECT_GE(loss_->value(b, label), tangent - 1e-9);
    }
  }
}

TEST_P(AnyLoss, IsNeverNegativeIfItSaysSo) {
  if (!loss_->bounded_below()) {
    const auto value = [&](double score) { return loss_->value(Vector(loss_->scores(), score), labels()[0]); };
    EXPECT_LT(std::min(value(-1e9), value(1e9)), 0);
    return;
  }
  for (const double size : {1e-9, 1.0, 30.0, 300.0}) {
    for (int trial = 0; trial < 100; ++trial) {
      const Vector scores = random_scores(size);
      for (const double label : labels()) EXPECT_GE(loss_->value(scores, label), 0);
    }
  }
}

// exp(800) is infinite.
TEST_P(AnyLoss, StaysFiniteAtExtremeScores) {
  for (int trial = 0; trial < 100; ++trial) {
    Vector scores(loss_->scores());
    for (double& score : scores) score = random_.below(2) == 0 ? 800 : -800;
    for (const double label : labels()) {
      EXPECT_TRUE(std::isfinite(loss_->value(scores, label)));
      for (const double slope : derivative(scores, label)) EXPECT_TRUE(std::isfinite(slope));
    }
  }
}

TEST_P(AnyLoss, RefusesLabelsOutsideItsSetAndNamesTheSet) {
  for (const double raw : GetParam().labels) EXPECT_NO_THROW(static_cast<void>(loss_->label(raw))) << raw;
  for (const double raw : GetParam().outside) {
    const std::string message = message_of<DataError>([&] { return loss_->label(raw); });
    EXPECT_THAT(message, HasSubstr(GetParam().set)) << raw << ": " << message;
    EXPECT_THAT(message, HasSubstr(fmt::format("label {} ", raw)));
    try {
      static_cast<void>(loss_->label(raw));
    } catch (const RecordError& error) {  // what others may read
      EXPECT_TRUE(std::string(error.what()).starts_with("a label is outside the set")) << error.what();
    }
  }
}

// Of all labels one is predicted, and it is the one of least loss.
TEST_P(AnyLoss, PredictsTheLabelOfLeastLoss) {
  for (int trial = 0; trial < 200; ++trial) {
    const Vector scores = random_scores(2);
    int predicted = 0;
    double least = INFINITY;
    for (const double label : labels()) least = std::min(least, loss_->value(scores, label));
    for (const double label : labels()) {
      if (!loss_->correct(scores, label)) continue;
      ++predicted;
      EXPECT_EQ(loss_->value(scores, label), least);
    }
    EXPECT_EQ(predicted, loss_->classifies() ? 1 : 0);
  }
}

// A model of zeros is right for no label, record by record and in batches.
TEST_P(AnyLoss, ScoresThatTieAreNeverRight) {
  if (!loss_->classifies()) GTEST_SKIP() << "no classes";
  const Vector truths = labels();
  const Vector zeros(loss_->scores() * truths.size(), 0.0);
  for (const double truth : truths) EXPECT_FALSE(loss_->correct(View(zeros).first(loss_->scores()), truth));
  Vector slopes(zeros.size());
  LossTally tally;
  loss_->evaluate(zeros, truths, slopes, tally);
  EXPECT_EQ(tally.correct, 0);
}

// Whether it goes by the class's own functions or by the family's: to the bit what calls for each record come to.
TEST_P(AnyLoss, EvaluatesABatchAsItsRecords) {
  for (const double size : {0.1, 3.0, 50.0}) {
    Vector scores;
    Vector truths;
    for (int i = 0; i < 300; ++i) {
      const Vector own = random_scores(i == 0 ? 0 : size);
      scores.insert(scores.end(), own.begin(), own.end());
      truths.push_back(labels()[random_.below(labels().size())]);
    }
    Vector slopes(scores.size(), std::nan(""));
    LossTally tally{1, 2};
    loss_->evaluate(scores, truths, slopes, tally);
    Vector slopes_of_family(scores.size(), std::nan(""));
    LossTally of_family{1, 2};
    loss_->Loss::evaluate(scores, truths, slopes_of_family, of_family);
    LossTally expected{1, 2};
    const std::size_t count = loss_->scores();
    for (std::size_t i = 0; i < truths.size(); ++i) {
      const View own = View(scores).subspan(i * count, count);
      expected.value += loss_->value(own, truths[i]);
      expected.correct += loss_->correct(own, truths[i]) ? 1 : 0;
      const Vector slope = derivative(own, truths[i]);
      const View here = View(slopes).subspan(i * count, count);
      EXPECT_EQ(Vector(here.begin(), here.end()), slope) << i;
    }
    for (const LossTally& each : {tally, of_family}) {
      EXPECT_EQ(each.value, expected.value);
      EXPECT_EQ(each.correct, loss_->classifies() ? expected.correct : 2);
    }
    EXPECT_EQ(slopes_of_family, slopes);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, AnyLoss, testing::ValuesIn(extended_examples()),
                         [](const auto& row) { return test_name(row.param.spec); });

// Lists of messages and help texts come from the losses themselves.
// The test leaves out losses that it does not know.
TEST(LossTable, TellsMembersByTheirProperties) {
  const auto names = [](bool (*hold)(const Loss&)) {
    const Table<Loss> found = losses_that(hold);
    std::vector<std::string> known;
    for (const char* name :
         {"logistic", "dwd", "squared", "huber", "expectile", "absolute", "hinge", "linear", "softmax"}) {
      if (std::ranges::any_of(found.rows(), [&](const auto& row) { return row.name == name; }))
        known.emplace_back(name);
    }
    return fmt::format("{}", fmt::join(known, ", "));
  };
  EXPECT_EQ(names([](const Loss& loss) { return loss.curved() != nullptr; }),
            "logistic, dwd, squared, huber, expectile");
  EXPECT_EQ(names([](const Loss& loss) { return loss.curved() != nullptr && loss.curved()->has_estimand(); }),
            "logistic, squared, huber, expectile");
  EXPECT_EQ(names([](const Loss& loss) { return loss.classifies(); }), "logistic, dwd, hinge, softmax");
  EXPECT_EQ(names([](const Loss& loss) { return !loss.bounded_below(); }), "linear");
  EXPECT_TRUE(has_parameter("dwd:2", "smoothing"));
  EXPECT_FALSE(has_parameter("huber", "smoothing"));
  EXPECT_FALSE(has_parameter("parabola", "smoothing"));
  EXPECT_TRUE(counts_classes("softmax:3"));
  EXPECT_FALSE(counts_classes("hinge"));
}

TEST(Logistic, TakesZeroForMinusOne) {
  const auto loss = loss_table().make("logistic");
  EXPECT_EQ(loss->label(0), -1);
  EXPECT_EQ(loss->label(-1), -1);
  EXPECT_EQ(loss->label(1), 1);
}

// ln 2 at zero; e^{-800} far on the right side, where 1 − 1 would leave nothing; the margin itself on the wrong side.
TEST(Logistic, HasItsKnownValues) {
  const auto loss = loss_table().make("logistic");
  EXPECT_DOUBLE_EQ(loss->value(Vector{0}, 1), std::log(2.0));
  EXPECT_DOUBLE_EQ(loss->value(Vector{40}, 1), std::exp(-40.0));
  EXPECT_DOUBLE_EQ(loss->value(Vector{800}, -1), 800);
  Vector slope(1);
  loss->derivative(Vector{40}, 1, slope);
  EXPECT_DOUBLE_EQ(slope[0], -std::exp(-40.0));
  loss->derivative(Vector{-800}, 1, slope);
  EXPECT_EQ(slope[0], -1);
}

TEST(Squared, HasItsKnownValues) {
  const auto loss = loss_table().make("squared");
  EXPECT_EQ(loss->value(Vector{3}, 1), 2);
  Vector slope(1);
  loss->derivative(Vector{3}, 1, slope);
  EXPECT_EQ(slope[0], 2);
  EXPECT_FALSE(loss->classifies());
}

// Squared within c of the label, and from there on along its tangent.
TEST(Huber, HasItsKnownValues) {
  const auto loss = loss_table().make("huber:2");
  EXPECT_EQ(loss->value(Vector{2.5}, 1), 1.125);
  EXPECT_EQ(loss->value(Vector{3}, 1), 2);
  EXPECT_EQ(loss->value(Vector{-9}, 1), 18);
  Vector slope(1);
  loss->derivative(Vector{-9}, 1, slope);
  EXPECT_EQ(slope[0], -2);
  for (const char* spec : {"huber:0", "huber:-1", "huber:inf"}) {
    EXPECT_THROW(static_cast<void>(loss_table().make(spec)), UsageError) << spec;
  }
}

// Huber's loss, weighted by the side on which the label lies.
TEST(Expectile, HasItsKnownValues) {
  const auto loss = loss_table().make("expectile:tau=0.75,c=2");
  for (const auto& [score, value, slope] :
       {std::tuple{-1.0, 0.375, -0.75}, {0.0, 0.0, 0.0}, {1.0, 0.125, 0.25}, {-9.0, 12.0, -1.5}, {9.0, 4.0, 0.5}}) {
    EXPECT_EQ(loss->value(Vector{score}, 0), value);
    Vector derivative(1);
    loss->derivative(Vector{score}, 0, derivative);
    EXPECT_EQ(derivative[0], slope);
  }
  const auto curved = make_curved_loss("expectile:tau=0.75,c=2");
  EXPECT_EQ(curved->curvature(-1, 0), 0.75);
  EXPECT_EQ(curved->curvature(1, 0), 0.25);
  EXPECT_EQ(curved->curvature(3, 0), 0);
  EXPECT_EQ(curved->most_curvature(), 0.75);
  EXPECT_EQ(curved->most_slope(), 1.5);
  EXPECT_EQ(make_curved_loss("expectile:tau=0.2,c=2")->most_slope(), 1.6);
}

TEST(Expectile, OfOneHalfIsHalfOfHuber) {
  const auto expectile = loss_table().make("expectile");
  const auto huber = loss_table().make("huber");
  for (const double score : {-3.0, -1.0, 0.0, 0.5, 9.0}) {
    EXPECT_EQ(expectile->value(Vector{score}, 0.25), 0.5 * huber->value(Vector{score}, 0.25));
  }
}

TEST(Expectile, RefusesWhatItCannotBe) {
  for (const char* spec : {"expectile:0", "expectile:1", "expectile:-0.5", "expectile:tau=nan", "expectile:0.5,0",
                           "expectile:0.5,inf", "expectile:0.5,c=-1"}) {
    EXPECT_THROW(static_cast<void>(loss_table().make(spec)), UsageError) << spec;
  }
}

TEST(Quantile, HasItsKnownValuesAndSubgradient) {
  const auto loss = loss_table().make("quantile:0.75");
  Vector slope(1);
  for (const auto& [score, label, value, expected] :
       {std::tuple{3.0, 1.0, 0.5, 0.25}, {-3.0, 1.0, 3.0, -0.75}, {1.5, 1.5, 0.0, 0.0}}) {
    EXPECT_EQ(loss->value(Vector{score}, label), value);
    loss->derivative(Vector{score}, label, slope);
    EXPECT_EQ(slope[0], expected);
  }
  EXPECT_FALSE(loss->classifies());
  EXPECT_EQ(loss->curved(), nullptr);
  for (const char* spec : {"quantile:0", "quantile:1", "quantile:-0.5", "quantile:tau=nan"}) {
    EXPECT_THROW(static_cast<void>(loss_table().make(spec)), UsageError) << spec;
  }
}

TEST(Absolute, HasItsKnownValuesAndSubgradient) {
  const auto loss = loss_table().make("absolute");
  Vector slope(1);
  for (const auto& [score, label, value, expected] :
       {std::tuple{3.0, 1.0, 2.0, 1.0}, {-3.0, 1.0, 4.0, -1.0}, {1.5, 1.5, 0.0, 0.0}}) {
    EXPECT_EQ(loss->value(Vector{score}, label), value);
    loss->derivative(Vector{score}, label, slope);
    EXPECT_EQ(slope[0], expected);
  }
  EXPECT_FALSE(loss->classifies());
}

TEST(Hinge, HasItsKnownValuesAndSubgradient) {
  const auto loss = loss_table().make("hinge");
  Vector slope(1);
  for (const auto& [score, label, value, expected] :
       {std::tuple{0.25, 1.0, 0.75, -1.0}, {3.0, 1.0, 0.0, 0.0}, {1.0, 1.0, 0.0, 0.0}, {2.0, -1.0, 3.0, 1.0}}) {
    EXPECT_EQ(loss->value(Vector{score}, label), value);
    loss->derivative(Vector{score}, label, slope);
    EXPECT_EQ(slope[0], expected);
  }
}

TEST(Softmax, HasItsKnownValues) {
  const auto loss = loss_table().make("softmax:classes=4");
  EXPECT_EQ(loss->scores(), 4U);
  EXPECT_DOUBLE_EQ(loss->value(Vector{5, 5, 5, 5}, 2), std::log(4.0));
  Vector slope(4);
  loss->derivative(Vector{5, 5, 5, 5}, 2, slope);
  EXPECT_EQ(slope, (Vector{0.25, 0.25, -0.75, 0.25}));
  // A common shift of all scores changes nothing.
  EXPECT_NEAR(loss->value(Vector{700, 701, 702, 703}, 0), loss->value(Vector{0, 1, 2, 3}, 0), 1e-12);
}

// Two classes are the logistic loss of the difference.
TEST(Softmax, OfTwoClassesIsLogistic) {
  const auto softmax = loss_table().make("softmax:2");
  const auto logistic = loss_table().make("logistic");
  for (const double s : {-30.0, -1.0, 0.0, 0.5, 20.0}) {
    EXPECT_NEAR(softmax->value(Vector{0, s}, 1), logistic->value(Vector{s}, 1), 1e-14);
    EXPECT_NEAR(softmax->value(Vector{0, s}, 0), logistic->value(Vector{s}, -1), 1e-14);
  }
}

TEST(Softmax, NeedsTwoClassesOrMore) {
  for (const char* spec : {"softmax", "softmax:1", "softmax:0", "softmax:-3", "softmax:2.5", "softmax:1e9"}) {
    EXPECT_THROW(static_cast<void>(loss_table().make(spec)), UsageError) << spec;
  }
}

}  // namespace starling::losses_test
