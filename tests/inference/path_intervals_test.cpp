#include "inference/path_intervals.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <numbers>

#include <Eigen/Cholesky>
#include <Eigen/Dense>

#include "core/check.hpp"
#include "core/numerics/gram.hpp"
#include "core/numerics/kernels.hpp"
#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::path_intervals_test {

/// n models of d numbers, one after the other: stationary AR(1) of coefficient `memory` and variance 1 about `centre`.
Vector autoregression(std::size_t d, std::size_t n, double memory, double centre, std::uint64_t stream) {
  AddressedRandom random(11, Purpose::experiment, stream, 0);
  Vector path(d * n);
  const double fresh = std::sqrt(1 - memory * memory);
  for (std::size_t i = 0; i < path.size(); ++i) {
    path[i] = i < d ? random.normal() : memory * path[i - d] + fresh * random.normal();
  }
  for (double& entry : path) entry += centre;
  return path;
}

/// A sum of n normal steps of variance 1/n about `centre`.
Vector random_walk(std::size_t d, std::size_t n, double centre, std::uint64_t stream) {
  AddressedRandom random(12, Purpose::experiment, stream, 0);
  Vector path(d * n, centre);
  const double scale = 1 / std::sqrt(static_cast<double>(n));
  for (std::size_t i = d; i < path.size(); ++i) path[i] = path[i - d] + scale * random.normal();
  return path;
}

View model(View path, std::size_t d, std::size_t i) {
  return path.subspan(i * d, d);
}

RandomScaling fed(View path, std::size_t d) {
  RandomScaling scaling(d);
  for (std::size_t i = 0; i < path.size() / d; ++i) scaling.add(model(path, d, i));
  return scaling;
}

/// n⁻² Σ_b r_b r_b' with r_b = Σ_{i≤b} (θ_i − θ̄_n), in long double; packed.
Vector scaling_by_definition(View path, std::size_t d) {
  const std::size_t n = path.size() / d;
  std::vector<long double> mean(d);
  for (std::size_t i = 0; i < path.size(); ++i) mean[i % d] += path[i];
  for (long double& entry : mean) entry /= static_cast<long double>(n);
  std::vector<long double> residual(d);
  std::vector<long double> squares(triangle_size(d));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < d; ++j) residual[j] += path[i * d + j] - mean[j];
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t k = j; k < d; ++k) squares[triangle_at(j, k, d)] += residual[j] * residual[k];
    }
  }
  Vector result;
  for (const long double entry : squares) result.push_back(static_cast<double>(entry / (1.0L * n * n)));
  return result;
}

/// Relative to √(V_jj V_kk).
void expect_same_triangle(View found, View expected, std::size_t d, double tolerance) {
  for (std::size_t j = 0; j < d; ++j) {
    for (std::size_t k = j; k < d; ++k) {
      const std::size_t at = triangle_at(j, k, d);
      const double unit = std::sqrt(expected[triangle_at(j, j, d)] * expected[triangle_at(k, k, d)]);
      EXPECT_NEAR(found[at], expected[at], tolerance * unit) << j << ' ' << k;
    }
  }
}

TEST(RandomScaling, EqualsItsDefinition) {
  const std::size_t n = 100000;
  for (const std::size_t d : {1U, 3U, 4U, 5U, 7U}) {
    for (const double centre : {1.0, 1000.0}) {
      for (const Vector& path : {random_walk(d, n, centre, d), autoregression(d, n, 0.9, centre, d)}) {
        const RandomScaling scaling = fed(path, d);
        ASSERT_EQ(scaling.count(), 100000);
        expect_same_triangle(scaling.scaling(), scaling_by_definition(path, d), d, 1e-9);
      }
    }
  }
}

TEST(RandomScaling, AFarStartCostsNoDigits) {
  const std::size_t d = 2;
  Vector path = autoregression(d, 100000, 0.5, 1.0, 3);
  for (std::size_t i = 0; i < 10 * d; ++i) path[i] += 1e4;
  expect_same_triangle(fed(path, d).scaling(), scaling_by_definition(path, d), d, 1e-9);
}

TEST(RandomScaling, SpreadIsThatOfTheDefinition) {
  const std::size_t d = 3;
  const std::size_t n = 500;
  const Vector path = autoregression(d, n, 0.3, -2.0, 4);
  const RandomScaling scaling = fed(path, d);
  const Vector definition = scaling_by_definition(path, d);
  const Spread spread = scaling.spread();
  for (std::size_t j = 0; j < d; ++j) {
    double mean = 0;
    for (std::size_t i = 0; i < n; ++i) mean += path[i * d + j] / static_cast<double>(n);
    EXPECT_NEAR(spread.estimate[j], mean, 1e-13);
    EXPECT_NEAR(spread.spread[j], std::sqrt(definition[triangle_at(j, j, d)] / n), 1e-13);
  }
}

TEST(RandomScaling, ASinglePointHasNoSpread) {
  RandomScaling scaling(2);
  scaling.add(Vector{3, 4});
  EXPECT_EQ(scaling.spread().estimate, (Vector{3, 4}));
  EXPECT_EQ(scaling.spread().spread, (Vector{0, 0}));
  EXPECT_FALSE(scaling.joint_statistic({0, 1}).has_value());
}

