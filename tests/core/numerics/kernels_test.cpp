/// Kernels promise bits: every comparison here is exact unless it says otherwise.
#include "core/numerics/kernels.hpp"

#include <array>

#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::kernels_test {

/// Numbers of very different size, so that another order of addition shows in the bits.
Vector rough_numbers(std::size_t n, std::uint64_t stream) {
  AddressedRandom random(5, Purpose::experiment, stream, n);
  Vector values(n);
  for (double& value : values) value = random.normal() * std::exp(8 * random.normal());
  return values;
}

/// The values at `offset` doubles behind an address that is a multiple of 64 bytes.
class Placed {
 public:
  Placed(View values, std::size_t offset)
      : offset_(offset), size_(values.size()), buffer_((values.size() + offset) / 8 + 1) {
    std::copy(values.begin(), values.end(), data());
  }
  [[nodiscard]] MutableView view() { return {data(), size_}; }

 private:
  struct alignas(64) Line {
    std::array<double, 8> values;
  };
  [[nodiscard]] double* data() { return buffer_.data()->values.data() + offset_; }
  std::size_t offset_;
  std::size_t size_;
  std::vector<Line> buffer_;
};

/// All reductions of two vectors.
std::array<double, 5> reductions(View x, View y) {
  return {sum(x), dot(x, y), norm1(x), norm2(x), squared_distance(x, y)};
}

const std::vector<std::size_t> lengths{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 64, 100, 1003};

TEST(Kernels, ReductionsDoNotDependOnAlignment) {
  for (const std::size_t n : lengths) {
    const Vector x = rough_numbers(n, 1);
    const Vector y = rough_numbers(n, 2);
    const auto expected = reductions(x, y);
    for (std::size_t a = 0; a < 8; ++a) {
      for (std::size_t b = 0; b < 8; ++b) {
        EXPECT_EQ(reductions(Placed(x, a).view(), Placed(y, b).view()), expected) << n << " at " << a << ", " << b;
      }
    }
  }
}

TEST(Kernels, AxpyAndScaleDoNotDependOnAlignment) {
  for (const std::size_t n : lengths) {
    const Vector x = rough_numbers(n, 3);
    const Vector y = rough_numbers(n, 4);
    for (std::size_t a = 0; a < 8; ++a) {
      Placed from(x, a);
      Placed to(y, 7 - a);
      axpy(1.0 / 3, from.view(), to.view());
      scale(1.0 / 7, from.view());
      for (std::size_t i = 0; i < n; ++i) {
        const double product = 1.0 / 3 * x[i];
        EXPECT_EQ(to.view()[i], y[i] + product) << n << " at " << a;
        EXPECT_EQ(from.view()[i], 1.0 / 7 * x[i]) << n << " at " << a;
      }
    }
  }
}

// The order of the header: element i in lane i mod 8, lanes pairwise.
TEST(Kernels, LaneSumAddsInTheDocumentedOrder) {
  for (const std::size_t n : lengths) {
    const Vector x = rough_numbers(n, 5);
    std::array<double, reduction_lanes> lane{};
    for (std::size_t i = 0; i < n; ++i) lane[i % reduction_lanes] += x[i];
    for (std::size_t half = reduction_lanes / 2; half > 0; half /= 2) {
      for (std::size_t k = 0; k < half; ++k) lane[k] += lane[k + half];
    }
    EXPECT_EQ(sum(x), lane[0]) << n;
  }
}

// The test above can tell: from left to right the bits are others.
TEST(Kernels, NumbersOfTheseTestsShowTheOrder) {
  const Vector x = rough_numbers(1003, 5);
  double from_left = 0;
  for (const double value : x) from_left += value;
  EXPECT_NE(sum(x), from_left);
}

TEST(Kernels, AreExactOnSmallIntegers) {
  const Vector x{1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11};
  const Vector y{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3};
  EXPECT_EQ(reductions(x, y), (std::array<double, 5>{6, 23, 66, std::sqrt(506.0), 506 - 2 * 23 + 49}));
  EXPECT_EQ(reductions({}, {}), (std::array<double, 5>{}));
}

struct SparseRow {
  Vector values;
  std::vector<std::int32_t> index;
  Vector dense;
};

SparseRow sparse_row(std::size_t n, double share) {
  AddressedRandom random(6, Purpose::experiment, n, 0);
  SparseRow row;
  row.dense.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (random.uniform() >= share) continue;
    row.dense[i] = random.normal();
    row.values.push_back(row.dense[i]);
    row.index.push_back(static_cast<std::int32_t>(i));
  }
  return row;
}

// A sparse row has lanes of its own (entry j, not feature j), so zeros left out may change the last bits.
TEST(Kernels, SparseDotIsNearTheDense) {
  for (const std::size_t n : lengths) {
    const SparseRow row = sparse_row(n, 0.3);
    const Vector y = rough_numbers(n, 7);
    double size = 0;
    for (std::size_t i = 0; i < n; ++i) size += std::abs(row.dense[i] * y[i]);
    EXPECT_NEAR(dot(row.values, row.index, y), dot(row.dense, y), 1e-15 * size) << n;
  }
}

TEST(Kernels, SparseDotOfAFullRowIsTheDense) {
  for (const std::size_t n : lengths) {
    const SparseRow row = sparse_row(n, 2);
    const Vector y = rough_numbers(n, 7);
    EXPECT_EQ(dot(row.values, row.index, y), dot(row.dense, y)) << n;
  }
}

TEST(Kernels, SparseAxpyIsTheDense) {
  for (const std::size_t n : lengths) {
    const SparseRow row = sparse_row(n, 0.3);
    Vector y = rough_numbers(n, 8);
    Vector z = y;
    axpy(-0.7, row.values, row.index, y);
    axpy(-0.7, row.dense, z);
    EXPECT_EQ(y, z) << n;
  }
}

// Columns are storage: the j-th is where the j-th client's numbers are, whatever the width.
TEST(Columns, LieOneAfterTheOther) {
  Columns block(3, 4);
  EXPECT_EQ(block.rows(), 3U);
  EXPECT_EQ(block.size(), 4U);
  for (std::size_t j = 0; j < 4; ++j) {
    for (std::size_t i = 0; i < 3; ++i) block[j][i] = static_cast<double>(10 * j + i);
  }
  EXPECT_EQ(Vector(block.flat().begin(), block.flat().end()), (Vector{0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32}));
}

}  // namespace starling::kernels_test
