#include "protocol/curvature/batch_sandwich.hpp"

#include <cmath>
#include <gmock/gmock.h>

#include "core/numerics/gram.hpp"
#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::batch_sandwich_test {

using testing::HasSubstr;
using testing_support::message_of;

constexpr std::size_t order = 3;
constexpr std::size_t blocks = 2;

struct OneBatch {
  Vector psi;
  Vector theta;
  BlockCurvature curvature;
};

/// Batches of normal numbers, with curvatures that differ from the identity by little.
std::vector<OneBatch> some_batches(std::size_t count) {
  AddressedRandom random(5, Purpose::experiment, 9, 0);
  std::vector<OneBatch> batches;
  for (std::size_t b = 0; b < count; ++b) {
    OneBatch batch{Vector(blocks * order), Vector(blocks * order), BlockCurvature(blocks, order)};
    Vector triangles(blocks * triangle_size(order));
    for (double& entry : triangles) entry = 0.1 * random.normal();
    batch.curvature.add(triangles);
    batch.curvature.add_identity(1);
    for (double& entry : batch.psi) entry = random.normal();
    for (double& entry : batch.theta) entry = 5 + random.normal();
    batches.push_back(std::move(batch));
  }
  return batches;
}

BatchSandwich sum_of(const std::vector<OneBatch>& batches) {
  BatchSandwich sums(blocks, order);
  for (const OneBatch& batch : batches) sums.add(batch.psi, batch.theta, batch.curvature);
  return sums;
}

// As its definition has it, with all terms kept.
TEST(BatchSandwich, IsTheMeanOfTermsAndTheirVariance) {
  const auto batches = some_batches(12);
  BlockCurvature all(blocks, order);
  for (const OneBatch& batch : batches) all.add(batch.curvature, 1);
  std::vector<Vector> terms;
  for (const OneBatch& batch : batches) {
    Vector term = all.solve(batch.psi, "test");
    for (std::size_t i = 0; i < term.size(); ++i) term[i] = batch.theta[i] - 12 * term[i];
    terms.push_back(term);
  }
  const BatchSandwich::Estimate found = sum_of(batches).estimate("test");
  for (std::size_t i = 0; i < blocks * order; ++i) {
    double mean = 0;
    for (const Vector& term : terms) mean += term[i] / 12;
    double squares = 0;
    for (const Vector& term : terms) squares += (term[i] - mean) * (term[i] - mean);
    EXPECT_NEAR(found.theta[i], mean, 1e-12) << i;
    EXPECT_NEAR(found.variances[i], squares / 12 / 11, 1e-12) << i;
  }
}

TEST(BatchSandwich, AsksForBatchesAndACurvature) {
  EXPECT_THAT(message_of<DataError>([] { static_cast<void>(sum_of(some_batches(9)).estimate("here")); }),
              HasSubstr("here: 9 batches after the first quarter"));
  auto batches = some_batches(12);
  batches[3].curvature.add_identity(-20);
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(sum_of(batches).estimate("here")); }), HasSubstr("here: "));
}

}  // namespace starling::batch_sandwich_test