TEST(RandomScaling, JointStatisticIsTheQuadraticForm) {
  const std::size_t d = 5;
  const std::size_t n = 1000;
  const Vector path = autoregression(d, n, 0.5, 0.1, 5);
  const RandomScaling scaling = fed(path, d);
  const Vector packed = scaling_by_definition(path, d);
  Eigen::Matrix2d matrix;
  matrix << packed[triangle_at(1, 1, d)], packed[triangle_at(1, 4, d)],  //
      packed[triangle_at(1, 4, d)], packed[triangle_at(4, 4, d)];
  const Vector mean = scaling.mean();
  const Eigen::Vector2d chosen(mean[4], mean[1]);
  const Eigen::Vector2d turned(mean[1], mean[4]);
  const double expected = n * turned.dot(matrix.inverse() * turned);
  const auto found = scaling.joint_statistic({4, 1});
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(*found, expected, 1e-9 * expected);
  // One coordinate: the square of the t statistic.
  const Spread spread = scaling.spread();
  EXPECT_NEAR(scaling.joint_statistic({2}).value(), std::pow(spread.estimate[2] / spread.spread[2], 2), 1e-9);
}

TEST(RandomScaling, EqualCoordinatesHaveNoJointStatistic) {
  RandomScaling scaling(2);
  AddressedRandom random(3, Purpose::experiment, 0, 0);
  for (int i = 0; i < 100; ++i) {
    const double x = random.normal();
    scaling.add(Vector{x, x});
  }
  EXPECT_FALSE(scaling.joint_statistic({0, 1}).has_value());
  EXPECT_TRUE(scaling.joint_statistic({0}).has_value());
}

TEST(RandomScaling, CoversTheMeanOfAnAutoregression) {
  // 1,000 independent paths, 95 %: the count is binomial with standard deviation 6.9; four of them are 27.6 (two-sided
  // error rate 6e-5), and a path of 2,000 models with 19 steps of memory covers less by at most a point.
  const std::size_t n = 2000;
  int covered = 0;
  for (std::uint64_t r = 0; r < 1000; ++r) {
    const Spread spread = fed(autoregression(1, n, 0.9, 0.5, 1000 + r), 1).spread();
    covered += std::abs(spread.estimate[0] - 0.5) <= random_scaling_quantile(0.95) * spread.spread[0] ? 1 : 0;
  }
  EXPECT_GE(covered, 950 - 28 - 10);
  EXPECT_LE(covered, 950 + 28);
}

/// Masses of a client that often sits out: between 0.05 and 1.5, in an order of their own.
double mass_of(std::size_t i, std::uint64_t stream) {
  AddressedRandom random(13, Purpose::experiment, stream, i / 5);  // spells of five models
  return random.uniform() < 0.4 ? 0.05 : 0.5 + random.uniform();
}

// Every model of mass w counts as w models would: the definition with W_b in place of b.
TEST(RandomScaling, WeighsModelsByMass) {
  const std::size_t d = 2;
  const std::size_t n = 3000;
  const Vector path = autoregression(d, n, 0.7, 5.0, 21);
  RandomScaling scaling(d);
  RandomScaling constant(d);
  double total = 0;
  Vector mean(d);
  for (std::size_t i = 0; i < n; ++i) {
    scaling.add(model(path, d, i), mass_of(i, 1));
    constant.add(model(path, d, i), 0.25);
    total += mass_of(i, 1);
    axpy(mass_of(i, 1), model(path, d, i), mean);
  }
  scale(1 / total, mean);
  Vector residual(d);
  Vector squares(d);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < d; ++j) {
      residual[j] += mass_of(i, 1) * (path[i * d + j] - mean[j]);
      squares[j] += residual[j] * residual[j];
    }
  }
  const Spread spread = scaling.spread();
  const Spread same = constant.spread();
  const Spread plain = fed(path, d).spread();
  for (std::size_t j = 0; j < d; ++j) {
    EXPECT_NEAR(spread.estimate[j], mean[j], 1e-12);
    EXPECT_NEAR(spread.spread[j], std::sqrt(squares[j] / n) / total, 1e-12);
    EXPECT_GT(std::abs(spread.spread[j] / plain.spread[j] - 1), 1e-4) << "masses that vary matter";
    EXPECT_DOUBLE_EQ(same.estimate[j], plain.estimate[j]) << "a constant mass changes nothing";
    EXPECT_NEAR(same.spread[j], plain.spread[j], 1e-12);
  }
  EXPECT_NEAR(scaling.joint_statistic({1}).value(), std::pow(spread.estimate[1] / spread.spread[1], 2),
              1e-9 * std::pow(spread.estimate[1] / spread.spread[1], 2));
}

