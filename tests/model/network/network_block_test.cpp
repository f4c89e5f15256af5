#include "model/network/network_block.hpp"

#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::network_block_test {

using namespace testing_support;

constexpr std::size_t inputs = 5;
constexpr std::size_t outputs = 3;

Vector random_numbers(std::size_t count, std::uint64_t seed) {
  AddressedRandom random(seed, Purpose::experiment, 0, 0);
  Vector numbers(count);
  for (double& x : numbers) x = static_cast<float>(random.normal());
  return numbers;
}

class NetworkBlocks : public testing::TestWithParam<Precision> {
 protected:
  std::unique_ptr<NetworkBlock> block_ = make_network_block(perceptron({inputs, 7, outputs}), GetParam());
  Vector theta_ = block_->initial(1, 2);
};

INSTANTIATE_TEST_SUITE_P(Precisions, NetworkBlocks, testing::Values(Precision::single, Precision::full),
                         [](const auto& each) { return each.param == Precision::single ? "float" : "double"; });

TEST_P(NetworkBlocks, StartDifferentlyByBlock) {
  EXPECT_EQ(block_->initial(1, 2), theta_);
  EXPECT_NE(block_->initial(1, 3), theta_);
  EXPECT_NE(block_->initial(2, 2), theta_);
  const double bound = 1 / std::sqrt(5.0);
  for (const double x : theta_) EXPECT_LE(std::abs(x), bound);
}

/// More records than one chunk has, against each alone.
TEST_P(NetworkBlocks, TreatRecordsOfLongBatchesAsEachAlone) {
  constexpr std::size_t records = 2 * 128 + 3;
  const Vector x = random_numbers(records * inputs, 1);
  const Vector d = random_numbers(records * outputs, 2);
  const View all = block_->forward(theta_, x);
  const Vector together(all.begin(), all.end());
  Vector gradient;
  Vector d_inputs;
  const Clip clip{ClipKind::l2, 0.5};
  block_->gradient(d, clip, gradient);
  block_->input_derivatives(d, d_inputs);
  Vector sum(block_->dimension(), 0.0);
  for (std::size_t i = 0; i < records; ++i) {
    const View one = block_->forward(theta_, View(x).subspan(i * inputs, inputs));
    for (std::size_t j = 0; j < outputs; ++j) ASSERT_EQ(one[j], together[i * outputs + j]) << i;
    Vector own;
    Vector own_inputs;
    block_->gradient(View(d).subspan(i * outputs, outputs), clip, own);
    block_->input_derivatives(View(d).subspan(i * outputs, outputs), own_inputs);
    double norm = 0;
    for (std::size_t j = 0; j < sum.size(); ++j) {
      sum[j] += own[j];
      norm += own[j] * own[j];
    }
    ASSERT_LE(std::sqrt(norm), 0.5);
    for (std::size_t j = 0; j < inputs; ++j) ASSERT_EQ(own_inputs[j], d_inputs[i * inputs + j]) << i;
  }
  const double tolerance = GetParam() == Precision::single ? 1e-4 : 1e-12;
  for (std::size_t j = 0; j < sum.size(); ++j) EXPECT_NEAR(gradient[j], sum[j], tolerance);
}

TEST(NetworkBlock, DerivesByInputsAndParameters) {
  const auto block = make_network_block(perceptron({inputs, 7, outputs}), Precision::full);
  Vector theta = block->initial(1, 0);
  Vector x = random_numbers(2 * inputs, 3);
  const Vector d = random_numbers(2 * outputs, 4);
  const auto value = [&] {
    const View y = block->forward(theta, x);
    double total = 0;
    for (std::size_t j = 0; j < y.size(); ++j) total += y[j] * d[j];
    return total;
  };
  static_cast<void>(value());
  Vector gradient;
  Vector d_inputs;
  block->gradient(d, Clip(), gradient);
  block->input_derivatives(d, d_inputs);
  const auto slope = [&](double& entry) {
    constexpr double h = 1e-6;
    const double at = entry;
    entry = at + h;
    const double above = value();
    entry = at - h;
    const double below = value();
    entry = at;
    return (above - below) / (2 * h);
  };
  for (std::size_t j = 0; j < x.size(); ++j) EXPECT_NEAR(d_inputs[j], slope(x[j]), 1e-7) << j;
  for (std::size_t j = 0; j < theta.size(); ++j) EXPECT_NEAR(gradient[j], slope(theta[j]), 1e-7) << j;
}

// 200 records, so that there are two chunks; the third record's inputs, and the 180th's derivatives, are no numbers.
TEST_P(NetworkBlocks, TakeNothingFromRecordsOutOfRange) {
  constexpr std::size_t records = 200;
  // Without record 3 and record 180.
  const auto without = [](const Vector& all, std::size_t width) {
    Vector rest;
    for (std::size_t i = 0; i < records; ++i) {
      if (i != 3 && i != 180) rest.insert(rest.end(), &all[i * width], &all[i * width] + width);
    }
    return rest;
  };
  for (const Clip& clip : {Clip(), Clip{ClipKind::l1, 0.5}, Clip{ClipKind::l2, 0.5}, Clip{ClipKind::component, 0.1}}) {
    Vector x = random_numbers(inputs * records, 1);
    Vector d = random_numbers(outputs * records, 2);
    const Vector whole = x;
    const View before = block_->forward(theta_, whole);
    const Vector expected(before.begin(), before.end());
    x[inputs * 3] = std::numeric_limits<double>::infinity();
    const View after = block_->forward(theta_, x);
    for (std::size_t i = 0; i < records; ++i) {
      EXPECT_EQ(block_->out_of_range()[i] != 0, i == 3);
      for (std::size_t j = 0; j < outputs; ++j) {
        EXPECT_EQ(after[i * outputs + j], i == 3 ? 0 : expected[i * outputs + j]);
      }
    }
    d[outputs * 180] = std::numeric_limits<double>::quiet_NaN();
    Vector gradient;
    EXPECT_EQ(block_->gradient(d, clip, gradient), 2U);
    Vector d_inputs;
    block_->input_derivatives(d, d_inputs);
    for (std::size_t j = 0; j < inputs; ++j) EXPECT_EQ(d_inputs[inputs * 3 + j], 0);
    EXPECT_TRUE(std::all_of(d_inputs.begin(), d_inputs.end(), [](double v) { return std::isfinite(v); }));
    static_cast<void>(block_->forward(theta_, without(whole, inputs)));
    Vector others;
    EXPECT_EQ(block_->gradient(without(d, outputs), clip, others), 0U);
    for (std::size_t j = 0; j < others.size(); ++j) EXPECT_NEAR(gradient[j], others[j], 2e-4) << j;
  }
}

TEST(NetworkBlock, OfFloatsRefusesClipsThatFloatsCannotKeep) {
  const auto block = make_network_block(perceptron({inputs, outputs}), Precision::single);
  static_cast<void>(block->forward(block->initial(1, 0), random_numbers(inputs, 1)));
  Vector gradient;
  EXPECT_ERROR(UsageError, "--precision double",
               block->gradient(random_numbers(outputs, 2), {ClipKind::l2, 1e-12}, gradient));
}

}  // namespace starling::network_block_test
