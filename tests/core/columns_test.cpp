#include "core/columns.hpp"

#include <gtest/gtest.h>

namespace starling::columns_test {

TEST(Columns, MayLieInStorageThatIsLent) {
  Vector storage{1, 2, 3, 4, 5, 6};
  Columns lent(3, 2, storage.data());
  EXPECT_EQ(lent[1].data(), &storage[3]);
  lent[1][0] = 40;
  EXPECT_EQ(storage[3], 40);

  Columns moved = std::move(lent);
  EXPECT_EQ(moved.flat().data(), storage.data());

  Columns copy = moved;
  copy[0][0] = 10;
  EXPECT_EQ(storage[0], 1) << "a copy has storage of its own";
  EXPECT_EQ(copy.flat().size(), 6U);
  EXPECT_EQ(copy[1][0], 40);

  Columns assigned(1, 1);
  assigned = moved;
  assigned[1][2] = 60;
  EXPECT_EQ(storage[5], 6);
  EXPECT_EQ(assigned.rows(), 3U);
}

TEST(Columns, KeepTheirPlaceWhenTheyMove) {
  Columns own(2, 3);
  own[2][1] = 7;
  const double* const place = own.flat().data();
  Columns moved = std::move(own);
  EXPECT_EQ(moved.flat().data(), place);
  moved = Columns(moved);  // a copy of itself
  EXPECT_NE(moved.flat().data(), place);
  EXPECT_EQ(moved[2][1], 7);
  Columns& same = moved;
  moved = same;
  EXPECT_EQ(moved[2][1], 7);
}

}  // namespace starling::columns_test
