/// Networks as models: losses over outputs, and how records are clipped (what the mechanisms' sensitivity rests on).
#include "model/network/network_model.hpp"

#include <cmath>
#include <memory>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "model/linear_model.hpp"
#include "model/networks.hpp"
#include "model/records.hpp"
#include "support/testing.hpp"

namespace starling::network_model_test {

using namespace testing_support;

constexpr std::size_t records = 30;

Batch random_batch(const Loss& loss, std::size_t features, std::size_t count, AddressedRandom& random) {
  Batch batch;
  for (std::size_t i = 0; i < count; ++i) {
    Vector row(features);
    for (double& value : row) value = random.normal();
    batch.add({row, {}}, static_cast<double>(random.below(loss.scores() > 1 ? loss.scores() : 2)));
  }
  return batch;
}

/// softmax for several outputs, the squared loss for one.
std::unique_ptr<Loss> loss_for(std::size_t outputs) {
  return loss_table().make(outputs == 1 ? "squared" : fmt::format("softmax:{}", outputs));
}

template <class T>
struct Case {
  explicit Case(const Architecture& architecture)
      : loss(loss_for(Network<T>(architecture).outputs())),
        model(*loss, architecture),
        batch(random_batch(*loss, architecture.input.size(), records, random)),
        parameters(random_parameters(model.dimension(), random)) {
    scale(0.3, parameters);
  }
  Vector gradient(const Batch& of, const Clip& clip = {}) {
    Vector result;
    model.evaluate(parameters, of, clip, result);
    return result;
  }

