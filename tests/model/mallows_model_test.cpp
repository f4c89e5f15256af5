/// Regression with bounded influence: bounds, weights, derivatives, clips.
#include "model/mallows_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numerics/kernels.hpp"
#include "model/linear_model.hpp"
#include "records.hpp"
#include "support/testing.hpp"

namespace starling::mallows_model_test {

using namespace testing_support;

constexpr std::size_t features = 5;
constexpr std::size_t records = 40;
constexpr double inf = std::numeric_limits<double>::infinity();

struct MallowsCase {
  LossExample loss;
  bool intercept;
  RowWeights weights;
};

void PrintTo(const MallowsCase& c, std::ostream* out) {
  *out << c.loss.spec << (c.intercept ? ", intercept" : "") << (c.weights == RowWeights::none ? ", unweighted" : "");
}

std::vector<MallowsCase> mallows_cases() {
  std::vector<MallowsCase> cases;
  for (const LossExample& example : loss_examples()) {
    if (dynamic_cast<CurvedLoss*>(loss_table().make(example.spec).get()) == nullptr) continue;
    for (const bool intercept : {false, true}) {
      for (const RowWeights weights : {RowWeights::mallows, RowWeights::none}) {
        cases.push_back({example, intercept, weights});
      }
    }
  }
  return cases;
}

std::string case_name(const testing::TestParamInfo<MallowsCase>& info) {
  const MallowsCase& c = info.param;
  return test_name(c.loss.spec + (c.intercept ? "_intercept" : "") +
                   (c.weights == RowWeights::none ? "_unweighted" : ""));
}

/// Frobenius norm of a symmetric matrix that is given by its packed triangle.
double frobenius(View triangle, std::size_t order) {
  double squares = 0;
  for (std::size_t i = 0; i < order; ++i) {
    for (std::size_t j = i; j < order; ++j) {
      const double entry = triangle[triangle_at(i, j, order)];
      squares += (i == j ? 1 : 2) * entry * entry;
    }
  }
  return std::sqrt(squares);
}

class AnyMallowsModel : public testing::TestWithParam<MallowsCase> {
 protected:
  AddressedRandom random_{54, Purpose::experiment, 0, 0};
  std::unique_ptr<CurvedLoss> loss_ = make_curved_loss(GetParam().loss.spec);
  MallowsModel model_{*loss_, features, GetParam().intercept, GetParam().weights};
  TwinBatch batch_ = random_records(*loss_, GetParam().loss, features, records, random_);
  Vector parameters_ = random_parameters(model_.dimension(), random_);

  /// x̄ of a dense row.
  [[nodiscard]] Vector extended(const Row& dense) const {
    Vector row(dense.values.begin(), dense.values.end());
    if (GetParam().intercept) row.push_back(1);
    return row;
  }
  [[nodiscard]] double weight(const Row& dense) const {
    if (GetParam().weights == RowWeights::none) return 1;
    const Vector row = extended(dense);
    return std::min(1.0, 2 / dot(row, row));
  }
  /// Σ ω ℓ, of which ΣΨ is the gradient.
  [[nodiscard]] double objective(View theta) const {
    double total = 0;
    for (std::size_t i = 0; i < records; ++i) {
      const Row row = batch_.dense.row(i);
      const double score = dot(extended(row), theta);
      total += weight(row) * loss_->value(View(&score, 1), batch_.dense.label(i));
    }
    return total;
  }
  Vector gradient(View theta, const Batch& batch, const Clip& clip = {}) {
    Vector result(3, 9.0);  // what was there must not matter
    model_.evaluate(theta, batch, clip, result);
    return result;
  }
};

TEST_P(AnyMallowsModel, GradientIsThatOfTheWeightedLosses) {
  constexpr double h = 1e-6;
  const Vector psi = gradient(parameters_, batch_.dense);
  ASSERT_EQ(psi.size(), features + (GetParam().intercept ? 1 : 0));
  for (std::size_t j = 0; j < psi.size(); ++j) {
    Vector moved = parameters_;
    moved[j] += h;
    const double above = objective(moved);
    moved[j] -= 2 * h;
    EXPECT_NEAR(psi[j], (above - objective(moved)) / (2 * h), 1e-5 * (1 + std::abs(psi[j]))) << j;
  }
}

TEST_P(AnyMallowsModel, CurvatureIsTheDerivativeOfTheGradient) {
  constexpr double h = 1e-7;
  const std::size_t order = model_.dimension();
  for (std::size_t r = 0; r < records; ++r) {
    const Batch one = single(batch_.dense, r);
    Vector triangles;
    model_.curvature(parameters_, one, triangles);
    ASSERT_EQ(triangles.size(), 2 * triangle_size(order));
    for (std::size_t j = 0; j < order; ++j) {
      Vector moved = parameters_;
      moved[j] += h;
      const Vector above = gradient(moved, one);
      moved[j] -= 2 * h;
      const Vector beneath = gradient(moved, one);
      for (std::size_t i = 0; i <= j; ++i) {
        EXPECT_NEAR(triangles[triangle_at(i, j, order)], (above[i] - beneath[i]) / (2 * h), 1e-5) << r;
      }
    }
  }
}

TEST_P(AnyMallowsModel, SecondTriangleSumsSquaresOfContributions) {
  const std::size_t order = model_.dimension();
  Vector expected(triangle_size(order));
  for (std::size_t r = 0; r < records; ++r) {
    const Vector psi = gradient(parameters_, single(batch_.dense, r));
    for (std::size_t i = 0; i < order; ++i) {
      for (std::size_t j = i; j < order; ++j) expected[triangle_at(i, j, order)] += psi[i] * psi[j];
    }
  }
  Vector triangles(2, 9.0);
  model_.curvature(parameters_, batch_.dense, triangles);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(triangles[expected.size() + k], expected[k], 1e-12 * (1 + std::abs(expected[k])));
  }
}