// The same bounds as without masses. Models are the noisier the less mass they have, as those of push-sum are.
TEST(RandomScaling, CoversTheMeanUnderVaryingMasses) {
  const std::size_t n = 2000;
  int covered = 0;
  for (std::uint64_t r = 0; r < 1000; ++r) {
    const Vector path = autoregression(1, n, 0.9, 0, 3000 + r);
    RandomScaling scaling(1);
    for (std::size_t i = 0; i < n; ++i) {
      const double mass = mass_of(i, 100 + r);
      scaling.add(Vector{0.5 + path[i] / mass}, mass);
    }
    const Spread spread = scaling.spread();
    covered += std::abs(spread.estimate[0] - 0.5) <= random_scaling_quantile(0.95) * spread.spread[0] ? 1 : 0;
  }
  EXPECT_GE(covered, 950 - 28 - 10);
  EXPECT_LE(covered, 950 + 28);
}

TEST(BatchMeans, WeighsModelsByMass) {
  const std::size_t n = 5000;
  const int batches = 8;
  const Vector path = autoregression(1, n, 0.8, 100.0, 22);
  BatchMeans means(1, batches, 0.51, n);
  for (std::size_t i = 0; i < n; ++i) means.add(model(path, 1, i), mass_of(i, 2));
  const auto mass_in = [&](std::size_t from, std::size_t to) {
    double mass = 0;
    for (std::size_t i = from; i < to; ++i) mass += mass_of(i, 2);
    return mass;
  };
  const auto mean_in = [&](std::size_t from, std::size_t to) {
    double total = 0;
    for (std::size_t i = from; i < to; ++i) total += mass_of(i, 2) * path[i];
    return total / mass_in(from, to);
  };
  std::vector<std::size_t> ends;
  for (int k = 0; k <= batches; ++k) {
    ends.push_back(static_cast<std::size_t>(std::llround(std::pow((k + 1.0) / (batches + 1), 1 / 0.49) * n)));
  }
  const double whole = mean_in(ends[0], n);
  double variance = 0;
  for (std::size_t k = 1; k < ends.size(); ++k) {
    const double apart = mean_in(ends[k - 1], ends[k]) - whole;
    variance += mass_in(ends[k - 1], ends[k]) * apart * apart / batches;
  }
  const auto spread = means.spread();
  ASSERT_TRUE(spread.has_value());
  EXPECT_NEAR(spread->estimate[0], mean_in(0, n), 1e-10);
  EXPECT_NEAR(spread->spread[0], std::sqrt(variance / mass_in(0, n)), 1e-10);
}

TEST(BatchMeans, EqualsADirectComputation) {
  const std::size_t d = 2;
  const std::size_t n = 5000;
  const int batches = 8;
  const double alpha = 0.51;
  const Vector path = autoregression(d, n, 0.8, 100.0, 6);
  BatchMeans means(d, batches, alpha, n);
  for (std::size_t i = 0; i < n; ++i) means.add(model(path, d, i));
  std::vector<std::size_t> ends;
  for (int k = 0; k <= batches; ++k) {
    ends.push_back(static_cast<std::size_t>(std::llround(std::pow((k + 1.0) / (batches + 1), 1 / (1 - alpha)) * n)));
  }
  ASSERT_EQ(ends.back(), n);
  const auto mean_of = [&](std::size_t j, std::size_t from, std::size_t to) {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += path[i * d + j];
    return sum / static_cast<double>(to - from);
  };
  const auto spread = means.spread();
  ASSERT_TRUE(spread.has_value());
  for (std::size_t j = 0; j < d; ++j) {
    const double whole = mean_of(j, ends[0], n);
    double variance = 0;
    for (std::size_t k = 1; k < ends.size(); ++k) {
      const double apart = mean_of(j, ends[k - 1], ends[k]) - whole;
      variance += static_cast<double>(ends[k] - ends[k - 1]) * apart * apart / batches;
    }
    EXPECT_NEAR(spread->estimate[j], mean_of(j, 0, n), 1e-10);
    EXPECT_NEAR(spread->spread[j], std::sqrt(variance / n), 1e-10);
  }
}

TEST(BatchMeans, NothingBeforeTwoBatchesAreWhole) {
  BatchMeans means(1, 4, 0.5, 100);  // they end at 4, 16, 36, 64, 100
  for (int i = 1; i <= 100; ++i) {
    means.add(Vector{static_cast<double>(i % 7)});
    EXPECT_EQ(means.spread().has_value(), i >= 36) << i;
  }
}

TEST(BatchMeans, TooFewStepsAreRefusedWithTheNumberNeeded) {
  // 21^{1/0.49} / 2 = 249.9: the first batch has a step from 250 on.
  EXPECT_NO_THROW(BatchMeans(1, 20, 0.51, 250));
  try {
    BatchMeans(1, 20, 0.51, 249);
    FAIL() << "taken";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("at least 250 steps"));
  }
  EXPECT_THROW(BatchMeans(1, 20, 0.999, 1000000), UsageError);
  EXPECT_THROW(BatchMeans(1, 1, 0.51, 1000), UsageError);
  EXPECT_THROW(BatchMeans(1, 5, 1.0, 1000), UsageError);
}

}  // namespace starling::path_intervals_test
