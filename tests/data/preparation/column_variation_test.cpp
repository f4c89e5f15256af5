#include "data/preparation/column_variation.hpp"

#include <gmock/gmock.h>

namespace starling::column_variation_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::size_t> constant_columns(const Batch& batch, std::size_t features) {
  ColumnVariation variation;
  for (std::size_t i = 0; i < batch.size(); ++i) variation.add(batch.row(i));
  return variation.constant(features);
}

Batch dense(const std::vector<Vector>& rows) {
  Batch batch;
  for (const Vector& row : rows) batch.add({row, {}}, 0);
  return batch;
}

TEST(ConstantColumns, AreThoseOfOneValue) {
  const Batch batch = dense({{1, 0, 5, 0, 1e-300}, {2, 0, 5, 0, 0}, {1, 0, 5, 3, 0}});
  EXPECT_THAT(constant_columns(batch, 5), ElementsAre(1, 2));
  EXPECT_THAT(constant_columns(dense({{1, 2}, {2, 1}}), 2), IsEmpty());
}

// The same value, but not in all records, or not the same from some record on.
TEST(ConstantColumns, OfSparseRowsCountWhatIsLeftOut) {
  using Index = std::vector<std::int32_t>;
  Batch batch;
  batch.add({Vector{2, 7}, Index{0, 3}}, 0);
  batch.add({Vector{2, 1, 7}, Index{0, 1, 3}}, 0);
  batch.add({Vector{2, 8}, Index{0, 3}}, 0);
  EXPECT_THAT(constant_columns(batch, 6), ElementsAre(0, 2, 4, 5));
  batch.add({Vector{}, Index{}}, 0);
  EXPECT_THAT(constant_columns(batch, 3), ElementsAre(2));
}

// A client of one record that has a rank alone says nothing of columns.
TEST(ConstantColumns, OfOneRecordAreUnknown) {
  EXPECT_THAT(constant_columns(dense({{1, 2}}), 2), IsEmpty());
  EXPECT_THAT(constant_columns(Batch(), 2), IsEmpty());
}

}  // namespace starling::column_variation_test
