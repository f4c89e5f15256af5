/// Linear models with curvature: gradients as LinearModel's, Gram products, rows scaled to a bound.
#include "model/curved_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numerics/kernels.hpp"
#include "model/linear_model.hpp"
#include "records.hpp"
#include "support/testing.hpp"

namespace starling::curved_model_test {

using namespace testing_support;
using Weight = CurvedModel::Weight;

constexpr std::size_t features = 7;
constexpr std::size_t order = features + 1;
constexpr std::size_t records = 25;
constexpr double inf = std::numeric_limits<double>::infinity();
const std::vector<Clip> clips{{}, {ClipKind::l1, 0.4}, {ClipKind::l2, 0.4}, {ClipKind::component, 0.2}};

std::vector<LossExample> curved_examples() {
  std::vector<LossExample> examples;
  for (const LossExample& example : loss_examples()) {
    if (dynamic_cast<CurvedLoss*>(loss_table().make(example.spec).get()) != nullptr) examples.push_back(example);
  }
  return examples;
}

/// x̄ = (x, 1), scaled to length `bound` if it is longer.
Vector extended(const Row& dense, double bound) {
  Vector row(dense.values.begin(), dense.values.end());
  row.push_back(1);
  const double norm = norm2(row);
  if (norm > bound) scale(bound / norm, row);
  return row;
}

/// Σ w x̄ x̄ᵀ, packed, with the weights that `weight(score, label)` gives.
template <class F>
Vector direct_gram(View theta, const Batch& batch, double bound, F weight) {
  Vector triangle(triangle_size(order));
  for (std::size_t r = 0; r < batch.size(); ++r) {
    const Vector row = extended(batch.row(r), bound);
    const double w = weight(dot(row, theta), batch.label(r));
    for (std::size_t i = 0; i < order; ++i) {
      for (std::size_t j = i; j < order; ++j) triangle[triangle_at(i, j, order)] += w * row[i] * row[j];
    }
  }
  return triangle;
}

void expect_near(View observed, View expected, double relative) {
  ASSERT_EQ(observed.size(), expected.size());
  double size = 0;
  for (const double value : expected) size = std::max(size, std::abs(value));
  for (std::size_t i = 0; i < observed.size(); ++i) EXPECT_NEAR(observed[i], expected[i], relative * size) << i;
}

/// The batch with classes for labels: i mod K.
TwinBatch with_classes(const TwinBatch& batch, std::size_t classes) {
  TwinBatch result;
  for (std::size_t i = 0; i < batch.dense.size(); ++i) {
    result.dense.add(batch.dense.row(i), static_cast<double>(i % classes));
    result.sparse.add(batch.sparse.row(i), static_cast<double>(i % classes));
  }
  return result;
}

class AnyCurvedModel : public testing::TestWithParam<LossExample> {
 protected:
  AddressedRandom random_{52, Purpose::experiment, 0, 0};
  std::unique_ptr<CurvedLoss> loss_ = make_curved_loss(GetParam().spec);
  TwinBatch batch_ = random_records(*loss_, GetParam(), features, records, random_);
  Vector parameters_ = random_parameters(3 * order, random_);

