#include "inference/preconditioner.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "core/numerics/gram.hpp"
#include "core/numerics/kernels.hpp"
#include "core/random.hpp"

namespace starling::preconditioner_test {

constexpr std::size_t features = 3;

/// Records (x, y) with correlated features of unequal scales and means, and y = 2 x0 − x1 + x2/100 + 5.
std::vector<Vector> some_records() {
  AddressedRandom random(3, Purpose::experiment, 0, 0);
  std::vector<Vector> records;
  for (int i = 0; i < 400; ++i) {
    const double a = random.normal();
    const double b = random.normal();
    const double c = random.normal();
    Vector record{a + 3, 0.9 * a + 0.1 * b - 1, 100 * c + 50};
    record.push_back(2 * record[0] - record[1] + record[2] / 100 + 5);
    records.push_back(std::move(record));
  }
  return records;
}

NoisyMoments moments_of(const std::vector<Vector>& records, double noise = 0) {
  const std::size_t order = features + 2;
  NoisyMoments moments{Vector(triangle_size(order)), noise, true};
  for (const Vector& record : records) {
    const Vector z{record[0], record[1], record[2], 1, record[3]};
    for (std::size_t i = 0; i < order; ++i) {
      for (std::size_t j = i; j < order; ++j) {
        moments.triangle[triangle_at(i, j, order)] += z[i] * z[j] / static_cast<double>(records.size());
      }
    }
  }
  return moments;
}

double score(View theta, View x, bool intercept) {
  return dot(theta.first(x.size()), x) + (intercept ? theta[x.size()] : 0);
}

// Feature 1 of four is left out, and is its own coordinate.
TEST(Preconditioner, StandsBesideFeaturesThatAreLeftOut) {
  const Preconditioner three(moments_of(some_records()), features, true);
  const Preconditioner four = three.beside(4, {1});
  Vector image(3);
  Vector wide(4);
  three.features(Vector{1, 2, 3}, image);
  four.features(Vector{1, 7, 2, 3}, wide);
  const auto expect_near = [](View found, const Vector& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t j = 0; j < found.size(); ++j)
      EXPECT_NEAR(found[j], expected[j], 1e-12 * std::abs(expected[j])) << j;
  };
  expect_near(wide, {image[0], 7, image[1], image[2]});
  Vector of_three{1, 2, 3, 4};
  Vector of_four{1, 0, 2, 3, 4};
  Preconditioner(three).to_parameters(of_three);
  Preconditioner(four).to_parameters(of_four);
  expect_near(of_four, {of_three[0], 0, of_three[1], of_three[2], of_three[3]});
  const View start = three.start();
  expect_near(four.start(), {start[0], 0, start[1], start[2], start[3]});
  EXPECT_TRUE(four.found_scales());
}

TEST(Preconditioner, MakesFeaturesUncorrelatedAndOfOneScale) {
  const std::vector<Vector> records = some_records();
  const Preconditioner preconditioner(moments_of(records), features, true);
  Vector sums(features);
  Vector products(triangle_size(features));
  Vector image(features);
  for (const Vector& record : records) {
    preconditioner.features(View(record).first(features), image);
    axpy(1, image, sums);
    for (std::size_t i = 0; i < features; ++i) {
      for (std::size_t j = i; j < features; ++j) products[triangle_at(i, j, features)] += image[i] * image[j] / 400;
    }
  }
  for (std::size_t i = 0; i < features; ++i) {
    EXPECT_NEAR(sums[i] / 400, 0, 1e-10);
    for (std::size_t j = i; j < features; ++j) EXPECT_NEAR(products[triangle_at(i, j, features)], i == j ? 1 : 0, 1e-8);
  }
  EXPECT_TRUE(preconditioner.hidden().empty());
  EXPECT_TRUE(preconditioner.found_scales());
}

TEST(Preconditioner, ScoresAreTheSameInEitherCoordinates) {
  const std::vector<Vector> records = some_records();
  for (const bool intercept : {true, false}) {
    Preconditioner preconditioner(moments_of(records), features, intercept);
    const Vector theta = intercept ? Vector{1, -2, 0.5, 7} : Vector{1, -2, 0.5};
    Vector coordinates(theta.size());
    preconditioner.coordinates(theta, coordinates);
    Vector image(features);
    for (const Vector& record : records) {
      const View x = View(record).first(features);
      preconditioner.features(x, image);
      EXPECT_NEAR(score(coordinates, image, intercept), score(theta, x, intercept), 1e-9);
    }
    preconditioner.to_parameters(coordinates);
    for (std::size_t j = 0; j < theta.size(); ++j) EXPECT_NEAR(coordinates[j], theta[j], 1e-10);
  }
}

TEST(Preconditioner, StartsAtLeastSquares) {
  const Preconditioner preconditioner(moments_of(some_records()), features, true);
  const Vector expected{2, -1, 0.01, 5};
  for (std::size_t j = 0; j < expected.size(); ++j) EXPECT_NEAR(preconditioner.start()[j], expected[j], 1e-7);
}

TEST(Preconditioner, RaisesWhatNoiseHidesAndNamesIt) {
  std::vector<Vector> records = some_records();
  for (Vector& record : records) record[1] = record[0];  // collinear
  const Preconditioner collinear(moments_of(records, 1e-3), features, true);
  ASSERT_EQ(collinear.hidden().size(), 1U);
  EXPECT_LE(collinear.hidden().front(), 1U);
  // In no direction are features stretched by more than the noise allows.
  const double least = 1e-3 * std::sqrt(2.0 * (features + 2));
  Vector difference(features);
  Vector zero(features);
  collinear.features(Vector{1, -1, 0}, difference);
  collinear.features(Vector{0, 0, 0}, zero);
  axpy(-1, zero, difference);
  EXPECT_NEAR(norm2(difference), std::sqrt(2 / least), 1e-6);
}

TEST(Preconditioner, IsTheIdentityWhereNoiseHidesAll) {
  const Preconditioner hidden(moments_of(some_records(), 0.3), features, true);
  const Preconditioner identity(features, true);
  EXPECT_EQ(hidden.numbers(), identity.numbers());
  EXPECT_FALSE(hidden.found_scales());
}

TEST(Preconditioner, ComesBackFromItsNumbers) {
  const Preconditioner one(moments_of(some_records(), 0.01), features, true);
  const Preconditioner other(one.numbers(), features, true);
  EXPECT_TRUE(other.found_scales());
  EXPECT_EQ(one.numbers(), other.numbers());
  Vector image(features);
  Vector again(features);
  one.features(Vector{1, 2, 3}, image);
  other.features(Vector{1, 2, 3}, again);
  EXPECT_EQ(image, again);
}

}  // namespace starling::preconditioner_test
