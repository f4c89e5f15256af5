// Minimisers that are known in closed form, and certificates that must hold on the way to them.
#include "optimise/minimise.hpp"

#include <cmath>

#include "core/numerics/kernels.hpp"
#include "core/random.hpp"
#include "support/near.hpp"
#include "support/testing.hpp"

namespace starling::minimise_test {

using testing_support::expect_near;
using Ending = Minimum::Ending;
using Certificate = Minimum::Certificate;

Minimum minimum_on(const std::string& domain, std::size_t d, const ConvexFunction& f,
                   const MinimiseSettings& settings = {}) {
  const auto the_domain = domain_table().make(domain);
  return minimise(f, *the_domain, d, settings);
}

ConvexFunction linear(const Vector& slope) {
  return [slope](View x, MutableView gradient) {
    std::copy(slope.begin(), slope.end(), gradient.begin());
    return dot(slope, x);
  };
}

/// ½ Σ_i scale_i (x_i − c_i)².
ConvexFunction bowl(const Vector& scales, const Vector& centre) {
  return [scales, centre](View x, MutableView gradient) {
    double value = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      gradient[i] = scales[i] * (x[i] - centre[i]);
      value += 0.5 * gradient[i] * (x[i] - centre[i]);
    }
    return value;
  };
}

TEST(Minimise, LinearFunctionsHaveTheirMinimumAtACorner) {
  const Vector slope{0.3, -2, 0.5, -1.9};
  expect_near(minimum_on("simplex", 4, linear(slope)).x, {0, 1, 0, 0}, 1e-7);
  expect_near(minimum_on("simplex:3", 4, linear(slope)).x, {0, 3, 0, 0}, 1e-7);
  expect_near(minimum_on("l1ball:1.5", 4, linear(slope)).x, {0, 1.5, 0, 0}, 1e-7);
  expect_near(minimum_on("box:-1,2.5", 4, linear(slope)).x, {-1, 2.5, -1, 2.5}, 1e-7);
  const Minimum on_ball = minimum_on("ball:2", 4, linear(slope));
  Vector expected = slope;
  scale(-2 / norm2(slope), expected);
  expect_near(on_ball.x, expected, 1e-3);
  EXPECT_NEAR(on_ball.value, -2 * norm2(slope), 1e-7);
  EXPECT_EQ(on_ball.kind, Certificate::gap);
  EXPECT_EQ(on_ball.ending, Ending::reached);
}

TEST(Minimise, LeastSquaresOnFreeSolvesTheNormalEquations) {
  // Rows (1, 0 | 1), (1, 1 | 3), (1, 2 | 4), (1, 5 | 9): slope 1.571429, intercept 1.107143.
  const std::vector<Vector> rows{{1, 0}, {1, 1}, {1, 2}, {1, 5}};
  const Vector targets{1, 3, 4, 9};
  const Minimum found = minimum_on("free", 2, [&](View x, MutableView gradient) {
    double value = 0;
    gradient[0] = gradient[1] = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double residual = dot(rows[i], x) - targets[i];
      value += 0.5 * residual * residual;
      axpy(residual, rows[i], gradient);
    }
    return value;
  });
  expect_near(found.x, {31.0 / 28, 44.0 / 28}, 1e-4);
  EXPECT_EQ(found.kind, Certificate::gradient_norm);
  EXPECT_EQ(found.ending, Ending::reached);
  EXPECT_LE(found.certificate, found.tolerance);
}

TEST(Minimise, BadlyScaledBowlsAreSolved) {
  const Vector scales{1e4, 1, 1e-2};
  const Vector centre{0.5, -2, 3};
  expect_near(minimum_on("box:-10,10", 3, bowl(scales, centre)).x, centre, 1e-2);
  expect_near(minimum_on("box:1,2", 3, bowl(scales, centre)).x, {1, 1, 2}, 1e-6);
  expect_near(minimum_on("ball:1", 3, bowl({1, 1, 1}, {0, 0, 4})).x, {0, 0, 1}, 1e-4);
  expect_near(minimum_on("simplex", 3, bowl({1, 1, 1}, {0.6, 0.6, -5})).x, {0.5, 0.5, 0}, 1e-4);
}

