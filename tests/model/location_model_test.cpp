/// A point and its distances to records, under every loss of the table that can score them.
#include <algorithm>
#include <limits>

#include "core/numerics/kernels.hpp"
#include "model/linear_model.hpp"
#include "records.hpp"
#include "support/testing.hpp"

namespace starling::location_model_test {

using namespace testing_support;

constexpr std::size_t features = 7;
constexpr std::size_t records = 30;

/// Whether scores of the loss are no distances.
bool is_refused(const LossExample& example) {
  const auto loss = loss_table().make(example.spec);
  return loss->classifies() || loss->link() == Link::log;
}

std::vector<LossExample> scoring_losses() {
  std::vector<LossExample> result;
  std::copy_if(loss_examples().begin(), loss_examples().end(), std::back_inserter(result),
               [](const LossExample& example) { return !is_refused(example); });
  return result;
}

class AnyLocationModel : public testing::TestWithParam<LossExample> {
 protected:
  AddressedRandom random_{52, Purpose::experiment, 0, 0};
  std::unique_ptr<Loss> loss_ = loss_table().make(GetParam().spec);
  LocationModel model_{*loss_, features};
  TwinBatch batch_ = random_records(*loss_, GetParam(), features, records, random_);
  Vector x_ = random_parameters(features, random_);

