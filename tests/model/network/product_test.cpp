/// Products: each entry is one chain of fused multiply-adds, to the bit, whatever the shape, the layout and the
/// instructions.
#include "model/network/product.hpp"

#include <cmath>
#include <vector>

#include "core/random.hpp"
#include "model/network/product_tiles.hpp"
#include "support/testing.hpp"

namespace starling::product_test {

template <class T>
class Products : public testing::Test {
 protected:
  using Numbers = std::vector<T>;

  Numbers numbers(std::size_t count) {
    Numbers values(count);
    for (T& value : values) value = static_cast<T>(random_.normal());
    return values;
  }
  static Numbers expected(std::size_t m, std::size_t n, std::size_t k, const Operand<T>& a, const Operand<T>& b,
                          Numbers c) {
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t p = 0; p < k; ++p) {
          c[i * n + j] = std::fma(a.data[i * a.row + p * a.column], b.data[p * b.row + j * b.column], c[i * n + j]);
        }
      }
    }
    return c;
  }

  AddressedRandom random_{73, Purpose::experiment, 0, 0};
  Product<T> product_;
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Products, Types);

TYPED_TEST(Products, AreChainsInOrder) {
  const std::size_t shapes[][3] = {{1, 1, 1},    {20, 128, 102}, {6, 16, 1},    {7, 17, 33},   {13, 3, 257},
                                   {5, 31, 600}, {100, 40, 30},  {193, 8, 256}, {2, 100, 520}, {97, 65, 300}};
  for (const auto& [m, n, k] : shapes) {
    const auto left = this->numbers(m * k);
    const auto right = this->numbers(k * n);
    const auto before = this->numbers(m * n);
    for (const Operand<TypeParam> a : {rows_of(left.data(), k), transposed(rows_of(left.data(), m))}) {
      for (const Operand<TypeParam> b : {rows_of(right.data(), n), transposed(rows_of(right.data(), k))}) {
        auto c = before;
        this->product_(m, n, k, a, b, c.data(), Into::sum);
        EXPECT_EQ(c, this->expected(m, n, k, a, b, before)) << m << " " << n << " " << k;
        this->product_(m, n, k, a, b, c.data(), Into::new_matrix);
        EXPECT_EQ(c, this->expected(m, n, k, a, b, std::vector<TypeParam>(m * n))) << m << " " << n << " " << k;
      }
    }
  }
}

TYPED_TEST(Products, OfNothingAreZeroOrLeaveTheSum) {
  std::vector<TypeParam> c{1, 2};
  const Operand<TypeParam> none{nullptr, 1, 1};
  this->product_(1, 2, 0, none, none, c.data(), Into::sum);
  EXPECT_EQ(c, (std::vector<TypeParam>{1, 2}));
  this->product_(1, 2, 0, none, none, c.data(), Into::new_matrix);
  EXPECT_EQ(c, (std::vector<TypeParam>{0, 0}));
}

// Machines without vector instructions come to the same bits.
TYPED_TEST(Products, DoNotDependOnTheInstructions) {
  for (const ProductTiles<TypeParam>* tiles : known_product_tiles<TypeParam>()) {
    const std::size_t n = tiles->width;
    constexpr std::size_t k = 50;
    const std::size_t step = n + 3;
    for (std::size_t rows = 1; rows <= most_tile_rows; ++rows) {
      for (std::size_t count = 1; count <= 3; ++count) {
        const std::size_t m = count * rows;
        const auto left = this->numbers(m * k);
        const auto right = this->numbers(k * step);
        for (const bool add : {false, true}) {
          const auto before = this->numbers(m * n);
          const auto expected = this->expected(m, n, k, rows_of(left.data(), k), rows_of(right.data(), step),
                                               add ? before : std::vector<TypeParam>(m * n));
          std::vector<TypeParam> kept(k * n + 1, TypeParam(7));
          const auto product = [&](const TypeParam* b, std::size_t apart, TypeParam* keep) {
            auto c = before;
            tiles->multiply[rows - 1]({count, k, left.data(), k, 1, rows * k, b, apart, keep, c.data(), n, add});
            return c;
          };
          EXPECT_EQ(product(right.data(), step, nullptr), expected) << rows << " " << count;
          EXPECT_EQ(product(right.data(), step, kept.data()), expected)
              << rows << " " << count << ", packed on the way";
          EXPECT_EQ(product(kept.data(), n, nullptr), expected) << rows << " " << count << ", packed";
          EXPECT_EQ(kept.back(), TypeParam(7)) << "nothing beyond the last row";
        }
      }
    }
  }
}

TYPED_TEST(Products, TurnColumnsIntoRows) {
  for (const ProductTiles<TypeParam>* tiles : known_product_tiles<TypeParam>()) {
    const std::size_t n = tiles->width;
    for (std::size_t k = 0; k <= 19; ++k) {
      const std::size_t stride = k + k % 3;
      const auto columns = this->numbers(n * stride);
      std::vector<TypeParam> rows(n * k + 1, TypeParam(7));
      tiles->turn(columns.data(), stride, k, rows.data());
      for (std::size_t p = 0; p < k; ++p) {
        for (std::size_t q = 0; q < n; ++q)
          EXPECT_EQ(rows[p * n + q], columns[q * stride + p]) << k << " " << p << " " << q;
      }
      EXPECT_EQ(rows.back(), TypeParam(7)) << "nothing beyond the last row";
    }
  }
}

}  // namespace starling::product_test
