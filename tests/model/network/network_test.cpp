/// Passes through networks: derivatives against finite differences, sums against single records, and the same bits
/// whatever else a batch holds or held.
#include <cmath>
#include <cstdlib>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "model/networks.hpp"
#include "support/allocations.hpp"
#include "support/testing.hpp"

namespace starling::network_test {

using namespace testing_support;

constexpr std::size_t records = 9;

class AnyNetwork : public testing::TestWithParam<NetworkExample> {
 protected:
  using Numbers = std::vector<double>;

  AddressedRandom random_{70, Purpose::experiment, 0, 0};
  Network<double> network_{GetParam().architecture};
  Numbers parameters_ = normal_numbers<double>(network_.dimension(), random_, 0.4);
  Numbers inputs_ = normal_numbers<double>(records * network_.inputs(), random_);
  Numbers d_outputs_ = normal_numbers<double>(records * network_.outputs(), random_);

  /// Σ d_outputs · outputs: its derivatives are what the backward pass gives.
  double objective(const Numbers& parameters, const Numbers& inputs) {
    Network<double> network(GetParam().architecture);
    return dot(network.forward(parameters, inputs), d_outputs_);
  }
  Numbers gradient_of(std::span<const double> inputs, std::span<const double> d_outputs) {
    Numbers gradient(network_.dimension());
    network_.forward(parameters_, inputs);
    network_.backward(d_outputs);
    network_.gradient(gradient);
    return gradient;
  }
  Numbers gradient_of(std::size_t record) {
    return gradient_of(row(inputs_, record, network_.inputs()), row(d_outputs_, record, network_.outputs()));
  }
  static std::span<const double> row(const Numbers& values, std::size_t i, std::size_t width) {
    return std::span<const double>(values).subspan(i * width, width);
  }
  /// Expects `derivative` to be that of the objective by each of `numbers`, which are the parameters or the inputs.
  void expect_slopes(Numbers& numbers, std::span<const double> derivative) {
    constexpr double h = 1e-6;
    ASSERT_EQ(numbers.size(), derivative.size());
    double largest = 0;
    for (std::size_t i = 0; i < numbers.size(); i += 1 + numbers.size() / 400) {
      const double here = numbers[i];
      numbers[i] = here + h;
      const double above = objective(parameters_, inputs_);
      numbers[i] = here - h;
      const double below = objective(parameters_, inputs_);
      numbers[i] = here;
      EXPECT_NEAR(derivative[i], (above - below) / (2 * h), 2e-7) << i;
      largest = std::max(largest, std::abs(derivative[i]));
    }
    EXPECT_GT(largest, 0.01);
  }
};

TEST_P(AnyNetwork, GradientIsThatOfFiniteDifferences) {
  const Numbers gradient = gradient_of(inputs_, d_outputs_);
  expect_slopes(parameters_, gradient);
}

TEST_P(AnyNetwork, InputsHaveThatOfFiniteDifferences) {
  network_.forward(parameters_, inputs_);
  network_.backward(d_outputs_, Network<double>::Reach::inputs);
  const Numbers derivative(network_.d_inputs().begin(), network_.d_inputs().end());
  expect_slopes(inputs_, derivative);
}

TEST_P(AnyNetwork, OutputsOfARecordDependOnNothingElse) {
  const std::span<const double> together = network_.forward(parameters_, inputs_);
  const Numbers outputs(together.begin(), together.end());
  for (std::size_t i = 0; i < records; ++i) {
    const auto alone = network_.forward(parameters_, row(inputs_, i, network_.inputs()));
    const auto among = row(outputs, i, network_.outputs());
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), among.begin(), among.end())) << i;
  }
}

TEST_P(AnyNetwork, GradientIsTheSumOfItsRecords) {
  Numbers expected(network_.dimension());
  for (std::size_t i = 0; i < records; ++i) axpy(1, gradient_of(i), expected);
  const Numbers sum = gradient_of(inputs_, d_outputs_);
  for (std::size_t j = 0; j < sum.size(); ++j) EXPECT_NEAR(sum[j], expected[j], 1e-11) << j;
}

TEST_P(AnyNetwork, TellsTheGradientOfEachRecord) {
  std::vector<Numbers> alone;
  for (std::size_t i = 0; i < records; ++i) alone.push_back(gradient_of(i));
  gradient_of(inputs_, d_outputs_);
  Numbers gradient(network_.dimension(), 7.0);
  for (std::size_t i = 0; i < records; ++i) {
    network_.record_gradient(i, gradient);
    EXPECT_EQ(gradient, alone[i]) << i;
  }
}

TEST_P(AnyNetwork, NormsAreThoseOfTheGradientsOfRecords) {
  std::vector<Numbers> alone;
  for (std::size_t i = 0; i < records; ++i) alone.push_back(gradient_of(i));
  gradient_of(inputs_, d_outputs_);
  Vector norms(records);
  for (const Norm norm : {Norm::l1, Norm::l2}) {
    network_.record_norms(norm, norms);
    for (std::size_t i = 0; i < records; ++i) {
      const double expected = norm == Norm::l1 ? norm1(alone[i]) : norm2(alone[i]);
      EXPECT_NEAR(norms[i], expected, 1e-13 * expected) << i;
    }
  }
}