TEST(Minimise, StrongConvexityGivesAGapOnFreeToo) {
  MinimiseSettings settings;
  settings.strong_convexity = 0.1;
  const Minimum found = minimum_on("free", 2, bowl({0.1, 7}, {3, -4}), settings);
  EXPECT_EQ(found.kind, Certificate::gap);
  EXPECT_EQ(found.ending, Ending::reached);
  EXPECT_LE(found.value, found.certificate + 1e-15);
  expect_near(found.x, {3, -4}, 1e-3);
}

// However early the search is stopped, the minimum is no further below than the certificate says.
TEST(Minimise, TheGapBoundsWhatIsMissingAtAnyTime) {
  AddressedRandom random(7, Purpose::experiment, 0, 0);
  for (const char* domain : {"ball:2", "box:-1,2.5", "simplex:3", "l1ball:1.5"}) {
    Vector scales(6);
    Vector centre(6);
    for (double& value : scales) value = std::exp(2 * random.normal());
    for (double& value : centre) value = 2 * random.normal();
    const double best = minimum_on(domain, 6, bowl(scales, centre)).value;
    bool any_gap = false;
    for (std::int64_t most = 2; most < 40; ++most) {
      MinimiseSettings settings;
      settings.evaluations = most;
      const Minimum early = minimum_on(domain, 6, bowl(scales, centre), settings);
      EXPECT_LE(early.evaluations, most + 1);
      EXPECT_LE(early.value - best, early.certificate + 1e-12) << domain << " " << most;
      EXPECT_EQ(early.ending, early.certificate <= early.tolerance ? Ending::reached : Ending::gave_up);
      any_gap = any_gap || early.value - best > 1e-6;
    }
    EXPECT_TRUE(any_gap) << domain;
  }
}

// ln(1 + e^(−x)): its minimum, 0, is at infinity; and −x has none at all.
TEST(Minimise, EndsAndSaysSoWhereNoMinimumIsAttained) {
  const Minimum separable = minimum_on("free", 1, [](View x, MutableView gradient) {
    gradient[0] = -1 / (1 + std::exp(x[0]));
    return std::log1p(std::exp(-x[0]));
  });
  EXPECT_EQ(separable.ending, Ending::not_attained);
  EXPECT_LT(separable.value, 1e-4);
  const Minimum falling = minimum_on("free", 2, linear({0, -1}));
  EXPECT_EQ(falling.ending, Ending::unbounded);
  EXPECT_LT(falling.evaluations, 1000);
}

TEST(Minimise, EndsWhenToldTo) {
  MinimiseSettings settings;
  int asked = 0;
  settings.go_on = [&] { return ++asked < 5; };
  const Minimum found = minimum_on("box:-10,10", 2, bowl({1e4, 1}, {3, 9}), settings);
  EXPECT_EQ(found.ending, Ending::interrupted);
  EXPECT_LT(found.evaluations, 20);
}

/// Σ_i ‖x − z_i‖.
ConvexFunction distances(const std::vector<Vector>& points) {
  return [points](View x, MutableView gradient) {
    double value = 0;
    std::fill(gradient.begin(), gradient.end(), 0.0);
    for (const Vector& z : points) {
      const double distance = std::sqrt(squared_distance(x, z));
      value += distance;
      if (distance == 0) continue;
      axpy(1 / distance, x, gradient);
      axpy(-1 / distance, z, gradient);
    }
    return value;
  };
}