  AddressedRandom random{71, Purpose::experiment, 0, 0};
  std::unique_ptr<Loss> loss;
  NetworkModel<T> model;
  Batch batch;
  Vector parameters;
};

class AnyNetworkModel : public testing::TestWithParam<NetworkExample> {
 protected:
  Case<double> doubles_{GetParam().architecture};
  Case<float> floats_{GetParam().architecture};
};

TEST_P(AnyNetworkModel, GradientIsThatOfTheSummedLoss) {
  constexpr double h = 1e-6;
  const Vector gradient = doubles_.gradient(doubles_.batch);
  for (std::size_t i = 0; i < gradient.size(); i += 1 + gradient.size() / 100) {
    Vector above = doubles_.parameters;
    Vector below = doubles_.parameters;
    above[i] += h;
    below[i] -= h;
    const double slope =
        (doubles_.model.score(above, doubles_.batch).loss - doubles_.model.score(below, doubles_.batch).loss) / (2 * h);
    EXPECT_NEAR(gradient[i], slope, 1e-6 * (1 + norm2(gradient))) << i;
  }
}

/// The clipped gradient of each record by itself, against the record's own gradient.
template <class T>
void expect_clipped(Case<T>& c, ClipKind kind, double (*norm)(View), double tolerance) {
  const double margin = c.model.clip_margin();
  std::size_t cut = 0;
  std::size_t whole_ones = 0;
  for (std::size_t i = 0; i < records; ++i) {
    const Vector whole = c.gradient(single(c.batch, i));
    const double length = norm(whole);
    for (const double share : {1e-6, 0.1, 0.9, 1.5, 1e6}) {
      const double bound = share * length;
      const Vector clipped = c.gradient(single(c.batch, i), {kind, bound});
      EXPECT_LE(norm(clipped), bound) << i;
      const double factor = std::min(1.0, bound * (1 - margin) / length);
      (factor < 1 ? cut : whole_ones) += 1;
      for (std::size_t j = 0; j < whole.size(); ++j) {
        ASSERT_NEAR(clipped[j], factor * whole[j], tolerance * factor * length) << i << ", " << j;
      }
    }
  }
  EXPECT_EQ(cut, 3 * records);
  EXPECT_EQ(whole_ones, 2 * records);
}

TEST_P(AnyNetworkModel, KeepsTheNormAndTheDirection) {
  expect_clipped(doubles_, ClipKind::l1, norm1, 1e-12);
  expect_clipped(doubles_, ClipKind::l2, norm2, 1e-12);
  expect_clipped(floats_, ClipKind::l1, norm1, 1e-6);
  expect_clipped(floats_, ClipKind::l2, norm2, 1e-6);
}

TEST_P(AnyNetworkModel, ClipsEachComponent) {
  constexpr double bound = 0.05;
  std::size_t cut = 0;
  Vector expected(floats_.model.dimension());
  for (std::size_t i = 0; i < records; ++i) {
    const Vector whole = floats_.gradient(single(floats_.batch, i));
    for (std::size_t j = 0; j < whole.size(); ++j) {
      expected[j] += std::clamp(whole[j], -bound, bound);
      cut += std::abs(whole[j]) > bound ? 1 : 0;
    }
  }
  EXPECT_GT(cut, 0U);
  EXPECT_EQ(floats_.gradient(floats_.batch, {ClipKind::component, bound}), expected);
}

TEST_P(AnyNetworkModel, ASumIsTheSumOfItsRecords) {
  for (const Clip clip : {Clip{}, Clip{ClipKind::l1, 0.4}, Clip{ClipKind::l2, 0.4}}) {
    Vector expected(doubles_.model.dimension());
    for (std::size_t i = 0; i < records; ++i) axpy(1, doubles_.gradient(single(doubles_.batch, i), clip), expected);
    const Vector sum = doubles_.gradient(doubles_.batch, clip);
    for (std::size_t j = 0; j < sum.size(); ++j) EXPECT_NEAR(sum[j], expected[j], 1e-11 * (1 + norm2(expected))) << j;
  }
}

// The bound that the mechanisms are told of: replacing one record of a full chunk moves the sum by two clips at most.
TEST_P(AnyNetworkModel, ReplacingARecordMovesTheSumByTwoClips) {
  constexpr double bound = 1e-3;
  AddressedRandom& random = floats_.random;
  const std::size_t features = GetParam().architecture.input.size();
  const Batch batch = random_batch(*floats_.loss, features, NetworkModel<float>::chunk_records, random);
  for (const ClipKind kind : {ClipKind::l1, ClipKind::l2}) {
    const Vector sum = floats_.gradient(batch, {kind, bound});
    const auto norm = kind == ClipKind::l1 ? norm1 : norm2;
    EXPECT_LE(norm(sum), bound * static_cast<double>(batch.size()));
    for (const std::size_t out : {0U, 1U, 77U}) {
      Batch other;
      for (std::size_t i = 0; i < batch.size(); ++i) {
        Vector row(batch.row(i).values.begin(), batch.row(i).values.end());
        if (i == out) scale(-100, row);
        other.add({row, {}}, batch.label(i));
      }
      Vector difference = floats_.gradient(other, {kind, bound});
      axpy(-1, sum, difference);
      EXPECT_LE(norm(difference), 2 * bound);
      EXPECT_GT(norm(difference), 0.01 * bound);
    }
  }
}

TEST_P(AnyNetworkModel, ChunksAreAddedUp) {
  const std::size_t count = 2 * NetworkModel<float>::chunk_records + 3;
  const Batch batch = random_batch(*floats_.loss, GetParam().architecture.input.size(), count, floats_.random);
  for (const Clip clip : {Clip{}, Clip{ClipKind::l2, 0.4}}) {
    Vector expected(floats_.model.dimension());
    for (std::size_t first = 0; first < count; first += NetworkModel<float>::chunk_records) {
      Batch chunk;
      for (std::size_t i = first; i < std::min(count, first + NetworkModel<float>::chunk_records); ++i) {
        chunk.add(batch.row(i), batch.label(i));
      }
      axpy(1, floats_.gradient(chunk, clip), expected);
    }
    EXPECT_EQ(floats_.gradient(batch, clip), expected);
  }
}

TEST_P(AnyNetworkModel, BitsDoNotDependOnWhatCameBefore) {
  for (const Clip clip : {Clip{}, Clip{ClipKind::l1, 0.4}, Clip{ClipKind::l2, 0.4}, Clip{ClipKind::component, 0.1}}) {
    const Vector fresh = Case<float>(GetParam().architecture).gradient(floats_.batch, clip);
    floats_.gradient(random_batch(*floats_.loss, GetParam().architecture.input.size(), 140, floats_.random),
                     {ClipKind::l2, 0.1});
    floats_.gradient(single(floats_.batch, 4), {ClipKind::l1, 0.1});
    EXPECT_EQ(floats_.gradient(floats_.batch, clip), fresh);
  }
}

TEST_P(AnyNetworkModel, ScoreIsThatOfEvaluate) {
  Vector gradient;
  const Score evaluated = floats_.model.evaluate(floats_.parameters, floats_.batch, {ClipKind::l2, 0.1}, gradient);
  const Score scored = floats_.model.score(floats_.parameters, floats_.batch);
  EXPECT_EQ(evaluated.loss, scored.loss);
  EXPECT_EQ(evaluated.correct, scored.correct);
  EXPECT_EQ(evaluated.records, static_cast<std::int64_t>(records));
  EXPECT_EQ(scored.records, evaluated.records);
  const Score exact = doubles_.model.score(doubles_.parameters, doubles_.batch);
  EXPECT_NEAR(scored.loss, exact.loss, 1e-4 * exact.loss);
}

TEST_P(AnyNetworkModel, AnEmptyBatchHasTheZeroGradient) {
  Vector gradient(3, 9.0);
  const Score score = floats_.model.evaluate(floats_.parameters, Batch(), {ClipKind::l2, 1}, gradient);
  EXPECT_EQ(gradient, Vector(floats_.model.dimension()));
  EXPECT_EQ(score.records, 0);
}

/// One output for each kind of loss is enough of "any network": softmax and squared, by the number of outputs.
std::vector<NetworkExample> models() {
  std::vector<NetworkExample> some = network_examples();
  std::erase_if(some, [](const NetworkExample& example) { return example.name == "dense_wide"; });
  some.push_back({"one_output", perceptron({6, 5, 1})});
  return some;
}

INSTANTIATE_TEST_SUITE_P(Examples, AnyNetworkModel, testing::ValuesIn(models()),
                         [](const auto& row) { return row.param.name; });

// Every loss of the table, through the same network without a hidden layer: it is the linear model with an intercept.
class LossesOfNetworks : public testing::TestWithParam<testing_support::LossExample> {};

TEST_P(LossesOfNetworks, WithoutAHiddenLayerAreLinearModels) {
  AddressedRandom random(72, Purpose::experiment, 0, 0);
  const auto loss = loss_table().make(GetParam().spec);
  const std::size_t k = loss->scores();
  LinearModel linear(*loss, 7, true);
  NetworkModel<double> network(*loss, perceptron({7, k}));
  const testing_support::TwinBatch batch = random_records(*loss, GetParam(), 7, records, random);
  const Vector flat = random_parameters(network.dimension(), random);
  const auto place = [k](std::size_t i) { return i % k * 8 + i / k; };  // of the i-th parameter in the linear model
  Vector turned(flat.size());
  for (std::size_t i = 0; i < flat.size(); ++i) turned[place(i)] = flat[i];
  for (const Clip clip : {Clip{}, Clip{ClipKind::l1, 0.4}, Clip{ClipKind::l2, 0.4}, Clip{ClipKind::component, 0.2}}) {
    Vector expected;
    Vector dense;
    Vector sparse;
    const Score of_linear = linear.evaluate(turned, batch.dense, clip, expected);
    const Score of_network = network.evaluate(flat, batch.dense, clip, dense);
    network.evaluate(flat, batch.sparse, clip, sparse);
    EXPECT_EQ(dense, sparse);
    EXPECT_NEAR(of_linear.loss, of_network.loss, 1e-12 * of_linear.loss);
    EXPECT_EQ(of_linear.correct, of_network.correct);
    for (std::size_t i = 0; i < flat.size(); ++i) EXPECT_NEAR(dense[i], expected[place(i)], 1e-7) << i;
  }
  EXPECT_EQ(network.classifies(), linear.classifies());
  EXPECT_FALSE(linear.initial(1).has_value());
  EXPECT_EQ(network.initial(1)->size(), network.dimension());
}

INSTANTIATE_TEST_SUITE_P(Table, LossesOfNetworks, testing::ValuesIn(loss_examples()),
                         [](const auto& row) { return test_name(row.param.spec); });

TEST(NetworkModels, KeepAMarginForTheirArithmetic) {
  const auto loss = loss_table().make("softmax:3");
  EXPECT_NEAR(NetworkModel<float>(*loss, perceptron({4, 3})).clip_margin(), 0x1p-10, 0x1p-14);
  EXPECT_NEAR(NetworkModel<double>(*loss, perceptron({4, 3})).clip_margin(), 0x1p-29, 0x1p-34);
}

/// Whether one record counts in a network of one hidden layer with parameters that are all `parameter`.
template <class T>
bool is_in_range(const Clip& clip, const Vector& row, double label, double parameter) {
  const auto loss = loss_table().make("squared");
  NetworkModel<T> model(*loss, perceptron({row.size(), 2, 1}));
  Batch batch;
  batch.add({row, {}}, label);
  Vector gradient;
  const Score score = model.evaluate(Vector(model.dimension(), parameter), batch, clip, gradient);
  EXPECT_EQ(score.records + score.out_of_range, 1);
  if (score.records == 1) return true;
  EXPECT_EQ(gradient, Vector(model.dimension()));
  return false;
}

class HugeRecordsOfNetworks : public testing::TestWithParam<ClipKind> {};

TEST_P(HugeRecordsOfNetworks, AddNothing) {
  const Clip clip{GetParam(), 1};
  const double nan = std::nan("");
  EXPECT_FALSE(is_in_range<float>(clip, {nan, 1}, 1, 1));
  EXPECT_FALSE(is_in_range<float>(clip, {1e39, 1}, 1, 1));
  EXPECT_FALSE(is_in_range<float>(clip, {1e25, 1}, 1, 1e15));
  EXPECT_FALSE(is_in_range<float>(clip, {1e15, 1}, 1, 1e12));
  EXPECT_FALSE(is_in_range<double>(clip, {1, 1}, 1, nan));
  EXPECT_TRUE(is_in_range<double>(clip, {1e15, 1}, 1, 1e12));
  EXPECT_TRUE(is_in_range<float>(clip, {1e3, -1e4}, 1, 1));
}

// 150 records are two chunks. The other records add what they add without it, but for the roundings of floats.
TEST_P(HugeRecordsOfNetworks, ChangeNoOtherRecord) {
  const auto loss = loss_table().make("squared");
  NetworkModel<float> model(*loss, perceptron({2, 3, 1}));
  const Vector parameters = *model.initial(7);
  for (const std::size_t place : {0U, 127U, 128U, 149U}) {
    for (const double huge : {1e39, std::nan("")}) {
      Batch with;
      Batch without;
      for (std::size_t i = 0; i < 150; ++i) {
        const Vector row{i == place ? huge : 0.01 * static_cast<double>(i), 1};
        with.add({row, {}}, 1);
        if (i != place) without.add({row, {}}, 1);
      }
      Vector ours;
      Vector theirs;
      const Score score = model.evaluate(parameters, with, {GetParam(), 1}, ours);
      const Score others = model.evaluate(parameters, without, {GetParam(), 1}, theirs);
      EXPECT_EQ(score.out_of_range, 1) << place << " " << huge;
      EXPECT_NEAR(score.loss, others.loss, 1e-12 * others.loss);
      for (std::size_t j = 0; j < ours.size(); ++j) EXPECT_NEAR(ours[j], theirs[j], 1e-4) << huge;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, HugeRecordsOfNetworks,
                         testing::Values(ClipKind::none, ClipKind::l1, ClipKind::l2, ClipKind::component),
                         [](const auto& row) { return "kind_" + std::to_string(static_cast<int>(row.param)); });

TEST(NetworkModels, LeaveOutWhatCannotBeClippedExactly) {
  for (const ClipKind kind : {ClipKind::l1, ClipKind::l2}) {
    EXPECT_FALSE(is_in_range<float>({kind, 1}, {1e16, 1}, 1, 0));
    EXPECT_FALSE(is_in_range<double>({kind, 1}, {1e151, 1}, 1, 0));
  }
  const auto loss = loss_table().make("squared");
  NetworkModel<float> model(*loss, perceptron({1, 1}));
  Vector gradient;
  EXPECT_THROW(model.evaluate(Vector(2), Batch(), {ClipKind::l2, 1e-11}, gradient), UsageError);
}

TEST(NetworkModels, MustHaveAnOutputPerScore) {
  const auto loss = loss_table().make("softmax:3");
  EXPECT_ERROR(UsageError, "4 outputs", NetworkModel<float>(*loss, perceptron({2, 4})));
}

}  // namespace starling::network_model_test
