/// Sums in one pass against the chain of axpy that they replace: the same bits.
#include "core/numerics/weighted_sum.hpp"

#include <cmath>

#include "core/numerics/kernels.hpp"
#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::weighted_sum_test {

/// Numbers of very different size, so that another order of addition, or one rounding less, shows in the bits.
Vector rough_numbers(std::size_t n, std::uint64_t stream) {
  AddressedRandom random(7, Purpose::experiment, stream, n);
  Vector values(n);
  for (double& value : values) value = random.normal() * std::exp(4 * random.normal());
  return values;
}

class Lengths : public testing::TestWithParam<std::size_t> {};

TEST_P(Lengths, WeightedSumIsTheChain) {
  const std::size_t n = GetParam();
  for (const std::size_t count : {0U, 1U, 2U, 3U, 9U, 40U}) {
    std::vector<Vector> vectors;
    std::vector<Term> terms;
    const Vector weights = rough_numbers(count, 1);
    Vector expected(n, 0.0);
    for (std::size_t i = 0; i < count; ++i) {
      vectors.push_back(rough_numbers(n, 10 + i));
      axpy(weights[i], vectors[i], expected);
    }
    for (std::size_t i = 0; i < count; ++i) terms.push_back({weights[i], vectors[i].data()});
    for (const std::size_t begin : {std::size_t{0}, n / 3, n}) {
      Vector got(n, -1);
      weighted_sum(terms, begin, n, 0.7, got.data() + begin);
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_EQ(got[i], i < begin ? -1 : expected[i] / 0.7) << count << " terms, entry " << i << " from " << begin;
      }
    }
  }
}

// The sum may take the place of one of its terms, as a client's does under plain mixing.
TEST_P(Lengths, WeightedSumInPlaceOfATerm) {
  const std::size_t n = GetParam();
  const Vector other = rough_numbers(n, 5);
  const Vector own = rough_numbers(n, 6);
  Vector expected(n, 0.0);
  axpy(0.3, other, expected);
  axpy(0.7, own, expected);
  Vector got = own;
  const std::vector<Term> terms = {{0.3, other.data()}, {0.7, got.data()}};
  weighted_sum(terms, 0, n, 1, got.data());
  EXPECT_EQ(got, expected);
}

TEST_P(Lengths, AddWeightedIsTheChainFromWhereItStands) {
  const std::size_t n = GetParam();
  for (const std::size_t count : {0U, 1U, 2U, 9U, 40U}) {
    std::vector<Vector> vectors;
    std::vector<Term> terms;
    const Vector weights = rough_numbers(count, 1);
    Vector expected = rough_numbers(n, 2);
    Vector got = expected;
    for (std::size_t i = 0; i < count; ++i) {
      vectors.push_back(rough_numbers(n, 10 + i));
      axpy(weights[i], vectors[i], expected);
    }
    for (std::size_t i = 0; i < count; ++i) terms.push_back({weights[i], vectors[i].data()});
    add_weighted(terms, n, got.data());
    EXPECT_EQ(got, expected) << count << " terms";
  }
}

// A term of no weight is added like any other: a negative zero becomes a positive one.
TEST(WeightedSum, StartsAtZero) {
  const double zero = -0.0;
  const Term term{1, &zero};
  double sum = 1;
  weighted_sum(std::span(&term, 1), 0, 1, 1, &sum);
  EXPECT_EQ(sum, 0);
  EXPECT_FALSE(std::signbit(sum));
}

TEST_P(Lengths, WhatIsLeftIsTheChain) {
  const std::size_t n = GetParam();
  const Vector z = rough_numbers(n, 2);
  const Vector x = rough_numbers(n, 3);
  for (const std::size_t count : {0U, 1U, 2U, 8U, 31U}) {
    const Vector shares = rough_numbers(count, 4);
    Vector expected(n);
    for (std::size_t i = 0; i < n; ++i) expected[i] = 0.3 * z[i];
    for (const double share : shares) axpy(-share, x, expected);
    Vector got(n);
    what_is_left(0.3, z.data(), shares, x.data(), n, got.data());
    EXPECT_EQ(got, expected) << count << " shares";
  }
}

TEST_P(Lengths, GiveAwayIsWhatIsLeftOfWhatWasThere) {
  const std::size_t n = GetParam();
  const Vector before = rough_numbers(n, 2);
  for (const std::size_t count : {0U, 1U, 2U, 8U, 31U}) {
    const Vector shares = rough_numbers(count, 4);
    Vector given_away(n);
    for (std::size_t i = 0; i < n; ++i) given_away[i] = 0.7 * (0.3 * before[i]);
    Vector left(n);
    what_is_left(0.3, before.data(), shares, given_away.data(), n, left.data());
    Vector z = before;
    Vector given(n);
    give_away(0.3, 0.7, z.data(), shares, n, given.data());
    EXPECT_EQ(given, given_away) << count << " shares";
    EXPECT_EQ(z, left) << count << " shares";
  }
}

INSTANTIATE_TEST_SUITE_P(AroundTiles, Lengths,
                         testing::Values(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50, 51, 63, 64, 65, 100,
                                         127, 128, 129, 1000));

}  // namespace starling::weighted_sum_test