TEST_P(AnyMallowsModel, SparseRowsAreDenseRows) {
  const std::vector<Clip> clips{{}, {ClipKind::l1, 0.4}, {ClipKind::l2, 0.4}, {ClipKind::component, 0.2}};
  const auto expect_near = [](View observed, View expected) {
    ASSERT_EQ(observed.size(), expected.size());
    for (std::size_t j = 0; j < expected.size(); ++j) {
      EXPECT_NEAR(observed[j], expected[j], 1e-12 * (1 + std::abs(expected[j])));
    }
  };
  for (const Clip& clip : clips) {
    expect_near(gradient(parameters_, batch_.sparse, clip), gradient(parameters_, batch_.dense, clip));
  }
  Vector dense;
  Vector sparse;
  model_.curvature(parameters_, batch_.dense, dense);
  model_.curvature(parameters_, batch_.sparse, sparse);
  expect_near(sparse, dense);
}

TEST_P(AnyMallowsModel, ScoresUnweightedLossesAsTheLinearModel) {
  LinearModel linear(*loss_, features, GetParam().intercept);
  for (const Batch* batch : {&batch_.dense, &batch_.sparse}) {
    Vector ignored;
    const Score expected = linear.score(parameters_, *batch);
    for (const Score& score : {model_.score(parameters_, *batch), model_.evaluate(parameters_, *batch, {}, ignored)}) {
      EXPECT_EQ(score.loss, expected.loss);
      EXPECT_EQ(score.correct, expected.correct);
      EXPECT_EQ(score.records, static_cast<std::int64_t>(records));
    }
  }
}

// B0 and B1 (docs/methods/inference.md), for all records and parameters. Norms err by a few roundings.
TEST_P(AnyMallowsModel, InfluenceAndCurvatureAreBounded) {
  const double b0 = model_.most_influence();
  const double b1 = model_.most_curvature();
  if (GetParam().weights == RowWeights::none) {
    EXPECT_EQ(b0, inf);
    EXPECT_EQ(b1, inf);
    return;
  }
  EXPECT_DOUBLE_EQ(b0, std::sqrt(2) * loss_->most_slope());
  EXPECT_DOUBLE_EQ(b1, 2 * loss_->most_curvature());
  for (const double of_rows : {1e-160, 1e-3, 0.7, 1.0, 30.0, 1e8, 1e149}) {
    for (const double of_parameters : {0.0, 1e-3, 1.0, 1e3, 1e100}) {
      for (std::size_t i = 0; i < records; ++i) {
        Vector row(batch_.dense.row(i).values.begin(), batch_.dense.row(i).values.end());
        scale(of_rows, row);
        Vector theta = parameters_;
        scale(of_parameters, theta);
        Batch one;
        one.add({row, {}}, batch_.dense.label(i));
        if (std::isfinite(b0)) {
          EXPECT_LE(norm2(gradient(theta, one)), b0 * (1 + 1e-14)) << of_rows << ", " << of_parameters;
        }
        Vector triangles;
        model_.curvature(theta, one, triangles);
        const std::size_t order = model_.dimension();
        EXPECT_LE(frobenius(View(triangles).first(triangle_size(order)), order), b1 * (1 + 1e-14));
      }
    }
  }
}