TEST_P(AnyNetwork, WeighsEachRecord) {
  Vector factors(records);
  Numbers expected(network_.dimension());
  for (std::size_t i = 0; i < records; ++i) {
    factors[i] = i == 3 ? 1 : 0.1 * static_cast<double>(i);
    axpy(factors[i], gradient_of(i), expected);
  }
  gradient_of(inputs_, d_outputs_);
  Vector norms(records);
  network_.record_norms(Norm::l2, norms);
  Numbers sum(network_.dimension(), 5.0);
  network_.weighted_gradient(factors, sum);
  for (std::size_t j = 0; j < sum.size(); ++j) EXPECT_NEAR(sum[j], expected[j], 1e-11) << j;
}

// Whatever was in the buffers before, and however large they were.
TEST_P(AnyNetwork, BitsDoNotDependOnWhatCameBefore) {
  const Numbers fresh = gradient_of(inputs_, d_outputs_);
  const std::vector<double> many = normal_numbers<double>(5 * inputs_.size(), random_);
  const std::vector<double> slopes = normal_numbers<double>(5 * d_outputs_.size(), random_);
  gradient_of(many, slopes);
  EXPECT_EQ(gradient_of(inputs_, d_outputs_), fresh);
  gradient_of(0);
  EXPECT_EQ(gradient_of(inputs_, d_outputs_), fresh);
}

// Parameters and inputs at another address, off every boundary but a number's own.
TEST_P(AnyNetwork, BitsDoNotDependOnAddresses) {
  const Numbers straight = gradient_of(inputs_, d_outputs_);
  for (const std::size_t shift : {1U, 2U, 3U, 5U}) {
    Numbers parameters(shift);
    Numbers inputs(shift + 1);
    parameters.insert(parameters.end(), parameters_.begin(), parameters_.end());
    inputs.insert(inputs.end(), inputs_.begin(), inputs_.end());
    Numbers gradient(network_.dimension() + shift);
    network_.forward(std::span<const double>(parameters).subspan(shift),
                     std::span<const double>(inputs).subspan(shift + 1));
    network_.backward(d_outputs_);
    network_.gradient(std::span<double>(gradient).subspan(shift));
    EXPECT_TRUE(std::equal(straight.begin(), straight.end(), gradient.begin() + static_cast<long>(shift))) << shift;
  }
}

TEST_P(AnyNetwork, FloatsComeNearDoubles) {
  const std::vector<float> parameters(parameters_.begin(), parameters_.end());
  const std::vector<float> inputs(inputs_.begin(), inputs_.end());
  const std::vector<float> d_outputs(d_outputs_.begin(), d_outputs_.end());
  Network<float> network(GetParam().architecture);
  std::vector<float> gradient(network.dimension());
  network.forward(parameters, inputs);
  network.backward(d_outputs);
  network.gradient(gradient);
  const Numbers expected = gradient_of(inputs_, d_outputs_);
  double differs = 0;
  for (std::size_t j = 0; j < gradient.size(); ++j) {
    EXPECT_NEAR(gradient[j], expected[j], 1e-5 * (1 + norm2(expected))) << j;
    differs += std::abs(gradient[j] - expected[j]);
  }
  EXPECT_GT(differs, 0);
}

TEST_P(AnyNetwork, AllocatesNothingOnceWarm) {
  Numbers gradient(network_.dimension());
  Vector norms(records);
  const auto step = [&] {
    network_.forward(parameters_, inputs_);
    network_.backward(d_outputs_, Network<double>::Reach::inputs);
    network_.gradient(gradient);
    network_.record_gradient(2, gradient);
    network_.record_norms(Norm::l2, norms);
    network_.weighted_gradient(norms, gradient);
  };
  step();
  const long before = allocations();
  EXPECT_GT(before, 0);
  step();
  network_.forward(parameters_, row(inputs_, 0, network_.inputs()));
  step();
  EXPECT_EQ(allocations(), before);
}

TEST_P(AnyNetwork, StartsWithinTheFanIn) {
  const Vector start = network_.initial(3);
  EXPECT_EQ(start, network_.initial(3));
  EXPECT_NE(start, network_.initial(4));
  EXPECT_EQ(start, Network<float>(GetParam().architecture).initial(3));
  EXPECT_LT(*std::max_element(start.begin(), start.end()), 1);
  EXPECT_GT(*std::max_element(start.begin(), start.end()), 0);
  EXPECT_LT(*std::min_element(start.begin(), start.end()), 0);
}

INSTANTIATE_TEST_SUITE_P(Examples, AnyNetwork, testing::ValuesIn(network_examples()),
                         [](const auto& row) { return row.param.name; });

