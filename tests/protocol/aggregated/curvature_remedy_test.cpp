// Logistic regression at μ = 1 in all: the average of the path is off, and random scaling covers too little; less the
// bias that released curvatures tell, it covers.
#include <cmath>
#include <optional>

#include "core/numerics/gram.hpp"
#include "core/random.hpp"
#include "inference/curvature_bias.hpp"
#include "inference/path_intervals.hpp"
#include "support/testing.hpp"

namespace starling::curvature_remedy_test {

constexpr std::size_t dimension = 4;  // three slopes and the intercept, all 1
constexpr int steps = 200000;

/// ωσ' x̄x̄' into `triangle` and the step's direction Ψ into `direction`, both without noise.
void one_record(AddressedRandom& random, View theta, MutableView direction, MutableView triangle) {
  double x[dimension] = {random.normal(), random.normal(), random.normal(), 1};
  double score = 0;
  double true_score = 0;
  double square = 0;
  for (std::size_t j = 0; j < dimension; ++j) {
    score += x[j] * theta[j];
    true_score += x[j];
    square += x[j] * x[j];
  }
  const double weight = std::min(1.0, 2 / square);
  const double y = random.uniform() < 1 / (1 + std::exp(-true_score)) ? 1 : 0;
  const double p = 1 / (1 + std::exp(-score));
  std::size_t at = 0;
  for (std::size_t j = 0; j < dimension; ++j) {
    direction[j] = weight * (p - y) * x[j];
    for (std::size_t k = j; k < dimension; ++k) triangle[at++] = weight * p * (1 - p) * x[j] * x[k];
  }
}

struct Outcome {
  Spread spread;
  std::optional<BiasEstimate> bias;  ///< none where noise hides a direction of the curvature
};

/// Noise for μ² = 0.9² + 0.436² = 1: the first for directions (B0 = √2), the second for curvatures (√2 B1, B1 = ½).
Outcome run(std::uint64_t replication) {
  const double direction_noise = 2 * std::sqrt(2.0) / 0.9;
  const double curvature_noise = std::sqrt(0.5) / 0.436;
  AddressedRandom random(41, Purpose::experiment, replication, 0);
  Vector theta(dimension);
  Vector direction(dimension);
  Vector triangle(triangle_size(dimension));
  RandomScaling scaling(dimension);
  CurvatureBias bias(dimension, curvature_noise);
  for (int i = 1; i <= steps; ++i) {
    one_record(random, theta, direction, triangle);
    for (double& entry : triangle) entry += curvature_noise * random.normal();
    bias.add(triangle, theta);
    const double step = std::pow(i + 1000, -0.51);
    for (std::size_t j = 0; j < dimension; ++j) theta[j] -= step * (direction[j] + direction_noise * random.normal());
    scaling.add(theta);
  }
  return {scaling.spread(), bias.estimate()};
}

TEST(CurvatureRemedy, RandomScalingCoversLogisticRegressionAtMuOne) {
  const int replications = 150;
  const double quantile = random_scaling_quantile(0.95);
  double plain = 0;
  double remedied = 0;
  double error = 0;
  double left = 0;
  int told = 0;
  for (int r = 0; r < replications; ++r) {
    const auto [spread, bias] = run(static_cast<std::uint64_t>(r));
    told += bias ? 1 : 0;
    const Spread better = bias ? less_bias(spread, *bias, variance_share_of_random_scaling) : spread;
    for (std::size_t j = 0; j < dimension; ++j) {
      const double off = spread.estimate[j] - 1;
      plain += std::abs(off) <= quantile * spread.spread[j] ? 1 : 0;
      remedied += std::abs(better.estimate[j] - 1) <= quantile * better.spread[j] ? 1 : 0;
      error += off;
      left += better.estimate[j] - 1;
    }
  }
  const double intervals = static_cast<double>(replications * dimension);
  RecordProperty("plain_percent", std::to_string(100 * plain / intervals));
  RecordProperty("remedied_percent", std::to_string(100 * remedied / intervals));
  RecordProperty("told", told);
  RecordProperty("bias", std::to_string(error / intervals));
  RecordProperty("bias_left", std::to_string(left / intervals));
  // Coverage about 83 and 95 % in larger studies; at 150 replications of 4 coordinates (which depend on each other) the
  // standard deviations are below 2.5 and 1.5 points: two of them for what must be small, error rate below 1 %.
  EXPECT_GE(told, replications * 9 / 10);
  EXPECT_LT(plain / intervals, 0.89);
  EXPECT_GT(remedied / intervals, 0.92);
  EXPECT_LT(remedied / intervals, 0.985);
  EXPECT_LT(std::abs(left), 0.4 * std::abs(error));
}

}  // namespace starling::curvature_remedy_test
