/// Clipping of linear models, on which the mechanisms' sensitivity rests (docs/methods/privacy.md).
#include <algorithm>
#include <limits>

#include "core/numerics/kernels.hpp"
#include "model/linear_model.hpp"
#include "records.hpp"
#include "support/testing.hpp"

namespace starling::clipping_test {

using namespace testing_support;

constexpr std::size_t features = 7;
constexpr std::size_t records = 30;
constexpr double inf = std::numeric_limits<double>::infinity();

class AnyClippedModel : public testing::TestWithParam<LinearCase> {
 protected:
  AddressedRandom random_{51, Purpose::experiment, 0, 0};
  std::unique_ptr<Loss> loss_ = loss_table().make(GetParam().loss.spec);
  LinearModel model_{*loss_, features, GetParam().intercept};
  TwinBatch batch_ = random_records(*loss_, GetParam().loss, features, records, random_);
  Vector parameters_ = random_parameters(model_.dimension(), random_);

  Vector gradient(const Batch& batch, const Clip& clip) {
    Vector result;
    model_.evaluate(parameters_, batch, clip, result);
    return result;
  }
  /// Checks the clipped gradient of each record by itself; `norm` is the clip's.
  void expect_clipped_to_norm(ClipKind kind, double (*norm)(View)) {
    std::size_t cut = 0;
    for (std::size_t i = 0; i < records; ++i) {
      const Vector whole = gradient(single(batch_.dense, i), {});
      for (const double bound : {1e-120, 1e-3, 0.3, 1.0, 50.0, 1e120}) {
        const Vector clipped = gradient(single(batch_.sparse, i), {kind, bound});
        EXPECT_LE(norm(clipped), bound * (1 + 1e-12)) << i;
        const double factor = std::min(1.0, bound / norm(whole));
        cut += factor < 1 ? 1 : 0;
        for (std::size_t j = 0; j < whole.size(); ++j) {
          EXPECT_NEAR(clipped[j], factor * whole[j], 1e-12 * factor * norm(whole)) << i << ", " << j;
        }
      }
    }
    EXPECT_GT(cut, records);  // else nothing was tested
  }
};

TEST_P(AnyClippedModel, KeepsTheNormAndTheDirectionL1) {
  expect_clipped_to_norm(ClipKind::l1, norm1);
}

TEST_P(AnyClippedModel, KeepsTheNormAndTheDirectionL2) {
  expect_clipped_to_norm(ClipKind::l2, norm2);
}

TEST_P(AnyClippedModel, ClipsEachComponent) {
  constexpr double bound = 0.25;
  std::size_t cut = 0;
  for (std::size_t i = 0; i < records; ++i) {
    const Vector whole = gradient(single(batch_.dense, i), {});
    const Vector clipped = gradient(single(batch_.dense, i), {ClipKind::component, bound});
    for (std::size_t j = 0; j < whole.size(); ++j) {
      EXPECT_EQ(clipped[j], std::clamp(whole[j], -bound, bound)) << i << ", " << j;
      cut += std::abs(whole[j]) > bound ? 1 : 0;
    }
  }
  EXPECT_GT(cut, 0U);
}

// Clipping is per record, never of the sum: the same additions in the same order, so to the bit.
TEST_P(AnyClippedModel, ASumIsTheSumOfItsRecords) {
  for (const Clip clip : {Clip{}, Clip{ClipKind::l1, 0.4}, Clip{ClipKind::l2, 0.4}, Clip{ClipKind::component, 0.2}}) {
    for (std::size_t i = 1; i < records; ++i) {
      Batch two = single(batch_.dense, i - 1);
      two.add(batch_.dense.row(i), batch_.dense.label(i));
      Vector expected = gradient(single(batch_.dense, i - 1), clip);
      axpy(1, gradient(single(batch_.dense, i), clip), expected);
      EXPECT_EQ(gradient(two, clip), expected) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, AnyClippedModel, testing::ValuesIn(linear_cases()),
                         [](const auto& row) { return case_name(row.param); });

/// Whether one record of two features counts under the squared loss with zero weights: its slope is −label.
bool is_in_range(const Clip& clip, const Vector& row, double label) {
  const auto loss = loss_table().make("squared");
  LinearModel model(*loss, row.size(), false);
  Batch batch;
  batch.add({row, {}}, label);
  Vector gradient;
  const Score score = model.evaluate(Vector(row.size()), batch, clip, gradient);
  EXPECT_EQ(score.records + score.out_of_range, 1);
  if (score.records == 1) return true;
  EXPECT_EQ(gradient, Vector(row.size()));
  EXPECT_EQ(score.loss, 0);
  return false;
}

class HugeRecords : public testing::TestWithParam<ClipKind> {};

TEST_P(HugeRecords, AddNothing) {
  const Clip clip{GetParam(), 1};
  for (const Vector& row : {Vector{1e151, 0}, Vector{1, -1e200}, Vector{1e308, 1e308}, Vector{inf, 1}, Vector{0, -inf},
                            Vector{std::nan(""), 1}}) {
    EXPECT_FALSE(is_in_range(clip, row, 1)) << row[0] << ", " << row[1];
  }
  EXPECT_FALSE(is_in_range(clip, {1, 0}, 1e151));
  EXPECT_FALSE(is_in_range(clip, {1e100, 0}, 1e51));
  EXPECT_FALSE(is_in_range(clip, {1, 0}, inf));
  EXPECT_FALSE(is_in_range(clip, {1, 0}, std::nan("")));
  EXPECT_FALSE(is_in_range(clip, {inf, 0}, 0));  // 0 · ∞
}

TEST_P(HugeRecords, AreClippedUpToTheLimit) {
  const Clip clip{GetParam(), 1};
  EXPECT_TRUE(is_in_range(clip, {1e149, -3e149}, 1));
  EXPECT_TRUE(is_in_range(clip, {1, 1}, 1e149));
  EXPECT_TRUE(is_in_range(clip, {0, 0}, 1e149));
}

// Records are looked at several at a time: the others add what they add without the one that is out of range, to the
// bit.
TEST_P(HugeRecords, ChangeNoOtherRecordWhereverTheyStand) {
  for (const char* const name : {"squared", "softmax:3"}) {
    const auto loss = loss_table().make(name);
    for (const std::size_t size : {2U, 9U}) {
      LinearModel model(*loss, size, true);
      const Vector parameters(model.dimension(), 0.25);
      for (const std::size_t place : {0U, 3U, 5U, 63U, 64U, 101U}) {
        for (const double huge : {1e151, 1e200, inf, std::nan("")}) {
          Batch with;
          Batch without;
          for (std::size_t i = 0; i < 102; ++i) {
            const Vector row(size, i == place ? huge : 1 + 0.01 * static_cast<double>(i));
            with.add({row, {}}, 1);
            if (i != place) without.add({row, {}}, 1);
          }
          Vector ours;
          Vector theirs;
          const Score score = model.evaluate(parameters, with, {GetParam(), 1}, ours);
          const Score others = model.evaluate(parameters, without, {GetParam(), 1}, theirs);
          EXPECT_EQ(ours, theirs) << name << " " << size << " " << place << " " << huge;
          EXPECT_EQ(score.loss, others.loss);
          EXPECT_EQ(score.correct, others.correct);
          EXPECT_EQ(score.records, 101);
          EXPECT_EQ(score.out_of_range, 1);
        }
      }
    }
  }
}

// A derivative whose square is infinite has a norm all the same.
TEST_P(HugeRecords, AreClippedWhereTheirGradientsAreNotHuge) {
  const auto loss = loss_table().make("squared");
  LinearModel model(*loss, 1, false);
  Batch batch;
  batch.add({Vector{1e-20}, {}}, 1e160);
  Vector gradient;
  model.evaluate(Vector(1), batch, {GetParam(), 1}, gradient);
  EXPECT_NEAR(gradient[0], -1, 1e-15);
}

INSTANTIATE_TEST_SUITE_P(Norms, HugeRecords, testing::Values(ClipKind::l1, ClipKind::l2),
                         [](const auto& row) { return row.param == ClipKind::l1 ? "l1" : "l2"; });

// Clamping needs no norm.
TEST(ComponentClip, ClampsHugeRecords) {
  EXPECT_TRUE(is_in_range({ClipKind::component, 1}, {1e200, -1e300}, 1));
}

// Squares of numbers below 1e-162 are 0, and of some above it lose most digits: what is tiny must clip all the same.
TEST(Clipping, HoldsWhereSquaresUnderflow) {
  const std::unique_ptr<Loss> loss = loss_table().make("squared");
  LinearModel model(*loss, 2, false);
  const Vector parameters(2, 0.0);
  for (const double size : {1e-200, 1e-163, 3e-162, 1e-158, 1e-150, 1e-140, 1e-120}) {
    for (const double label : {1e153, 1e120, 1e30, 1e-153}) {
      Batch batch;
      batch.clear();
      batch.add({Vector{size, -size}, {}}, label);
      for (const ClipKind kind : {ClipKind::l1, ClipKind::l2}) {
        for (const double bound : {1e-60, 1e-12, 1.0}) {
          Vector gradient;
          model.evaluate(parameters, batch, {kind, bound}, gradient);
          const long double x = gradient[0];
          const long double y = gradient[1];
          const long double norm = kind == ClipKind::l1 ? std::abs(x) + std::abs(y) : std::sqrt(x * x + y * y);
          EXPECT_LE(norm, bound * (1 + 1e-12L)) << size << " " << label;
        }
      }
    }
  }
}

TEST(Clipping, LeavesOutRowsThatAreTooLongToBeClippedExactly) {
  const std::unique_ptr<Loss> loss = loss_table().make("squared");
  LinearModel model(*loss, 1, false);
  Batch batch;
  batch.clear();
  batch.add({Vector{1e160}, {}}, 5e-159);
  Vector gradient;
  for (const ClipKind kind : {ClipKind::l1, ClipKind::l2}) {
    EXPECT_EQ(model.evaluate(Vector(1, 0.0), batch, {kind, 1e-16}, gradient).out_of_range, 1);
    EXPECT_EQ(gradient, Vector(1));
  }
}

// Without a norm to clip by, and by component: what is no number adds nothing, what is one is added or clamped.
TEST(Clipping, LeavesOutGradientsThatAreNoNumbers) {
  const auto loss = loss_table().make("squared");
  LinearModel model(*loss, 2, false);
  for (const ClipKind kind : {ClipKind::none, ClipKind::component}) {
    Batch batch;
    batch.add({Vector{1e100, 1}, {}}, 1);
    batch.add({Vector{1, 2}, {}}, 3);
    Vector gradient;
    Score score = model.evaluate(Vector{1e300, 0}, batch, {kind, 1}, gradient);  // scores 1e400 and 1e300
    EXPECT_EQ(score.out_of_range, 2);  // squared, both losses are too large, but the second gradient is not
    EXPECT_EQ(gradient, kind == ClipKind::none ? (Vector{1e300, 2e300}) : (Vector{1, 1}));
    score = model.evaluate(Vector{0, 0}, batch, {kind, 10}, gradient);
    EXPECT_EQ(score.out_of_range, 0);
    EXPECT_EQ(gradient, kind == ClipKind::none ? (Vector{-1e100 - 3, -7}) : (Vector{-10 - 3, -1 - 6}));
  }
  Batch two;  // each is finite, their sum is not
  for (int i = 0; i < 2; ++i) two.add({Vector{1.2e308, 0}, {}}, -1);
  two.add({Vector{0, 2}, {}}, -3);
  Vector gradient;
  EXPECT_EQ(model.evaluate(Vector(2), two, {}, gradient).out_of_range, 2);
  EXPECT_EQ(gradient, (Vector{0, 6}));
}

}  // namespace starling::clipping_test
