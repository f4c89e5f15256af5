/// The norm that noise sees: of linear layers by hand, and larger through hidden ones.
#include "model/network/noise_norm.hpp"

#include <cmath>

#include "support/testing.hpp"

namespace starling::noise_norm_test {

// Noise z of deviation s moves the score of a linear layer by s z·(x, 1), whose deviation is s √(R² + 1).
TEST(NoiseNorm, OfALinearLayerIsThatOfTheRecordAndItsConstant) {
  const Architecture layer = perceptron({400, 10});
  for (const double norm : {0.5, 3.0, 20.0}) {
    const double expected = std::sqrt(norm * norm + 1);
    EXPECT_NEAR(noise_norm(layer, norm, 1.4, 1), expected, 0.25 * expected) << norm;
    EXPECT_NEAR(noise_norm(layer, norm, 1.4, 1), noise_norm(layer, norm, 0.014, 1), 0.03 * expected) << norm;
  }
}

TEST(NoiseNorm, GrowsThroughHiddenLayers) {
  const Architecture network = perceptron({100, 64, 10});
  const double whole = noise_norm(network, 2, 1.4, 1);
  EXPECT_GT(whole, 2 * noise_norm(network, 2, 1e-3, 1));
  EXPECT_GT(noise_norm(network, 20, 1.4, 1), 2 * whole);
  EXPECT_NEAR(noise_norm(network, 2, 1.4, 2), whole, 0.15 * whole);
  const Architecture pictures = convolutional(256, {4, 8, 32}, 10);
  EXPECT_NEAR(noise_norm(pictures, 9, 1.4, 1), noise_norm(pictures, 9, 1.4, 2), 0.3 * noise_norm(pictures, 9, 1.4, 1));
}

TEST(NoiseNorm, DependsOnPublicNumbersAlone) {
  const Architecture network = perceptron({100, 64, 10});
  EXPECT_EQ(noise_norm(network, 2, 1.4, 1), noise_norm(network, 2, 1.4, 1));
}

}  // namespace starling::noise_norm_test
