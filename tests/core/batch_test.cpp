#include "core/batch.hpp"

#include "support/testing.hpp"

namespace starling::batch_test {

using Index = std::vector<std::int32_t>;

Vector values_of(const Row& row) {
  return {row.values.begin(), row.values.end()};
}
Index index_of(const Row& row) {
  return {row.index.begin(), row.index.end()};
}

TEST(Batch, StartsEmpty) {
  const Batch batch;
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(batch.size(), 0U);
}

TEST(Batch, KeepsDenseRowsInOrder) {
  Batch batch;
  const Vector first{1, 0, 3};
  const Vector second{4, 5, 6};
  batch.add({first, {}}, -1);
  batch.add({second, {}}, 1);
  EXPECT_EQ(batch.size(), 2U);
  EXPECT_EQ(values_of(batch.row(0)), first);
  EXPECT_EQ(values_of(batch.row(1)), second);
  EXPECT_FALSE(batch.row(0).sparse());
  EXPECT_EQ(batch.label(0), -1);
  EXPECT_EQ(batch.label(1), 1);
}

// A sparse row keeps its entries and no more, one without any included.
TEST(Batch, NeverMakesSparseRowsDense) {
  Batch batch;
  const Vector values{2.5, -1};
  const Index index{7, 2000000000};
  batch.add({values, index}, 0);
  batch.add({{}, {}}, 1);
  batch.add({View(values).first(1), std::span(index).first(1)}, 2);
  EXPECT_EQ(values_of(batch.row(0)), values);
  EXPECT_EQ(index_of(batch.row(0)), index);
  EXPECT_TRUE(batch.row(1).sparse());
  EXPECT_TRUE(batch.row(1).values.empty());
  EXPECT_EQ(values_of(batch.row(2)), Vector{2.5});
  EXPECT_EQ(index_of(batch.row(2)), Index{7});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(batch.label(i), static_cast<double>(i));
}

// Also where it showed records of the other kind before, and then its own.
TEST(Batch, ShowsARunOfAnothersRecords) {
  Batch dense;
  const Vector rows{1, 2, 3, 4, 5, 6};
  for (std::size_t i = 0; i < 3; ++i) dense.add({View(rows).subspan(2 * i, 2), {}}, static_cast<double>(i));
  Batch sparse;
  const Vector values{2.5, -1};
  const Index index{7, 9};
  sparse.add({View(values).first(1), std::span(index).first(1)}, 5);
  sparse.add({{}, {}}, 6);
  sparse.add({values, index}, 7);

  Batch batch;
  batch.show(dense, 1, 2);
  ASSERT_EQ(batch.size(), 2U);
  EXPECT_EQ(values_of(batch.row(0)), (Vector{3, 4}));
  EXPECT_EQ(values_of(batch.row(1)), (Vector{5, 6}));
  EXPECT_EQ(batch.label(1), 2);
  batch.show(sparse, 1, 2);
  ASSERT_EQ(batch.size(), 2U);
  EXPECT_TRUE(batch.row(0).sparse());
  EXPECT_TRUE(batch.row(0).values.empty());
  EXPECT_EQ(values_of(batch.row(1)), values);
  EXPECT_EQ(index_of(batch.row(1)), index);
  EXPECT_EQ(batch.label(0), 6);
  batch.show(dense, 0, 1);
  ASSERT_EQ(batch.size(), 1U);
  EXPECT_FALSE(batch.row(0).sparse());
  EXPECT_EQ(values_of(batch.row(0)), (Vector{1, 2}));
  batch.clear();
  EXPECT_TRUE(batch.empty());
  batch.add({values, index}, 8);
  EXPECT_EQ(index_of(batch.row(0)), index);
  EXPECT_EQ(batch.label(0), 8);
  EXPECT_EQ(values_of(dense.row(0)), (Vector{1, 2}));
}

TEST(Batch, ClearedCanBeFilledAgainEvenWithTheOtherKind) {
  Batch batch;
  const Vector values{1, 2};
  const Index index{0, 5};
  batch.add({values, index}, 1);
  batch.clear();
  EXPECT_TRUE(batch.empty());
  batch.add({values, {}}, 3);
  EXPECT_EQ(batch.size(), 1U);
  EXPECT_FALSE(batch.row(0).sparse());
  EXPECT_EQ(values_of(batch.row(0)), values);
  EXPECT_EQ(batch.label(0), 3);
}

TEST(Batch, ClearedForgetsAllEntries) {
  Batch batch;
  const Vector values{1, 2};
  const Index before{0, 5};
  const Index after{3, 4};
  batch.add({values, before}, 1);
  batch.clear();
  batch.add({values, after}, 1);
  EXPECT_EQ(index_of(batch.row(0)), after);
}

// Its memory is kept: a round allocates nothing.
TEST(Batch, ClearKeepsTheMemory) {
  Batch batch;
  const Vector values(100, 1.0);
  batch.add({values, {}}, 1);
  const double* place = batch.row(0).values.data();
  batch.clear();
  batch.add({values, {}}, 2);
  EXPECT_EQ(batch.row(0).values.data(), place);
}

}  // namespace starling::batch_test