  [[nodiscard]] View theta() const { return View(parameters_).first(order); }
  [[nodiscard]] double slope(double score, double label) const {
    double result = 0;
    loss_->derivative(View(&score, 1), label, MutableView(&result, 1));
    return result;
  }
};

TEST_P(AnyCurvedModel, OfOneScoreIsTheLinearModelToTheBit) {
  CurvedModel curved(*loss_, features);
  LinearModel linear(*loss_, features, true);
  EXPECT_EQ(curved.dimension(), linear.dimension());
  EXPECT_EQ(curved.classifies(), linear.classifies());
  for (const Batch* batch : {&batch_.dense, &batch_.sparse}) {
    for (const Clip& clip : clips) {
      Vector ours;
      Vector theirs;
      const Score a = curved.evaluate(theta(), *batch, clip, ours);
      const Score b = linear.evaluate(theta(), *batch, clip, theirs);
      EXPECT_EQ(ours, theirs);
      EXPECT_EQ(a.loss, b.loss);
      EXPECT_EQ(a.correct, b.correct);
      EXPECT_EQ(a.records, b.records);
    }
    EXPECT_EQ(curved.score(theta(), *batch).loss, linear.score(theta(), *batch).loss);
  }
}

TEST_P(AnyCurvedModel, GramIsTheWeightedSumOfProducts) {
  for (const double bound : {inf, 1.5, 0.3}) {
    CurvedModel model(*loss_, features, 1, bound);
    const auto expect = [&](Weight weight, auto of_record) {
      const Vector expected = direct_gram(theta(), batch_.dense, bound, of_record);
      Vector triangle(2, 9.0);  // what was there must not matter
      for (const Batch* batch : {&batch_.dense, &batch_.sparse}) {
        model.gram(theta(), *batch, weight, triangle);
        expect_near(triangle, expected, 1e-13);
      }
    };
    expect(Weight::curvature, [&](double s, double y) { return loss_->curvature(s, y); });
    expect(Weight::majoriser, [&](double, double) { return loss_->most_curvature(); });
    expect(Weight::squared_slope, [&](double s, double y) { return slope(s, y) * slope(s, y); });
  }
}

// Scaled rows are rows: the same as an unbounded model's that was given them, but for the intercept's share.
TEST_P(AnyCurvedModel, ScalesLongRowsInMarginAndGradientAlike) {
  constexpr double bound = 1.5;
  CurvedModel model(*loss_, features, 1, bound);
  std::size_t scaled = 0;
  for (std::size_t i = 0; i < records; ++i) {
    const Vector row = extended(batch_.dense.row(i), bound);
    scaled += row.back() < 1 ? 1 : 0;
    const double s = dot(row, theta());
    const double y = batch_.dense.label(i);
    Vector expected = row;
    scale(slope(s, y), expected);
    for (const Batch* batch : {&batch_.dense, &batch_.sparse}) {
      Vector gradient;
      const Score score = model.evaluate(theta(), single(*batch, i), {}, gradient);
      expect_near(gradient, expected, 1e-13);
      EXPECT_NEAR(score.loss, loss_->value(View(&s, 1), y), 1e-12 * (1 + score.loss));
    }
  }
  EXPECT_GT(scaled, 5U);
  EXPECT_LT(scaled, records);
}

TEST_P(AnyCurvedModel, BoundedRowsBoundTheGradient) {
  if (std::isinf(loss_->most_slope())) GTEST_SKIP() << "its slope has no bound";
  const std::size_t classes = loss_->classifies() ? 3 : 1;
  const TwinBatch batch = classes == 1 ? batch_ : with_classes(batch_, classes);
  CurvedModel model(*loss_, features, classes, 0.8);
  for (const double size : {0.1, 1.0, 1e3, 1e6}) {
    Vector parameters = parameters_;
    parameters.resize(model.dimension());
    scale(size, parameters);
    for (std::size_t i = 0; i < records; ++i) {
      Vector gradient;
      model.evaluate(parameters, single(batch.sparse, i), {}, gradient);
      EXPECT_LE(norm2(gradient), std::sqrt(static_cast<double>(classes)) * 0.8 * loss_->most_slope() * (1 + 1e-14));
    }
  }
}

TEST_P(AnyCurvedModel, AModelOfZerosIsNeverRight) {
  if (!loss_->classifies()) GTEST_SKIP() << "no classes";
  for (const std::size_t classes : {1U, 3U}) {
    const TwinBatch batch = classes == 1 ? batch_ : with_classes(batch_, classes);
    CurvedModel model(*loss_, features, classes);
    const Vector zeros(model.dimension(), 0.0);
    EXPECT_EQ(model.score(zeros, batch.dense).correct, 0);
  }
}

// Each class is a problem of its own, with label 1 for its records.
TEST_P(AnyCurvedModel, OfManyClassesIsOnePerClass) {
  if (!loss_->classifies()) {
    EXPECT_THROW(CurvedModel(*loss_, features, 3), UsageError);
    return;
  }
  const TwinBatch batch = with_classes(batch_, 3);
  for (const double bound : {inf, 1.1}) {
    CurvedModel all(*loss_, features, 3, bound);
    CurvedModel one(*loss_, features, 1, bound);
    EXPECT_EQ(all.dimension(), 3 * order);
    EXPECT_EQ(all.triangles(), 3 * triangle_size(order));
    Vector gradient;
    const double total = all.evaluate(parameters_, batch.sparse, {}, gradient).loss;
    double added = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      Batch own;
      for (std::size_t i = 0; i < records; ++i) own.add(batch.sparse.row(i), i % 3 == k ? 1 : -1);
      const View theta = View(parameters_).subspan(k * order, order);
      Vector expected;
      added += one.evaluate(theta, own, {}, expected).loss;
      const View part = View(gradient).subspan(k * order, order);
      EXPECT_EQ(Vector(part.begin(), part.end()), expected);
      for (const Weight weight : {Weight::curvature, Weight::majoriser, Weight::squared_slope}) {
        Vector triangles;
        all.gram(parameters_, batch.sparse, weight, triangles);
        ASSERT_EQ(triangles.size(), all.triangles());
        one.gram(theta, own, weight, expected);
        const View triangle = View(triangles).subspan(k * triangle_size(order), triangle_size(order));
        EXPECT_EQ(Vector(triangle.begin(), triangle.end()), expected);
      }
    }
    EXPECT_NEAR(total, added, 1e-12 * total);
  }
}

