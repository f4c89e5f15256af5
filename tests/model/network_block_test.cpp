#include "starling/model/network_block.hpp"

#include "support/testing.hpp"
#include <cmath>
#include <gmock/gmock.h>
#include <limits>

#include "starling/core/check.hpp"
#include "starling/core/random.hpp"

namespace starling {
namespace {

using testing::HasSubstr;
using testing_support::message_of;

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

TEST_P(NetworkBlocks, NameTheLayerOfWhatIsNotFinite) {
  Vector x = random_numbers(inputs, 1);
  x[2] = std::numeric_limits<double>::infinity();
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(block_->forward(theta_, x)); }),
              HasSubstr("layer 1 (dense 5-7)"));
  static_cast<void>(block_->forward(theta_, random_numbers(inputs, 1)));
  Vector gradient;
  const Vector d{1, std::numeric_limits<double>::quiet_NaN(), 0};
  EXPECT_THAT(message_of<DataError>([&] { block_->gradient(d, Clip(), gradient); }), HasSubstr("layer"));
}

TEST(NetworkBlock, OfFloatsRefusesClipsThatFloatsCannotKeep) {
  const auto block = make_network_block(perceptron({inputs, outputs}), Precision::single);
  static_cast<void>(block->forward(block->initial(1, 0), random_numbers(inputs, 1)));
  Vector gradient;
  EXPECT_THAT(message_of<UsageError>([&] {
                block->gradient(random_numbers(outputs, 2), {ClipKind::l2, 1e-12}, gradient);
              }),
              HasSubstr("--precision double"));
}

}  // namespace
}  // namespace starling