TEST_P(AnyMallowsModel, ClipsToTheNormAndKeepsTheDirection) {
  std::size_t cut = 0;
  for (const ClipKind kind : {ClipKind::l1, ClipKind::l2}) {
    for (std::size_t i = 0; i < records; ++i) {
      const Vector whole = gradient(parameters_, single(batch_.dense, i));
      const double norm = kind == ClipKind::l1 ? norm1(whole) : norm2(whole);
      for (const double bound : {1e-100, 1e-3, 0.3, 50.0}) {
        const Vector clipped = gradient(parameters_, single(batch_.sparse, i), {kind, bound});
        const double factor = std::min(1.0, bound / norm);
        cut += factor < 1 ? 1 : 0;
        EXPECT_LE(kind == ClipKind::l1 ? norm1(clipped) : norm2(clipped), bound * (1 + 1e-14));
        for (std::size_t j = 0; j < whole.size(); ++j) {
          EXPECT_NEAR(clipped[j], factor * whole[j], 1e-12 * factor * norm);
        }
      }
    }
  }
  EXPECT_GT(cut, records);  // else nothing was tested
}

TEST_P(AnyMallowsModel, ClipsEachComponent) {
  constexpr double bound = 0.1;
  std::size_t cut = 0;
  for (std::size_t i = 0; i < records; ++i) {
    const Vector whole = gradient(parameters_, single(batch_.dense, i));
    const Vector clipped = gradient(parameters_, single(batch_.dense, i), {ClipKind::component, bound});
    for (std::size_t j = 0; j < whole.size(); ++j) {
      EXPECT_EQ(clipped[j], std::clamp(whole[j], -bound, bound));
      cut += std::abs(whole[j]) > bound ? 1 : 0;
    }
  }
  EXPECT_GT(cut, 0U);
}

// What a mechanism asks for is B0 but for a margin of 2^-20: that clip changes nothing else.
TEST_P(AnyMallowsModel, AClipAtItsBoundLeavesTheEstimateAlone) {
  if (!std::isfinite(model_.most_influence())) GTEST_SKIP() << "no bound";
  const double b0 = model_.most_influence() * (1 - 0x1.0p-20);
  for (std::size_t i = 0; i < records; ++i) {
    const Vector whole = gradient(parameters_, single(batch_.dense, i));
    const Vector clipped = gradient(parameters_, single(batch_.dense, i), {ClipKind::l2, b0});
    for (std::size_t j = 0; j < whole.size(); ++j) EXPECT_NEAR(clipped[j], whole[j], 2e-6 * std::abs(whole[j]));
  }
}

TEST_P(AnyMallowsModel, TakesNothingFromRowsThatCannotBeWeighted) {
  for (const double entry : {inf, -inf, std::nan(""), 1e151, -1e200}) {
    for (const bool sparse : {false, true}) {
      Batch batch;
      if (sparse) {
        batch.add({Vector{entry}, std::vector<std::int32_t>{2}}, batch_.dense.label(0));
      } else {
        batch.add({Vector{0, entry, 0, 0, 0}, {}}, batch_.dense.label(0));
      }
      Vector out;
      for (const Clip& clip : {Clip{}, Clip{ClipKind::l1, 1}, Clip{ClipKind::l2, 1}, Clip{ClipKind::component, 1}}) {
        EXPECT_EQ(model_.evaluate(parameters_, batch, clip, out).out_of_range, 1);
        EXPECT_EQ(out, Vector(model_.dimension()));
      }
      model_.curvature(parameters_, batch, out);
      EXPECT_EQ(out, Vector(2 * triangle_size(model_.dimension())));
    }
  }
}

TEST_P(AnyMallowsModel, AnEmptyBatchIsZero) {
  Vector out(3, 9.0);
  EXPECT_EQ(model_.evaluate(parameters_, Batch(), {ClipKind::l2, 1}, out).records, 0);
  EXPECT_EQ(out, Vector(model_.dimension()));
  model_.curvature(parameters_, Batch(), out);
  EXPECT_EQ(out, Vector(2 * triangle_size(model_.dimension())));
}

