// The penalty of --l2, with and without constants.
#include "model/squared_penalty.hpp"

#include "support/testing.hpp"

namespace starling::squared_penalty_test {

const Vector x{1, -2, 3, 0.5, 4, -5};

TEST(SquaredPenalty, WeighsAllCoordinatesWhereThereIsNoConstant) {
  const SquaredPenalty penalty{.lambda = 0.5};
  EXPECT_DOUBLE_EQ(penalty.value(x), 0.25 * (1 + 4 + 9 + 0.25 + 16 + 25));
  Vector gradient(6, 1.0);
  penalty.add_gradient(2, x, gradient);
  EXPECT_EQ(gradient, (Vector{2, -1, 4, 1.5, 5, -4}));
  EXPECT_EQ(penalty.strong_convexity(), 0.5);
}

TEST(SquaredPenalty, LeavesTheConstantOfEachScoreFree) {
  const SquaredPenalty penalty{.lambda = 0.5, .run = 3};
  EXPECT_DOUBLE_EQ(penalty.value(x, 2), 0.5 * (1 + 4 + 0.25 + 16));
  Vector gradient(6, 1.0);
  penalty.add_gradient(2, x, gradient);
  EXPECT_EQ(gradient, (Vector{2, -1, 1, 1.5, 5, 1}));
  Vector shrunk = x;
  penalty.shrink(0.5, shrunk);
  EXPECT_EQ(shrunk, (Vector{0.75, -1.5, 3, 0.375, 3, -5}));
  EXPECT_EQ(penalty.strong_convexity(), 0);
}

TEST(SquaredPenalty, OfZeroChangesNothing) {
  const SquaredPenalty penalty{.lambda = 0, .run = 3};
  Vector gradient(6);
  penalty.add_gradient(1, Vector(6, 1e300), gradient);
  EXPECT_EQ(gradient, Vector(6));
  EXPECT_EQ(penalty.value(x), 0);
}

}  // namespace starling::squared_penalty_test
