#include "inference/affine_map.hpp"

#include <cmath>
#include <limits>

#include "support/testing.hpp"

namespace starling::affine_map_test {

/// (θ_0, θ_1) to (2 θ_0, 5 − 3 θ_0 + θ_1).
AffineMap example() {
  Columns rows(2, 2);
  rows[0][0] = 2;
  rows[1][0] = -3;
  rows[1][1] = 1;
  return {rows, Vector{0, 5}};
}

TEST(AffineMap, MapsCoefficients) {
  Vector image(2);
  example().apply(Vector{1, 10}, image);
  EXPECT_EQ(image, (Vector{2, 12}));
  EXPECT_EQ(example().linear(Vector{1, 10}), (Vector{2, 7}));
}

// Variances 4 and 9 with covariance 1: 4·4, and 9·4 + 9 − 6·1.
TEST(AffineMap, MapsCovariances) {
  const Vector deviations = example().deviations(Vector{4, 1, 9}, Vector{2, 3});
  EXPECT_DOUBLE_EQ(deviations[0], 4);
  EXPECT_DOUBLE_EQ(deviations[1], std::sqrt(39.0));
}

TEST(AffineMap, KnowsNothingOfWhatIsUndetermined) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Vector second = example().deviations(Vector{4, 1, 9}, Vector{2, infinity});
  EXPECT_EQ(second[0], 4);
  EXPECT_EQ(second[1], infinity);
  const Vector first = example().deviations(Vector{4, 1, 9}, Vector{infinity, 3});
  EXPECT_EQ(first, (Vector{infinity, infinity}));
}

TEST(AffineMap, BoundsDeviationsWhateverTheCorrelation) {
  EXPECT_EQ(example().deviation_bounds(Vector{2, 3}), (Vector{4, 9}));
}

}  // namespace starling::affine_map_test