// A person counts once, by the mean of its records' products. Persons of one record are records.
TEST_P(AnyCurvedModel, APersonsGramIsTheMeanOfItsRecords) {
  const std::size_t classes = loss_->classifies() ? 3 : 1;
  const TwinBatch batch = classes == 1 ? batch_ : with_classes(batch_, classes);
  for (const double bound : {inf, 1.1}) {
    CurvedModel model(*loss_, features, classes, bound);
    const Vector parameters(parameters_.begin(), parameters_.begin() + static_cast<std::ptrdiff_t>(model.dimension()));
    for (const Weight weight : {Weight::curvature, Weight::majoriser, Weight::squared_slope}) {
      Batch persons;
      Vector expected(model.triangles());
      std::size_t first = 0;
      for (const std::size_t count : {1, 1, 3, 0, 1, 4, 13, 1}) {
        persons.begin_person();
        for (std::size_t i = first; i < first + count; ++i) {
          persons.add(batch.sparse.row(i), batch.sparse.label(i));
          Vector own;
          model.gram(parameters, single(batch.sparse, i), weight, own);
          axpy(1 / static_cast<double>(count), own, expected);
        }
        first += count;
      }
      Vector triangles(2, 9.0);
      model.gram(parameters, persons, weight, triangles);
      expect_near(triangles, expected, 1e-13);
    }
  }
}

TEST_P(AnyCurvedModel, PersonsOfOneRecordAreRecordsToTheBit) {
  CurvedModel model(*loss_, features, 1, 1.1);
  Batch persons;
  for (std::size_t i = 0; i < records; ++i) {
    persons.begin_person();
    persons.add(batch_.sparse.row(i), batch_.sparse.label(i));
  }
  Vector triangles;
  Vector expected;
  model.gram(theta(), persons, Weight::curvature, triangles);
  model.gram(theta(), batch_.sparse, Weight::curvature, expected);
  EXPECT_EQ(triangles, expected);
}

