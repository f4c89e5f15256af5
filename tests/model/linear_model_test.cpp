/// What linear models must keep under every loss, with and without an intercept.
#include "model/linear_model.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/kernels.hpp"
#include "records.hpp"
#include "support/testing.hpp"

namespace starling::linear_model_test {

using namespace testing_support;

constexpr std::size_t features = 7;
constexpr std::size_t records = 12;

class AnyLinearModel : public testing::TestWithParam<LinearCase> {
 protected:
  AddressedRandom random_{50, Purpose::experiment, 0, 0};
  std::unique_ptr<Loss> loss_ = loss_table().make(GetParam().loss.spec);
  LinearModel model_{*loss_, features, GetParam().intercept};
  TwinBatch batch_ = random_records(*loss_, GetParam().loss, features, records, random_);
  Vector parameters_ = random_parameters(model_.dimension(), random_);

  /// The plain path: record after record, by the kernels alone.
  [[nodiscard]] Score evaluate_plainly(View parameters, const Batch& batch, const Clip& clip, std::size_t size,
                                       Vector& gradient) const {
    const bool intercept = GetParam().intercept;
    const std::size_t stride = size + (intercept ? 1 : 0);
    gradient.assign(loss_->scores() * stride, 0.0);
    Score total;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Row row = batch.row(i);
      const double label = batch.label(i);
      Vector scores;
      for (std::size_t k = 0; k < loss_->scores(); ++k) {
        const View weights = parameters.subspan(k * stride, size);
        scores.push_back((row.sparse() ? dot(row.values, row.index, weights) : dot(row.values, weights)) +
                         (intercept ? parameters[k * stride + size] : 0));
      }
      total += {loss_->value(scores, label), loss_->correct(scores, label) ? 1 : 0, 1};
      Vector derivative(scores.size());
      loss_->derivative(scores, label, derivative);
      double norm = 0;
      if (clip.kind == ClipKind::l1) norm = norm1(derivative) * (norm1(row.values) + (intercept ? 1 : 0));
      if (clip.kind == ClipKind::l2) {
        norm = norm2(derivative) * std::sqrt(dot(row.values, row.values) + (intercept ? 1 : 0));
      }
      const double factor = norm > clip.bound ? clip.bound / norm : 1;
      for (std::size_t k = 0; k < scores.size(); ++k) {
        const auto add = [&](std::size_t j, double x) {
          gradient[k * stride + j] += clip.kind == ClipKind::component
                                          ? std::clamp(derivative[k] * x, -clip.bound, clip.bound)
                                          : factor * derivative[k] * x;
        };
        for (std::size_t j = 0; j < row.values.size(); ++j) {
          add(row.sparse() ? static_cast<std::size_t>(row.index[j]) : j, row.values[j]);
        }
        if (intercept) add(size, 1);
      }
    }
    return total;
  }
};

TEST(LinearModels, AreTestedWithEveryLoss) {
  EXPECT_EQ(rows_without_example(), "") << "give these losses an example spec in tests/loss/examples.hpp";
}

TEST_P(AnyLinearModel, AnswersAConstantByItsIntercepts) {
  const Vector wanted = random_parameters(loss_->scores(), random_);
  const std::optional<Vector> constant = model_.constant(wanted);
  ASSERT_EQ(constant.has_value(), GetParam().intercept);
  if (!constant) return;
  Vector gradient;
  Score total;
  for (std::size_t i = 0; i < batch_.dense.size(); ++i) {
    const double label = batch_.dense.label(i);
    total += {loss_->value(wanted, label), loss_->correct(wanted, label) ? 1 : 0, 1};
  }
  const Score found = model_.score(*constant, batch_.dense);
  EXPECT_NEAR(found.loss, total.loss, 1e-12 * (1 + std::abs(total.loss)));
  EXPECT_EQ(found.correct, total.correct);
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

// A batch is evaluated several records at a time, rows of few features by loops of their own, and some losses share
// what value and slope have in common: all to the bits of one record after the other.
TEST_P(AnyLinearModel, IsThePlainPathToTheBit) {
  for (const std::size_t size : {1U, 2U, 5U, 6U, 9U, 123U, 1500U, 2500U}) {
    LinearModel model(*loss_, size, GetParam().intercept);
    const Vector parameters = random_parameters(model.dimension(), random_);
    const TwinBatch batch = random_records(*loss_, GetParam().loss, size, size < 10 ? 150 : 20, random_);
    for (const Clip clip : {Clip{}, Clip{ClipKind::l1, 0.4}, Clip{ClipKind::l2, 0.4}, Clip{ClipKind::component, 0.2}}) {
      for (const Batch* rows : {&batch.dense, &batch.sparse}) {
        Vector gradient;
        Vector expected;
        const Score score = model.evaluate(parameters, *rows, clip, gradient);
        const Score plain = evaluate_plainly(parameters, *rows, clip, size, expected);
        EXPECT_EQ(gradient, expected) << size;
        EXPECT_EQ(score.loss, plain.loss) << size;
        EXPECT_EQ(score.correct, plain.correct) << size;
        EXPECT_EQ(score.records, plain.records) << size;
      }
    }
  }
}

TEST_P(AnyLinearModel, EvaluatesARecordAlikeWhereverItStands) {
  Batch store;
  for (std::size_t i = 0; i < 300; ++i) store.add(batch_.dense.row(i % records), batch_.dense.label(i % records));
  Vector all;
  Vector part;
  for (const std::size_t first : {0U, 1U, 63U, 64U, 65U, 200U}) {
    Batch shown;
    shown.show(store, first, 90);
    Batch copied;
    for (std::size_t i = first; i < first + 90; ++i) copied.add(store.row(i), store.label(i));
    for (const Clip clip : {Clip{}, Clip{ClipKind::l1, 0.4}, Clip{ClipKind::l2, 0.4}}) {
      const Score one = model_.evaluate(parameters_, shown, clip, all);
      const Score other = model_.evaluate(parameters_, copied, clip, part);
      EXPECT_EQ(all, part) << first;
      EXPECT_EQ(one.loss, other.loss) << first;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, AnyLinearModel, testing::ValuesIn(linear_cases()),
                         [](const auto& row) { return case_name(row.param); });

}  // namespace starling::linear_model_test
