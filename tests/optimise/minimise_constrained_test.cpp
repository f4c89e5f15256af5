// Constrained minimisers in closed form, with certificates that hold.
#include <cmath>

#include "core/numerics/kernels.hpp"
#include "core/random.hpp"
#include "optimise/minimise.hpp"
#include "support/near.hpp"
#include "support/testing.hpp"

namespace starling::minimise_constrained_test {

using testing_support::expect_near;

/// The oracle of given rows.
ConstraintOracle oracle_of(const std::vector<LinearRow>& rows) {
  return [rows](View x) {
    std::optional<Cut> worst;
    for (const LinearRow& row : rows) {
      const double value = dot(row.slope, x) - row.bound;
      if (!worst || value > worst->value) worst = Cut{value, row.slope};
    }
    return worst;
  };
}

ConstrainedMinimum minimum_on(const std::string& domain, std::size_t d, const ConvexFunction& f,
                              const std::vector<LinearRow>& rows, const ConstrainedSettings& settings = {}) {
  const auto the_domain = domain_table().make(domain);
  return minimise_constrained(f, *the_domain, d, oracle_of(rows), settings);
}

ConvexFunction linear(const Vector& slope) {
  return [slope](View x, MutableView gradient) {
    std::copy(slope.begin(), slope.end(), gradient.begin());
    return dot(slope, x);
  };
}

/// ½‖x − c‖².
ConvexFunction bowl(const Vector& centre) {
  return [centre](View x, MutableView gradient) {
    for (std::size_t i = 0; i < x.size(); ++i) gradient[i] = x[i] - centre[i];
    return 0.5 * squared_distance(x, centre);
  };
}

// The best expert, 1, may have a share of 0.3 only, and the next best takes the rest: −2·0.3 − 1·0.7. The multiplier is
// what a larger share would bring: 1.
TEST(MinimiseConstrained, TheSimplexWithOneRow) {
  const ConstrainedMinimum found = minimum_on("simplex", 3, linear({0, -2, -1}), {{{0, 1, 0}, 0.3}});
  EXPECT_TRUE(found.reached());
  expect_near(found.minimum.x, {0, 0.3, 0.7}, 1e-7);
  EXPECT_NEAR(found.minimum.value, -1.3, 1e-8);
  ASSERT_EQ(found.multipliers.size(), 1U);
  EXPECT_NEAR(found.multipliers[0], 1, 1e-6);
  EXPECT_EQ(found.minimum.kind, Minimum::Certificate::gap);
  EXPECT_LE(found.minimum.certificate, found.minimum.tolerance);
  EXPECT_LE(found.violation, 1e-8);
}

// Euclidean projection of (1, 0, 0) onto the simplex with x₁ ≤ 0.4: the rest is shared evenly.
TEST(MinimiseConstrained, ProjectionOntoACutSimplex) {
  const ConstrainedMinimum found = minimum_on("simplex", 3, bowl({1, 0, 0}), {{{1, 0, 0}, 0.4}});
  EXPECT_TRUE(found.reached());
  expect_near(found.minimum.x, {0.4, 0.3, 0.3}, 1e-5);
}

// Where no row binds, the answer is that without rows, and no row is worked with.
TEST(MinimiseConstrained, RowsThatDoNotBindDoNothing) {
  const ConstrainedMinimum found = minimum_on("box:-1,1", 2, bowl({0.5, -0.25}), {{{1, 1}, 5}, {{-1, 0}, 3}});
  EXPECT_TRUE(found.reached());
  expect_near(found.minimum.x, {0.5, -0.25}, 1e-5);
  EXPECT_TRUE(found.rows.empty());
}

// On a box: x₁ + x₂ ≤ 5, 6 and 5.5, then 2x₁ + x₂ ≤ 7 and x₁ + 2x₂ ≤ 9.5, then 3x₁ + 3x₂ ≤ 16.5. The nearest points to
// (4, 4) are (2.5, 2.5), the one on the line 2x₁ + x₂ = 7, (2, 3), and (2.75, 2.75).
TEST(MinimiseConstrained, BoxWithSeveralRows) {
  const auto nearest = [](const std::vector<LinearRow>& rows) {
    return minimum_on("box:-10,10", 2, bowl({4, 4}), rows);
  };
  expect_near(nearest({{{1, 1}, 5}, {{1, 1}, 6}, {{1, 1}, 5.5}}).minimum.x, {2.5, 2.5}, 1e-5);
  const ConstrainedMinimum two = nearest({{{2, 1}, 7}, {{1, 2}, 9.5}});
  expect_near(two.minimum.x, {2, 3}, 1e-5);
  EXPECT_TRUE(two.reached());
  expect_near(nearest({{{3, 3}, 16.5}}).minimum.x, {2.75, 2.75}, 1e-5);
}

// A thousand rows around one another: the disc of radius 1 cut out of a box by tangents; nearest to (3, 4) is
// (0.6, 0.8) up to the polygon's coarseness. Few tangents are ever worked with.
TEST(MinimiseConstrained, ManyRowsOfWhichFewMatter) {
  std::vector<LinearRow> rows;
  for (int i = 0; i < 1000; ++i) rows.push_back({{std::cos(0.002 * M_PI * i), std::sin(0.002 * M_PI * i)}, 1});
  const ConstrainedMinimum found = minimum_on("box:-10,10", 2, bowl({3, 4}), rows);
  EXPECT_TRUE(found.reached());
  expect_near(found.minimum.x, {0.6, 0.8}, 4e-3);
  EXPECT_NEAR(norm2(found.minimum.x), 1, 1e-5);
  EXPECT_LT(found.rows.size(), 40U);
}

// On the whole space there is no gap; the gradient of the Lagrangian is the certificate.
TEST(MinimiseConstrained, WithoutADomainTheGradientCertifies) {
  const ConstrainedMinimum found = minimum_on("free", 2, bowl({2, 0}), {{{1, 1}, 1}});
  EXPECT_TRUE(found.reached());
  EXPECT_EQ(found.minimum.kind, Minimum::Certificate::gradient_norm);
  expect_near(found.minimum.x, {1.5, -0.5}, 1e-5);
}

// A convex constraint that is no row: ‖x‖² ≤ 1 by its cuts.
TEST(MinimiseConstrained, ConvexConstraintsByTheirCuts) {
  const auto domain = domain_table().make("box:-10,10");
  const ConstraintOracle disc = [](View x) {
    Vector gradient(x.begin(), x.end());
    scale(2, gradient);
    return std::optional(Cut{dot(x, x) - 1, gradient});
  };
  ConstrainedSettings settings;
  settings.violation = 1e-6;
  settings.inner.gap = 1e-6;
  const ConstrainedMinimum found = minimise_constrained(linear({-3, -4}), *domain, 2, disc, settings);
  EXPECT_TRUE(found.reached());
  EXPECT_NEAR(found.minimum.value, -5, 1e-4);
  EXPECT_LE(found.violation, 1e-4);  // the first cuts are steep, 2‖(10, 10)‖, and the tolerance is relative to that
}

// Nothing satisfies x₁ + x₂ ≥ 3 on the simplex.
TEST(MinimiseConstrained, SaysWhereNothingIsAllowed) {
  const ConstrainedMinimum found = minimum_on("simplex", 2, linear({1, 2}), {{{-1, -1}, -3}});
  EXPECT_FALSE(found.reached());
  EXPECT_NEAR(found.violation, 2, 1e-6);
}

// Random problems: the value is never above the minimum by more than the gap, judged by points that are allowed.
TEST(MinimiseConstrained, TheGapHoldsAgainstRandomAllowedPoints) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    AddressedRandom random(3, Purpose::experiment, seed, 0);
    Vector centre(4);
    for (double& value : centre) value = 2 * random.normal();
    std::vector<LinearRow> rows;
    for (int i = 0; i < 6; ++i) {
      LinearRow row{Vector(4), 0.1 + 0.3 * std::abs(random.normal())};
      for (double& value : row.slope) value = random.normal();
      rows.push_back(std::move(row));
    }
    const ConvexFunction f = bowl(centre);
    const ConstrainedMinimum found = minimum_on("ball:2", 4, f, rows);
    EXPECT_TRUE(found.reached()) << seed << " " << found.minimum.certificate << " " << found.minimum.tolerance << " "
                                 << found.violation << " " << found.minimum.evaluations;
    EXPECT_LE(found.violation, 1e-7);
    Vector gradient(4);
    for (int trial = 0; trial < 2000; ++trial) {
      Vector x = found.minimum.x;
      for (double& value : x) value += 0.1 * random.normal();
      bool allowed = norm2(x) <= 2;
      for (const LinearRow& row : rows) allowed = allowed && dot(row.slope, x) <= row.bound;
      if (!allowed) continue;
      EXPECT_GE(f(x, gradient), found.minimum.value - 1e-6) << seed;
    }
  }
}

}  // namespace starling::minimise_constrained_test