TEST_P(AnyCurvedModel, AnEmptyBatchIsZero) {
  for (const double bound : {inf, 1.0}) {
    CurvedModel model(*loss_, features, 1, bound);
    Vector gradient(3, 9.0);
    Vector triangles(3, 9.0);
    EXPECT_EQ(model.evaluate(theta(), Batch(), {ClipKind::l2, 1}, gradient).records, 0);
    EXPECT_EQ(gradient, Vector(order));
    model.gram(theta(), Batch(), Weight::curvature, triangles);
    EXPECT_EQ(triangles, Vector(triangle_size(order)));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, AnyCurvedModel, testing::ValuesIn(curved_examples()),
                         [](const auto& row) { return test_name(row.param.spec); });

// What a Newton step rests on: the Gram product with curvatures is the Jacobian of the gradient.
TEST(CurvedModels, GramIsTheDerivativeOfTheGradient) {
  const auto loss = make_curved_loss("logistic");
  AddressedRandom random(53, Purpose::experiment, 0, 0);
  const TwinBatch batch = random_records(*loss, loss_examples()[0], features, records, random);
  const Vector parameters = random_parameters(order, random);
  CurvedModel model(*loss, features, 1, 1.2);
  Vector triangle;
  model.gram(parameters, batch.sparse, Weight::curvature, triangle);
  constexpr double h = 1e-5;
  for (std::size_t j = 0; j < order; ++j) {
    Vector moved = parameters;
    Vector above;
    Vector beneath;
    moved[j] += h;
    model.evaluate(moved, batch.dense, {}, above);
    moved[j] -= 2 * h;
    model.evaluate(moved, batch.dense, {}, beneath);
    for (std::size_t i = 0; i <= j; ++i) {
      EXPECT_NEAR(triangle[triangle_at(i, j, order)], (above[i] - beneath[i]) / (2 * h), 1e-8);
    }
  }
}

TEST(CurvedModels, TakeNothingFromRowsThatCannotBeScaled) {
  const auto loss = make_curved_loss("logistic");
  for (const double bound : {1.0, inf}) {
    CurvedModel model(*loss, 2, 1, bound);
    for (const double entry : {inf, std::nan(""), 1e200, 1e151}) {
      Batch others;
      others.add({Vector{1, 0.5}, {}}, -1);
      others.add({Vector{-1, 2}, {}}, 1);
      Batch batch;
      batch.add(others.row(0), others.label(0));
      batch.add({Vector{0, entry}, {}}, 1);
      batch.add(others.row(1), others.label(1));
      const Vector parameters{0.1, 0.2, -0.3};
      Vector ours;
      Vector theirs;
      const Score score = model.evaluate(parameters, batch, {}, ours);
      EXPECT_EQ(score.loss, model.evaluate(parameters, others, {}, theirs).loss);
      EXPECT_EQ(score.records, 2);
      EXPECT_EQ(score.out_of_range, 1);
      EXPECT_EQ(ours, theirs) << entry;
      EXPECT_EQ(model.score(parameters, batch).out_of_range, 1);
      for (const Weight weight : {Weight::curvature, Weight::majoriser, Weight::squared_slope}) {
        model.gram(parameters, batch, weight, ours);
        model.gram(parameters, others, weight, theirs);
        EXPECT_EQ(ours, theirs) << entry;
      }
    }
  }
}

TEST(CurvedModels, RefuseWhatTheyCannotBe) {
  const auto loss = make_curved_loss("dwd");
  for (const double bound : {0.0, -1.0, std::nan(""), -inf}) {
    EXPECT_THROW(CurvedModel(*loss, 2, 1, bound), UsageError) << bound;
  }
  EXPECT_THROW(CurvedModel(*loss, 2, 0), UsageError);
  EXPECT_THROW(static_cast<void>(make_one_vs_rest(*loss, 1)), UsageError);
  const auto all = make_one_vs_rest(*loss, 3);
  EXPECT_EQ(all->scores(), 3U);
  EXPECT_EQ(all->label(2), 2);
  for (const double raw : {-1.0, 3.0, 0.5, std::nan("")}) EXPECT_THROW(static_cast<void>(all->label(raw)), DataError);
}

}  // namespace starling::curved_model_test
