// Sums of moments and directions in other coordinates: what one record can move, whatever it is.
#include "protocol/aggregated/preconditioned.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/numerics/kernels.hpp"
#include "core/random.hpp"
#include "model/mallows_model.hpp"
#include "support/testing.hpp"

namespace starling::preconditioned_test {

constexpr std::size_t features = 2;

Batch batch_of(const Vector& x, double label) {
  Batch batch;
  batch.clear();
  batch.add({x, {}}, label);
  return batch;
}

/// Records at and beyond all limits.
std::vector<std::pair<Vector, double>> extreme_records() {
  std::vector<std::pair<Vector, double>> records;
  for (const double size : {0.0, 1e-200, 1e-3, 1.0, 7.0, 1e6, 1e149, 1e200, std::numeric_limits<double>::infinity()}) {
    for (const double label : {0.0, -2.0, 1e9, 1e200}) {
      records.push_back({{size, 0}, label});
      records.push_back({{0, -size}, label});
      records.push_back({{size, size}, label});
    }
  }
  return records;
}

TEST(MomentSums, AReplacedRecordMovesThemByTheRootOfTwo) {
  MomentSums sums(features, true);
  std::vector<Vector> parts;
  for (const auto& [x, label] : extreme_records()) {
    Vector part(sums.size());
    sums.add(batch_of(x, label), part);
    EXPECT_LE(norm2(part), 1 + 1e-14);
    parts.push_back(std::move(part));
  }
  double most = 0;
  for (const Vector& one : parts) {
    for (const Vector& other : parts) {
      Vector difference = one;
      axpy(-1, other, difference);
      most = std::max(most, norm2(difference));
    }
  }
  EXPECT_LE(most, std::numbers::sqrt2 * (1 + 1e-14));
  EXPECT_GE(most, 1.4);
}

TEST(MomentSums, GiveBackTheMoments) {
  MomentSums sums(features, true);
  Vector sum(sums.size());
  sums.add(batch_of({0.5, 1}, 0.25), sum);  // shorter than the bound: a weight of 1
  const NoisyMoments moments = sums.moments(sum, 0.125);
  const Vector expected{0.25, 0.5, 0.5, 0.125, 1, 1, 0.25, 1, 0.25, 0.0625};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(moments.triangle[i], expected[i], 1e-15);
  EXPECT_NEAR(moments.noise, 0.125 * 8, 1e-15);
}

/// Coordinates far from the identity.
Preconditioner stretched() {
  NoisyMoments moments{{4, 3.9, 0.5, 2, 4, 0.5, 2, 1, 1, 9}, 1e-6, true};
  return {moments, features, true};
}

TEST(PreconditionedModel, NoRecordIsLongerThanTheModelsBound) {
  const auto loss = make_curved_loss("huber:1.345");
  MallowsModel model(*loss, features, true, RowWeights::mallows);
  const Preconditioner preconditioner = stretched();
  PreconditionedModel preconditioned(model, preconditioner, features);
  const Vector theta{3, -1, 2};
  Vector gradient;
  double most = 0;
  for (const auto& [x, label] : extreme_records()) {
    const Clip clip{ClipKind::l2, model.most_influence() * (1 + 1e-6)};
    preconditioned.evaluate(theta, batch_of(x, label), clip, gradient);
    most = std::max(most, norm2(gradient));
  }
  EXPECT_LE(most, model.most_influence() * (1 + 1e-12));
  EXPECT_GE(most, 0.7 * model.most_influence());
}

// With squared loss and no weights: the direction of θ is the gradient by θ through P'P.
TEST(PreconditionedModel, DirectionsAreThoseOfTheOtherCoordinates) {
  const auto loss = make_curved_loss("squared");
  MallowsModel model(*loss, features, true, RowWeights::none);
  Preconditioner preconditioner = stretched();
  PreconditionedModel preconditioned(model, preconditioner, features);
  const Vector theta{0.3, -0.2, 0.1};
  const Batch batch = batch_of({1.5, -0.7}, 2);
  Vector direction;
  const Score score = preconditioned.evaluate(theta, batch, Clip{}, direction);
  EXPECT_NEAR(score.loss, model.score(theta, batch).loss, 1e-10);
  preconditioner.to_parameters(direction);
  // A small step along it changes the score of x by that of the coordinates.
  Vector image(features);
  preconditioner.features(batch.row(0).values, image);
  const double residual = 0.3 * 1.5 + 0.2 * 0.7 + 0.1 - 2;
  const double expected = residual * (dot(image, image) + 1);
  EXPECT_NEAR(direction[0] * 1.5 - direction[1] * 0.7 + direction[2], expected, 1e-8 * std::abs(expected));
}

}  // namespace starling::preconditioned_test