// Mean 0 and variance bound²/3 in each layer; the bounds below are missed with probability under 1e-6 each.
TEST(NetworkStart, IsUniformInEachLayer) {
  const Network<float> network(perceptron({400, 100, 10}));
  const Vector start = network.initial(1);
  const auto expect_uniform = [&](std::size_t from, std::size_t to, double bound) {
    const View part = View(start).subspan(from, to - from);
    const auto n = static_cast<double>(part.size());
    EXPECT_NEAR(sum(part) / n, 0, 5 * bound / std::sqrt(3 * n));
    EXPECT_NEAR(dot(part, part) / n, bound * bound / 3, 5 * bound * bound * std::sqrt(4.0 / 45 / n));
    EXPECT_LE(*std::max_element(part.begin(), part.end()), bound);
    EXPECT_GE(*std::min_element(part.begin(), part.end()), -bound);
  };
  expect_uniform(0, 401 * 100, 1 / 20.0);
  expect_uniform(401 * 100, start.size(), 1 / 10.0);
}

// 2 inputs, 2 hidden, 1 output, by hand: h = relu(W'x + b), y = v'h + c.
TEST(Network, IsWhatAHandComputes) {
  Network<double> network(perceptron({2, 2, 1}));
  const std::vector<double> parameters{1, 2, -1, 3, 0.5, -10, 2, 4, 0.25};
  const std::vector<double> x{3, 1};
  // h = relu(3·1 + 1·(−1) + 0.5, 3·2 + 1·3 − 10) = (2.5, 0), y = 5.25
  EXPECT_EQ(network.forward(parameters, x)[0], 5.25);
  network.backward(std::vector<double>{10}, Network<double>::Reach::inputs);
  std::vector<double> gradient(9);
  network.gradient(gradient);
  EXPECT_EQ(gradient, (std::vector<double>{60, 0, 20, 0, 20, 0, 25, 0, 10}));
  EXPECT_EQ(std::vector<double>(network.d_inputs().begin(), network.d_inputs().end()), (std::vector<double>{20, -20}));
}

// One 2×2 kernel of one channel over 3×3 points, then the largest of the four places.
TEST(Network, ConvolvesAndPoolsAsAHandDoes) {
  Network<double> network({{3, 3, 1}, {ConvolutionLayer{2, 1}, MaxPoolLayer{}}});
  const std::vector<double> parameters{1, 10, 100, 1000, 0.5};
  const std::vector<double> x{1, 2, 3,  //
                              4, 9, 6,  //
                              7, 8, 5};
  // patches (1, 2, 4, 9): 9421; (2, 3, 9, 6): 6932; (4, 9, 7, 8): 8794; (9, 6, 8, 5): 5869
  EXPECT_EQ(network.forward(parameters, x)[0], 9421.5);
  network.backward(std::vector<double>{2}, Network<double>::Reach::inputs);
  std::vector<double> gradient(5);
  network.gradient(gradient);
  EXPECT_EQ(gradient, (std::vector<double>{2, 4, 8, 18, 2}));
  EXPECT_EQ(std::vector<double>(network.d_inputs().begin(), network.d_inputs().end()),
            (std::vector<double>{2, 20, 0, 200, 2000, 0, 0, 0, 0}));
}

TEST(Network, RoutesTheGradientOfEqualsToTheFirst) {
  Network<double> network({{2, 2, 1}, {ConvolutionLayer{1, 1}, MaxPoolLayer{}}});
  const std::vector<double> parameters{1, 0};
  const std::vector<double> x{3, 5, 5, 5};
  network.forward(parameters, x);
  network.backward(std::vector<double>{1}, Network<double>::Reach::inputs);
  EXPECT_EQ(std::vector<double>(network.d_inputs().begin(), network.d_inputs().end()),
            (std::vector<double>{0, 1, 0, 0}));
}

TEST(Network, RefusesWhatDoesNotFit) {
  const auto refusal = [](const Architecture& architecture) {
    return message_of<UsageError>([&] { Network<float>{architecture}; });
  };
  EXPECT_THAT(refusal({{4, 4, 1}, {ConvolutionLayer{5, 1}}}), HasSubstr("5x5"));
  EXPECT_THAT(refusal({{4, 1, 1}, {MaxPoolLayer{}}}), HasSubstr("max-pool"));
  EXPECT_THAT(refusal({{4, 1, 1}, {ReluLayer{}}}), HasSubstr("parameters"));
  EXPECT_THROW(perceptron({4}), UsageError);
  EXPECT_THROW(perceptron({4, 0, 1}), UsageError);
  EXPECT_THROW(convolutional(784, {512}, 10), UsageError);
  EXPECT_THROW(convolutional(783, {32, 512}, 10), UsageError);
}

TEST(Network, HasTheParametersOfItsLayers) {
  EXPECT_EQ(Network<float>(perceptron({784, 128, 10})).dimension(), 785U * 128 + 129 * 10);
  EXPECT_EQ(Network<float>(convolutional(784, {32, 64, 512}, 10)).dimension(),
            26U * 32 + 801 * 64 + 1025 * 512 + 513 * 10);
}

}  // namespace starling::network_test