// A person counts once, by the mean of Ψ̇ and by the square of the mean Ψ. Persons of one record are records.
TEST_P(AnyMallowsModel, APersonCountsByItsMeans) {
  const std::size_t order = model_.dimension();
  const std::size_t size = triangle_size(order);
  Batch persons;
  Vector expected(2 * size);
  for (std::size_t first = 0, count = 1; first + count <= records; first += count++) {
    persons.begin_person();
    Vector mean(size);
    Vector psi(order);
    for (std::size_t i = first; i < first + count; ++i) {
      persons.add(batch_.sparse.row(i), batch_.sparse.label(i));
      Vector own;
      model_.curvature(parameters_, single(batch_.sparse, i), own);
      axpy(1 / static_cast<double>(count), View(own).first(size), mean);
      axpy(1 / static_cast<double>(count), gradient(parameters_, single(batch_.sparse, i)), psi);
    }
    axpy(1, mean, MutableView(expected).first(size));
    for (std::size_t j = 0; j < order; ++j) {
      for (std::size_t k = j; k < order; ++k) expected[size + triangle_at(j, k, order)] += psi[j] * psi[k];
    }
  }
  persons.begin_person();  // without a record
  Vector triangles;
  model_.curvature(parameters_, persons, triangles);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(triangles[k], expected[k], 1e-12 * (1 + std::abs(expected[k]))) << k;
  }
}

TEST_P(AnyMallowsModel, PersonsOfOneRecordAreRecords) {
  Batch persons;
  for (std::size_t i = 0; i < records; ++i) {
    persons.begin_person();
    persons.add(batch_.dense.row(i), batch_.dense.label(i));
  }
  Vector expected;
  Vector triangles;
  model_.curvature(parameters_, batch_.dense, expected);
  model_.curvature(parameters_, persons, triangles);
  EXPECT_EQ(triangles, expected);
}

// Whatever 13 records are in the place of one, both parts of a release move by at most √2 of their bounds.
TEST_P(AnyMallowsModel, APersonMovesCurvaturesByAtMostRootTwo) {
  if (!std::isfinite(model_.most_influence())) GTEST_SKIP() << "no bound";
  const std::size_t order = model_.dimension();
  const std::size_t size = triangle_size(order);
  const auto of_person = [&](std::size_t first, std::size_t count, double scale_of_rows) {
    Batch person;
    person.begin_person();
    for (std::size_t i = first; i < first + count; ++i) {
      Vector row(batch_.dense.row(i).values.begin(), batch_.dense.row(i).values.end());
      scale(scale_of_rows, row);
      person.add({row, {}}, batch_.dense.label(i));
    }
    Vector triangles;
    model_.curvature(parameters_, person, triangles);
    return triangles;
  };
  for (const double of_rows : {1e-3, 1.0, 1e8}) {
    for (std::size_t i = 13; i < records; ++i) {
      Vector moved = of_person(i, 1, of_rows);
      axpy(-1, of_person(0, 13, of_rows), moved);
      const double b0 = model_.most_influence();
      EXPECT_LE(frobenius(View(moved).first(size), order), std::sqrt(2) * model_.most_curvature() * (1 + 1e-14));
      EXPECT_LE(frobenius(View(moved).subspan(size), order), std::sqrt(2) * b0 * b0 * (1 + 1e-14));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, AnyMallowsModel, testing::ValuesIn(mallows_cases()), case_name);

TEST(MallowsModels, WithoutWeightsAreLinearModelsToTheBit) {
  const auto loss = make_curved_loss("squared");
  AddressedRandom random(55, Purpose::experiment, 0, 0);
  const LossExample example{"squared", {-1, 2}, {}, ""};
  const TwinBatch batch = random_records(*loss, example, features, records, random);
  MallowsModel model(*loss, features, true, RowWeights::none);
  LinearModel linear(*loss, features, true);
  const Vector parameters = random_parameters(features + 1, random);
  for (const Clip& clip : {Clip{}, Clip{ClipKind::l1, 0.4}, Clip{ClipKind::l2, 0.4}, Clip{ClipKind::component, 0.2}}) {
    Vector ours;
    Vector theirs;
    model.evaluate(parameters, batch.sparse, clip, ours);
    linear.evaluate(parameters, batch.sparse, clip, theirs);
    EXPECT_EQ(ours, theirs);
  }
}

// A slope that is no number, as of a label that is none, would pass a comparison with the bound.
TEST(MallowsModels, TakeNothingFromContributionsThatCannotBeClipped) {
  const auto loss = make_curved_loss("squared");
  MallowsModel model(*loss, 1, true, RowWeights::none);
  for (const double label : {std::nan(""), inf, 1e151}) {
    Batch batch;
    batch.add({Vector{1}, {}}, label);
    for (const ClipKind kind : {ClipKind::l1, ClipKind::l2}) {
      Vector gradient;
      EXPECT_EQ(model.evaluate(Vector(2), batch, {kind, 1}, gradient).out_of_range, 1) << label;
      EXPECT_EQ(gradient, Vector(2)) << label;
    }
  }
}

}  // namespace starling::mallows_model_test