// Fermat points: that of a triangle with an angle of 120° or more is that corner, a kink; that of a square its middle.
TEST(Minimise, FindsTheNearestPointToAllWhetherOrNotItIsAKink) {
  const std::vector<Vector> blunt{{0, 0}, {4, 0}, {-2, 1}};
  const std::vector<Vector> square{{0, 0}, {2, 0}, {0, 2}, {2, 2}};
  for (const char* domain : {"free", "ball:9", "box:-9,9"}) {
    const Minimum corner = minimum_on(domain, 2, distances(blunt));
    EXPECT_EQ(corner.ending, Ending::reached) << domain;
    expect_near(corner.x, {0, 0}, 1e-6);
    EXPECT_NEAR(corner.value, 4 + std::sqrt(5.0), 1e-8);
    EXPECT_LT(corner.evaluations, 500);
    const Minimum middle = minimum_on(domain, 2, distances(square));
    EXPECT_EQ(middle.ending, Ending::reached);
    expect_near(middle.x, {1, 1}, 1e-4);
  }
  // All in one place.
  const std::vector<Vector> heap(8, Vector{0.3, -0.4, 0.5});
  for (const char* domain : {"free", "ball:1"}) {
    const Minimum found = minimum_on(domain, 3, distances(heap));
    EXPECT_EQ(found.ending, Ending::reached) << domain;
    expect_near(found.x, heap.front(), 1e-6);
  }
}

// A few dozen evaluations of a function whose curvatures are a million apart.
TEST(Minimise, CurvatureIsLearned) {
  Vector scales(12);
  Vector centre(12);
  for (std::size_t i = 0; i < scales.size(); ++i) {
    scales[i] = std::pow(10.0, -0.5 * static_cast<double>(i));
    centre[i] = std::sin(static_cast<double>(i));
  }
  for (const char* domain : {"free", "ball:20", "box:-0.5,20"}) {
    MinimiseSettings settings;
    settings.gap = 1e-12;
    settings.gradient_norm = 1e-9;
    const Minimum found = minimum_on(domain, 12, bowl(scales, centre), settings);
    EXPECT_EQ(found.ending, Ending::reached) << domain;
    EXPECT_LT(found.evaluations, 400) << domain;
  }
}

// On the rim of a ball too, where steps have to be bent.
TEST(Minimise, TheRimOfABallIsFollowed) {
  MinimiseSettings settings;
  settings.gap = 1e-10;
  const Minimum found = minimum_on("ball:1", 3, bowl({100, 1, 0.1}, {3, 3, 3}), settings);
  EXPECT_EQ(found.ending, Ending::reached);
  EXPECT_NEAR(norm2(found.x), 1, 1e-9);
  // There ∇f + multiplier · x = 0.
  const Vector multipliers{100 * (3 - found.x[0]) / found.x[0], (3 - found.x[1]) / found.x[1],
                           0.1 * (3 - found.x[2]) / found.x[2]};
  EXPECT_NEAR(multipliers[1] / multipliers[0], 1, 1e-3);
  EXPECT_NEAR(multipliers[2] / multipliers[0], 1, 1e-3);
  EXPECT_LT(found.evaluations, 400);
}

/// |x₁ − 0.3| + 2 |x₂ + 0.2|: smooth nowhere near its minimum.
double kinked(View x, MutableView gradient) {
  gradient[0] = x[0] > 0.3 ? 1 : -1;
  gradient[1] = x[1] > -0.2 ? 2 : -2;
  return std::abs(x[0] - 0.3) + 2 * std::abs(x[1] + 0.2);
}

TEST(Minimise, KinksAreCutOut) {
  for (const char* domain : {"ball:2", "box:-1,2.5", "l1ball:1.5"}) {
    const Minimum found = minimum_on(domain, 2, kinked);
    EXPECT_LE(found.value, found.certificate) << domain;
    EXPECT_LT(found.evaluations, 500) << domain;
    EXPECT_EQ(found.ending, Ending::reached) << domain;
    expect_near(found.x, {0.3, -0.2}, 1e-6);
  }
}

}  // namespace starling::minimise_test
