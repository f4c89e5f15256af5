/// What linear models must keep under every loss, with and without an intercept.
#include "model/records.hpp"
#include "support/testing.hpp"

namespace starling {
namespace {

using testing_support::LinearCase;
using testing_support::TwinBatch;

constexpr std::size_t features = 7;
constexpr std::size_t records = 12;

class AnyLinearModel : public testing::TestWithParam<LinearCase> {
 protected:
  AddressedRandom random_{50, Purpose::experiment, 0, 0};
  std::unique_ptr<Loss> loss_ = loss_table().make(GetParam().loss.spec);
  LinearModel model_{*loss_, features, GetParam().intercept};
  TwinBatch batch_ = testing_support::random_records(*loss_, GetParam().loss, features, records, random_);
  Vector parameters_ = testing_support::random_parameters(model_.dimension(), random_);
};

TEST(LinearModels, AreTestedWithEveryLoss) {
  EXPECT_EQ(testing_support::rows_without_example(), "")
      << "give these losses an example spec in tests/loss/examples.hpp";
}

TEST_P(AnyLinearModel, HasAWeightPerScoreAndFeature) {
  EXPECT_EQ(model_.dimension(), loss_->scores() * (features + (GetParam().intercept ? 1 : 0)));
  EXPECT_EQ(model_.classifies(), loss_->classifies());
}

TEST_P(AnyLinearModel, GradientIsThatOfTheSummedLoss) {
  constexpr double h = 1e-5;
  Vector gradient;
  model_.evaluate(parameters_, batch_.dense, {}, gradient);
  ASSERT_EQ(gradient.size(), model_.dimension());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Vector above = parameters_;
    Vector beneath = parameters_;
    above[i] += h;
    beneath[i] -= h;
    const double slope = (model_.score(above, batch_.dense).loss - model_.score(beneath, batch_.dense).loss) / (2 * h);
    EXPECT_NEAR(gradient[i], slope, 1e-6) << i;
  }
}

TEST_P(AnyLinearModel, SparseRowsAreTheDense) {
  for (const Clip clip : {Clip{}, Clip{ClipKind::l1, 0.4}, Clip{ClipKind::l2, 0.4}, Clip{ClipKind::component, 0.2}}) {
    Vector dense;
    Vector sparse;
    const Score first = model_.evaluate(parameters_, batch_.dense, clip, dense);
    const Score second = model_.evaluate(parameters_, batch_.sparse, clip, sparse);
    for (std::size_t i = 0; i < dense.size(); ++i) EXPECT_NEAR(dense[i], sparse[i], 1e-12) << i;
    EXPECT_NEAR(first.loss, second.loss, 1e-12);
    EXPECT_EQ(first.correct, second.correct);
    EXPECT_EQ(first.records, second.records);
  }
}

TEST_P(AnyLinearModel, ScoreIsThatOfEvaluate) {
  Vector gradient;
  const Score evaluated = model_.evaluate(parameters_, batch_.dense, {ClipKind::l2, 0.1}, gradient);
  const Score scored = model_.score(parameters_, batch_.dense);
  EXPECT_EQ(evaluated.loss, scored.loss);
  EXPECT_EQ(evaluated.correct, scored.correct);
  EXPECT_EQ(evaluated.records, static_cast<std::int64_t>(records));
  EXPECT_EQ(scored.records, static_cast<std::int64_t>(records));
}

// The scores themselves, formed here from the layout that model.hpp states.
TEST_P(AnyLinearModel, ScoresAreLinearInTheFeatures) {
  double loss = 0;
  std::int64_t correct = 0;
  const std::size_t stride = features + (GetParam().intercept ? 1 : 0);
  for (std::size_t i = 0; i < records; ++i) {
    Vector scores(loss_->scores());
    for (std::size_t k = 0; k < scores.size(); ++k) {
      for (std::size_t j = 0; j < features; ++j)
        scores[k] += parameters_[k * stride + j] * batch_.dense.row(i).values[j];
      if (GetParam().intercept) scores[k] += parameters_[k * stride + features];
    }
    loss += loss_->value(scores, batch_.dense.label(i));
    correct += loss_->correct(scores, batch_.dense.label(i)) ? 1 : 0;
  }
  const Score score = model_.score(parameters_, batch_.dense);
  EXPECT_NEAR(score.loss, loss, 1e-12 * loss);
  EXPECT_EQ(score.correct, correct);
}

TEST_P(AnyLinearModel, LeavesTheParametersAlone) {
  const Vector before = parameters_;
  Vector gradient;
  model_.evaluate(parameters_, batch_.sparse, {ClipKind::l2, 1}, gradient);
  static_cast<void>(model_.score(parameters_, batch_.sparse));
  EXPECT_EQ(parameters_, before);
}

// Whatever the gradient held, and however long it was.
TEST_P(AnyLinearModel, AnEmptyBatchHasTheZeroGradient) {
  Vector gradient(3, 9.0);
  const Score score = model_.evaluate(parameters_, Batch(), {ClipKind::l2, 1}, gradient);
  EXPECT_EQ(gradient, Vector(model_.dimension()));
  EXPECT_EQ(score.records, 0);
  EXPECT_EQ(score.loss, 0);
}

INSTANTIATE_TEST_SUITE_P(Table, AnyLinearModel, testing::ValuesIn(testing_support::linear_cases()),
                         [](const auto& row) { return testing_support::case_name(row.param); });

}  // namespace
}  // namespace starling
