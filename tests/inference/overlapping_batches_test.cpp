#include "inference/overlapping_batches.hpp"

#include <cmath>
#include <gmock/gmock.h>

#include "core/check.hpp"
#include "core/random.hpp"

namespace starling::overlapping_batches_test {

constexpr double alpha = 0.51;

/// n normal numbers about `centre`.
Vector normals(std::size_t n, double centre, std::uint64_t stream) {
  AddressedRandom random(13, Purpose::experiment, stream, 0);
  Vector path(n);
  for (double& entry : path) entry = centre + random.normal();
  return path;
}

/// The estimator as its definition has it, with sums over batches made anew for each model.
double direct(const Vector& path, const Vector& masses) {
  double mass = 0;
  double mean = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    mass += masses[i];
    mean += masses[i] * path[i];
  }
  mean /= mass;
  double squares = 0;
  double divisor = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    std::size_t begin = 0;
    for (int m = 1; std::floor(std::pow(m, 2 / (1 - alpha))) <= static_cast<double>(i + 1); ++m) {
      begin = static_cast<std::size_t>(std::floor(std::pow(m, 2 / (1 - alpha)))) - 1;
    }
    double sum = 0;
    double length = 0;
    for (std::size_t k = begin; k <= i; ++k) {
      sum += masses[k] * (path[k] - mean);
      length += masses[k];
    }
    squares += sum * sum;
    divisor += length;
  }
  return std::sqrt(squares / divisor / mass);
}

TEST(OverlappingBatches, IsItsDefinitionAtAnyTime) {
  const std::size_t n = 12'000;
  for (const double centre : {0.0, 1e4}) {
    const Vector path = normals(n, centre, 1);
    OverlappingBatches batches(1, alpha);
    for (std::size_t i = 0; i < n; ++i) {
      batches.add(View(path).subspan(i, 1));
      if (i + 1 != 9'000 && i + 1 != n) continue;
      const Vector so_far(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(i + 1));
      EXPECT_NEAR(batches.spread()->spread[0] / direct(so_far, Vector(i + 1, 1.0)), 1, 1e-8) << centre;
    }
  }
}

TEST(OverlappingBatches, WeighsModelsByMass) {
  const std::size_t n = 9'000;
  const Vector path = normals(n, 0, 2);
  Vector masses;
  for (std::size_t i = 0; i < n; ++i) masses.push_back(i % 3 == 0 ? 2.5 : 0.5);
  OverlappingBatches batches(1, alpha);
  for (std::size_t i = 0; i < n; ++i) batches.add(View(path).subspan(i, 1), masses[i]);
  EXPECT_NEAR(batches.spread()->spread[0] / direct(path, masses), 1, 1e-9);
}

// The relative error of so few batches is about a third.
TEST(OverlappingBatches, ComesNearTheErrorOfAMean) {
  double ratios = 0;
  for (std::uint64_t run = 0; run < 20; ++run) {
    OverlappingBatches batches(1, alpha);
    for (const double entry : normals(20'000, 3, 10 + run)) batches.add(Vector{entry});
    ratios += batches.spread()->spread[0] * std::sqrt(20'000.0) / 20;
  }
  EXPECT_NEAR(ratios, 1, 0.25);
}

TEST(OverlappingBatches, NothingFromFewBatches) {
  OverlappingBatches batches(1, alpha);  // the ninth begins at 7849
  for (int i = 0; i < 7848; ++i) batches.add(Vector{static_cast<double>(i % 2)});
  EXPECT_FALSE(batches.spread());
  batches.add(Vector{0});
  EXPECT_TRUE(batches.spread());
  EXPECT_THROW(OverlappingBatches(1, 1.0), UsageError);
}

}  // namespace starling::overlapping_batches_test
