// How figures are spread, against NumPy's numbers and by hand.
#include "output/spread.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

#include "support/testing.hpp"

namespace starling::spread_test {

using testing::DoubleEq;
using testing::ElementsAre;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

TEST(ClientSpread, HasTheQuartilesThatNumPyHas) {
  // numpy.quantile([7, 1, 4, 10, 2], [0, 0.25, 0.5, 0.75, 1]) and of one value more, 3
  EXPECT_THAT(spread_of({7, 1, 4, 10, 2}), ElementsAre(5, DoubleEq(4.8), 1, 2, 4, 7, 10));
  EXPECT_THAT(spread_of({7, 1, 4, 10, 2, 3}), ElementsAre(6, DoubleEq(4.5), 1, 2.25, 3.5, 6.25, 10));
  EXPECT_THAT(spread_of({-5}), ElementsAre(1, -5, -5, -5, -5, -5, -5));
}

TEST(ClientSpread, DoesNotCountWhatIsUnknown) {
  EXPECT_EQ(spread_of({unknown, 3, unknown, 1}), spread_of({1, 3}));
  const ClientSpread none = spread_of({unknown});
  EXPECT_EQ(none[0], 0);
  for (std::size_t i = 1; i < none.size(); ++i) EXPECT_TRUE(std::isnan(none[i])) << i;
}

TEST(ClientSpread, IsThatOfTheValuesInAnyOrder) {
  Vector values;
  for (int i = 0; i < 1001; ++i) values.push_back((i * 379) % 1001);
  EXPECT_THAT(spread_of(values), ElementsAre(1001, DoubleEq(500), 0, 250, 500, 750, 1000));
}

}  // namespace starling::spread_test
