#include "inference/settling.hpp"

#include <cmath>
#include <vector>

#include "core/random.hpp"
#include "support/slow.hpp"
#include "support/testing.hpp"

namespace starling::settling_test {

/// A path of descent from `start` to 0 on a quadratic whose directions make these effective steps in all, with noise of
/// variance 1 in each step; rotated by `angle` in the plane of its first two coordinates.
struct Descent {
  std::vector<double> effective;
  std::int64_t steps = 8000;
  double start = 0;
  double noise = 1;
  double angle = 0;

  [[nodiscard]] PathBlocks path(std::uint64_t stream) const {
    AddressedRandom random(21, Purpose::experiment, stream, 0);
    const std::size_t d = effective.size();
    double total = 0;
    for (std::int64_t i = 1; i <= steps; ++i) total += length_of(i);
    PathBlocks path(d);
    Vector theta(d, start);
    for (std::int64_t i = 1; i <= steps; ++i) {
      for (std::size_t j = 0; j < d; ++j) {
        theta[j] -= length_of(i) * (effective[j] / total * theta[j] + noise * random.normal());
      }
      path.add(rotated(theta));
    }
    return path;
  }

 private:
  static double length_of(std::int64_t i) { return std::pow(static_cast<double>(i), -0.51); }
  [[nodiscard]] Vector rotated(Vector theta) const {
    if (theta.size() < 2) return theta;
    const double x = theta[0];
    theta[0] = std::cos(angle) * x - std::sin(angle) * theta[1];
    theta[1] = std::sin(angle) * x + std::cos(angle) * theta[1];
    return theta;
  }
};

double share_settled(const Descent& descent, int paths) {
  int settled = 0;
  for (int i = 0; i < paths; ++i) {
    settled += settling_of(descent.path(static_cast<std::uint64_t>(i))).value().settled() ? 1 : 0;
  }
  return static_cast<double>(settled) / paths;
}

TEST(PathBlocks, HasMeansOfEqualBlocks) {
  for (const std::int64_t n : {3, 4, 2047, 2048, 5000, 100'000}) {
    PathBlocks path(2);
    for (std::int64_t i = 0; i < n; ++i) path.add(Vector{static_cast<double>(i), -1});
    std::int64_t length = 4;
    while (n / length >= 512) length *= 2;
    ASSERT_EQ(path.count(), static_cast<std::size_t>(n / length)) << n;
    for (std::size_t k = 0; k < path.count(); ++k) {
      EXPECT_EQ(path.mean(k)[0],
                static_cast<double>(k * static_cast<std::size_t>(length)) + static_cast<double>(length - 1) / 2);
      EXPECT_EQ(path.mean(k)[1], -1);
    }
  }
}

// 5 % of false alarms at 100 effective steps: of 400 paths more than 40 with a probability below 1e-4.
TEST(Settling, RaisesFewFalseAlarms) {
  EXPECT_GE(share_settled({{300, 1000, 100, 1000}}, 400), 0.9);
  if (!testing_support::slow()) return;
  EXPECT_GE(share_settled({{100}}, 400), 0.9);
  EXPECT_GE(share_settled({{100, 100, 100, 100}}, 400), 0.9);
}

TEST(Settling, RaisesNoneForAPathThatComesFromAfar) {
  EXPECT_GE(share_settled({{200, 200}, 8000, 100}, 100), 0.85);
}

// Whatever the noise and the start: too few effective steps in one direction are found.
TEST(Settling, FindsASlowDirection) {
  EXPECT_LE(share_settled({{5, 300, 300, 300}}, 200), 0.1);
  EXPECT_LE(share_settled({{0.1, 300}, 8000, 100, 1, 0.7}, 200), 0.02);
  if (!testing_support::slow()) return;
  EXPECT_LE(share_settled({{0.1, 300, 300, 300}, 8000, 100}, 200), 0.02);
  EXPECT_LE(share_settled({{2, 300, 300, 300}, 8000, 10}, 200), 0.1);
  EXPECT_LE(share_settled({{20, 20, 20, 20}}, 200), 0.02);
}

TEST(Settling, NamesTheSlowestCoordinate) {
  const Settling slow = settling_of(Descent{{300, 300, 0.5, 300}, 8000, 100}.path(1)).value();
  EXPECT_EQ(slow.slowest, 2U);
  EXPECT_EQ(slow.drifting, 2U);
  EXPECT_LT(slow.effective_steps, 3);
  EXPECT_GT(slow.drift, slow.most_drift);
}

TEST(Settling, EstimatesEffectiveSteps) {
  double sum = 0;
  for (std::uint64_t i = 0; i < 50; ++i) sum += settling_of(Descent{{200}}.path(i)).value().effective_steps;
  EXPECT_NEAR(sum / 50, 150, 50);  // a little low: steps shrink along the path
}

TEST(Settling, NeedsAPathThatMoves) {
  PathBlocks still(2);
  for (int i = 0; i < 1000; ++i) still.add(Vector{1, 2});
  EXPECT_FALSE(settling_of(still));
  const PathBlocks path = Descent{{200}}.path(1);
  EXPECT_NEAR(settling_of(path, true)->most_drift / settling_of(path)->most_drift, 0.65, 1e-12);
  PathBlocks half(2);
  AddressedRandom random(1, Purpose::experiment, 0, 0);
  for (int i = 0; i < 1000; ++i) half.add(Vector{1, random.normal()});
  EXPECT_TRUE(settling_of(half));
}

TEST(Settling, NeedsEnoughBlocks) {
  EXPECT_FALSE(settling_of(Descent{{10}, 63}.path(0)));
  EXPECT_TRUE(settling_of(Descent{{10}, 64}.path(0)));
  EXPECT_FALSE(settling_of(Descent{std::vector<double>(8, 10.0), 127}.path(0)));
  EXPECT_TRUE(settling_of(Descent{std::vector<double>(8, 10.0), 128}.path(0)));
}

// However long the path is, and however many coordinates there are.
TEST(Settling, TellsOfManyCoordinates) {
  for (const std::size_t d : {100U, 200U}) {
    for (const std::int64_t steps : {16, 30, 43, 63, 64, 100}) {
      AddressedRandom random(3, Purpose::experiment, d, static_cast<std::uint64_t>(steps));
      PathBlocks path(d);
      Vector theta(d);
      for (std::int64_t i = 0; i < steps * static_cast<std::int64_t>(d); ++i) {
        theta[static_cast<std::size_t>(i) % d] = random.normal();
        path.add(theta);
      }
      EXPECT_GE(path.count(), 4 * d) << steps;
      EXPECT_LT(path.count(), path.most()) << steps;
      EXPECT_TRUE(settling_of(path)) << steps;
    }
  }
}

}  // namespace starling::settling_test
