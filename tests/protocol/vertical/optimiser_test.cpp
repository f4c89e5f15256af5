#include <cmath>

#include <gtest/gtest.h>

#include "protocol/vertical/vertical_networks.hpp"
#include "protocol/vertical/vertical_settings.hpp"

namespace starling::optimiser_test {

TEST(Optimiser, OfGradientDescentGoesAgainstTheDirection) {
  Vector theta{1, 2};
  make_optimiser(OptimiserKind::sgd)->step(0.5, Vector{2, -4}, theta);
  EXPECT_EQ(theta, (Vector{0, 4}));
}

// Kingma and Ba, Algorithm 1, written with sums: m_t = (1 − β₁) Σ β₁^{t−i} g_i, likewise v_t.
TEST(Optimiser, OfAdamIsItsPapers) {
  const Vector slopes{0.3, -2, 0.01, 5, 0};
  Vector theta{1};
  const auto adam = make_optimiser(OptimiserKind::adam);
  double expected = 1;
  for (std::size_t t = 1; t <= slopes.size(); ++t) {
    double m = 0;
    double v = 0;
    for (std::size_t i = 1; i <= t; ++i) {
      m += 0.1 * std::pow(0.9, static_cast<double>(t - i)) * slopes[i - 1];
      v += 0.001 * std::pow(0.999, static_cast<double>(t - i)) * slopes[i - 1] * slopes[i - 1];
    }
    m /= 1 - std::pow(0.9, static_cast<double>(t));
    v /= 1 - std::pow(0.999, static_cast<double>(t));
    expected -= 0.1 * m / (std::sqrt(v) + 1e-8);
    adam->step(0.1, Vector{slopes[t - 1]}, theta);
    EXPECT_NEAR(theta[0], expected, 1e-13) << t;
  }
  EXPECT_NEAR(theta[0], 1, 0.5) << "a step is about eta long, whatever the gradient";
}

}  // namespace starling::optimiser_test