  Vector gradient(const Batch& batch, const Clip& clip) {
    Vector result(3, 9.0);  // what was there must not matter
    model_.evaluate(x_, batch, clip, result);
    return result;
  }
};

TEST_P(AnyLocationModel, GradientIsThatOfTheScore) {
  constexpr double h = 1e-6;
  const Vector slope = gradient(batch_.dense, {});
  ASSERT_EQ(slope.size(), features);
  for (std::size_t j = 0; j < features; ++j) {
    Vector above = x_;
    Vector beneath = x_;
    above[j] += h;
    beneath[j] -= h;
    const double difference = model_.score(above, batch_.dense).loss - model_.score(beneath, batch_.dense).loss;
    EXPECT_NEAR(slope[j], difference / (2 * h), 1e-7 * records);
  }
}

// ρ(‖x − z‖) itself, and the record's own label plays no part.
TEST_P(AnyLocationModel, ScoresDistances) {
  double loss = 0;
  for (std::size_t i = 0; i < records; ++i) {
    Vector difference = x_;
    axpy(-1, batch_.dense.row(i).values, difference);
    loss += loss_->value(Vector{norm2(difference)}, 0);
  }
  const Score score = model_.score(x_, batch_.dense);
  EXPECT_NEAR(score.loss, loss, 1e-12 * loss);
  EXPECT_EQ(score.records, static_cast<std::int64_t>(records));
  EXPECT_EQ(score.correct, 0);
  Vector ignored;
  EXPECT_EQ(model_.evaluate(x_, batch_.dense, {ClipKind::l2, 0.1}, ignored).loss, score.loss);
  Batch relabelled;
  for (std::size_t i = 0; i < records; ++i) relabelled.add(batch_.dense.row(i), 77);
  EXPECT_EQ(model_.score(x_, relabelled).loss, score.loss);
  EXPECT_EQ(gradient(relabelled, {}), gradient(batch_.dense, {}));
}

TEST_P(AnyLocationModel, SparseRowsAreTheSameRecords) {
  for (const Clip clip : {Clip{}, Clip{ClipKind::l1, 0.4}, Clip{ClipKind::l2, 0.4}, Clip{ClipKind::component, 0.2}}) {
    EXPECT_EQ(gradient(batch_.dense, clip), gradient(batch_.sparse, clip));
  }
}

TEST_P(AnyLocationModel, KeepsTheNormAndTheDirection) {
  std::size_t cut = 0;
  for (const auto& [kind, norm] : {std::pair<ClipKind, double (*)(View)>{ClipKind::l1, norm1}, {ClipKind::l2, norm2}}) {
    for (std::size_t i = 0; i < records; ++i) {
      const Batch one = single(batch_.dense, i);
      const Vector whole = gradient(one, {});
      for (const double bound : {1e-120, 1e-3, 0.3, 1.0, 50.0, 1e120}) {
        const Vector clipped = gradient(one, {kind, bound});
        EXPECT_LE(norm(clipped), bound * (1 + 1e-12)) << i;
        const double factor = std::min(1.0, bound / norm(whole));
        cut += factor < 1 ? 1 : 0;
        for (std::size_t j = 0; j < features; ++j) {
          EXPECT_NEAR(clipped[j], factor * whole[j], 1e-12 * factor * norm(whole)) << i << ", " << j;
        }
      }
    }
  }
  EXPECT_GT(cut, records);  // else nothing was tested
}

TEST_P(AnyLocationModel, ClipsEachComponent) {
  constexpr double bound = 0.25;
  for (std::size_t i = 0; i < records; ++i) {
    const Vector whole = gradient(single(batch_.dense, i), {});
    const Vector clipped = gradient(single(batch_.dense, i), {ClipKind::component, bound});
    for (std::size_t j = 0; j < features; ++j) EXPECT_EQ(clipped[j], std::clamp(whole[j], -bound, bound));
  }
}

// Clipping is per record, never of the sum.
TEST_P(AnyLocationModel, ASumIsTheSumOfItsRecords) {
  const Clip clip{ClipKind::l2, 0.4};
  Vector sum(features);
  for (std::size_t i = 0; i < records; ++i) axpy(1, gradient(single(batch_.dense, i), clip), sum);
  EXPECT_EQ(gradient(batch_.dense, clip), sum);
}

TEST_P(AnyLocationModel, StandsStillOnARecord) {
  Batch here;
  here.add({x_, {}}, 0);
  for (const Clip clip : {Clip{}, Clip{ClipKind::l1, 0.4}, Clip{ClipKind::l2, 0.4}, Clip{ClipKind::component, 0.2}}) {
    EXPECT_EQ(gradient(here, clip), Vector(features));
  }
}

TEST_P(AnyLocationModel, AnEmptyBatchHasTheZeroGradient) {
  EXPECT_EQ(gradient(Batch(), {ClipKind::l2, 1}), Vector(features));
  EXPECT_EQ(model_.score(x_, Batch()).records, 0);
}

// Distances whose squares are no numbers: clipped to their direction as any, or out of range.
TEST_P(AnyLocationModel, ClipsAtExtremeDistances) {
  for (const double far : {1e-200, 1e120, 1e149}) {
    Vector z = x_;
    Batch one;
    std::fill(x_.begin(), x_.end(), 0.0);
    z.assign(features, 0.0);
    z[2] = -far;
    one.add({z, {}}, 0);
    const Vector clipped = gradient(one, {ClipKind::l2, 1e-120});
    const double slope = gradient(one, {})[2];
    EXPECT_NE(slope, 0) << far;  // below 0 near a label that is not where the loss is least
    EXPECT_TRUE(std::isfinite(slope));
    EXPECT_NEAR(clipped[2], std::clamp(slope, -1e-120, 1e-120), 1e-132) << far;
  }
  for (const double far : {1e200, std::numeric_limits<double>::infinity(), std::nan("")}) {
    Batch one;
    one.add({Vector(features, far), {}}, 0);
    EXPECT_EQ(gradient(one, {ClipKind::l2, 1}), Vector(features)) << far;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, AnyLocationModel, testing::ValuesIn(scoring_losses()),
                         [](const auto& row) { return test_name(row.param.spec); });

// ½‖x − z‖² has the gradient x − z to the bit, ‖x − z‖ the unit vector.
TEST(LocationModel, HasItsKnownGradients) {
  const Vector x{0.1, 3};
  const Vector z{0.7, -1};
  Batch one;
  one.add({z, {}}, 5);
  const auto squared = loss_table().make("squared");
  const auto absolute = loss_table().make("absolute");
  Vector gradient;
  LocationModel quadratic(*squared, 2);
  EXPECT_DOUBLE_EQ(quadratic.evaluate(x, one, {}, gradient).loss, 0.5 * (0.36 + 16));
  EXPECT_EQ(gradient, (Vector{0.1 - 0.7, 4}));
  LocationModel straight(*absolute, 2);
  EXPECT_DOUBLE_EQ(straight.evaluate(x, one, {}, gradient).loss, std::sqrt(0.36 + 16));
  EXPECT_DOUBLE_EQ(norm2(gradient), 1);
}

TEST(LocationModel, RefusesLossesThatAreNotOfDistances) {
  int refused = 0;
  for (const LossExample& example : loss_examples()) {
    const auto loss = loss_table().make(example.spec);
    const std::string message = message_of<UsageError>([&] { LocationModel(*loss, 3); });
    EXPECT_EQ(message.find("a distance is neither") != std::string::npos, is_refused(example)) << example.spec;
    refused += message.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 0);
}

}  // namespace starling::location_model_test
