// Arithmetic on shares against integers of any size, and truncation in a ring small enough to try every random number.
#include "privacy/shares/ring.hpp"

#include <random>
#include <set>

#include <boost/multiprecision/cpp_int.hpp>

#include "privacy/shares/slope_polynomial.hpp"
#include "support/testing.hpp"

namespace starling::ring_test {

using boost::multiprecision::cpp_int;

std::vector<Word> random_words(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Word> words(count);
  for (Word& word : words) word = random();
  return words;
}

WideWord random_wide(std::mt19937_64& random) {
  return WideWord{random()} << 64 | random();
}

cpp_int big(WideWord word) {
  return (cpp_int(static_cast<Word>(word >> 64)) << 64) + static_cast<Word>(word);
}

const cpp_int size_64 = cpp_int(1) << 64;
const cpp_int size_128 = cpp_int(1) << 128;

/// The rest in [0, size).
cpp_int modulo(const cpp_int& value, const cpp_int& size) {
  const cpp_int rest = value % size;
  return rest < 0 ? cpp_int(rest + size) : rest;
}

TEST(Ring, ProductsAreThoseOfBigIntegers) {
  for (const std::size_t columns : {1U, 2U, 5U, 6U, 7U, 23U}) {
    constexpr std::size_t rows = 13;
    const std::vector<Word> matrix = random_words(rows * columns, columns);
    const std::vector<Word> left = random_words(rows, 100 + columns);
    std::vector<Word> transposed = random_words(columns, 300);
    std::vector<cpp_int> expected_transposed(transposed.begin(), transposed.end());
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        expected_transposed[j] += cpp_int(matrix[i * columns + j]) * left[i];
      }
    }
    add_transposed_product(matrix, left, transposed);
    for (std::size_t j = 0; j < columns; ++j)
      EXPECT_EQ(cpp_int(transposed[j]), modulo(expected_transposed[j], size_64));
  }
}

TEST(Ring, HalvesComeBack) {
  std::mt19937_64 random(1);
  std::vector<WideWord> wide(9);
  for (WideWord& word : wide) word = random_wide(random);
  const std::vector<Word> halves = halves_of(wide);
  EXPECT_EQ(halves.size(), 18U);
  EXPECT_EQ(halves[0], static_cast<Word>(wide[0]));
  EXPECT_TRUE(from_halves(halves) == wide);
}

/// ⌊x/2^m⌋ + e with e in {0, 1}, for the worst numbers and for random ones, among three parties.
TEST(Truncation, DividesSharedNumbersWithAnErrorOfOneAtMost) {
  std::mt19937_64 random(2);
  const WideWord bound = Truncation::offset();
  const std::vector<WideWord> numbers{0, 1, WideWord{0} - 1, bound - 1, WideWord{0} - bound, WideWord{0} - bound + 1};
  for (const int bits : {1, 20, 64, 102, 126}) {
    const Truncation truncation(bits);
    for (int trial = 0; trial < 3000; ++trial) {
      WideWord x = numbers[static_cast<std::size_t>(trial) % numbers.size()];
      if (trial >= 100) x = (random_wide(random) >> (random() % 126 + 2)) * (random() % 2 == 0 ? 1 : ~WideWord{0});
      WideWord r = random_wide(random);
      if (trial % 5 == 0) r = trial % 2 == 0 ? ~WideWord{0} : WideWord{1} << 127;
      const WideWord c = x + bound + r;
      const Word high[3] = {random(), random(), 0};
      const Word top[3] = {random(), random(), 0};
      Word sum = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        const bool last = k == 2;
        const Word high_share = last ? truncation.high(r) - high[0] - high[1] : high[k];
        const Word top_share = last ? Truncation::top(r) - top[0] - top[1] : top[k];
        sum += truncation.share(c, high_share, top_share, k == 0);
      }
      const cpp_int signed_x = x >= WideWord{1} << 127 ? cpp_int(big(x) - size_128) : big(x);
      const cpp_int shifted = signed_x + big(bound);
      const cpp_int floor = (shifted >> bits) - (big(bound) >> bits);
      const cpp_int error = modulo(cpp_int(sum) - floor, size_64);
      EXPECT_LE(error, 1) << bits << " bits";
    }
  }
}

/// What is opened, y + r, takes every value once as r does, whatever y is: in a ring of 8 bits, exhaustively.
TEST(Truncation, OpensUniformWords) {
  for (const unsigned y : {0U, 1U, 63U, 127U}) {
    std::set<unsigned> seen;
    for (unsigned r = 0; r < 256; ++r) seen.insert((y + r) % 256);
    EXPECT_EQ(seen.size(), 256U);
  }
}

double logistic(double u) {
  return 1 / (1 + std::exp(-6 * u));
}

TEST(SlopePolynomial, IsExactOnShares) {
  std::mt19937_64 random(3);
  const SlopePolynomial slope(logistic, 7, 20);
  EXPECT_LT(slope.error(), 0.013);  // of the best interpolation of this degree
  EXPECT_GT(slope.error(), 0.005);
  for (int trial = 0; trial < 500; ++trial) {
    const auto argument = static_cast<std::int64_t>(random() % 65537) - 32768;
    const auto u = static_cast<WideWord>(SignedWide{argument});
    const WideWord a = random_wide(random);
    std::vector<WideWord> powers{a};
    for (int k = 2; k <= 7; ++k) powers.push_back(powers.back() * a);
    std::vector<WideWord> others(powers.size());
    for (WideWord& word : others) word = random_wide(random);
    std::vector<WideWord> own(powers);
    for (std::size_t k = 0; k < own.size(); ++k) own[k] -= others[k];
    const WideWord sum = slope.share(u - a, own, true) + slope.share(u - a, others, false);
    const Word r = random();
    const Truncation truncation = slope.truncation();
    const WideWord wide = WideWord{r} << 60;
    const Word truncated =
        truncation.share(sum + Truncation::offset() + wide, truncation.high(wide), Truncation::top(wide), true);
    const auto error = static_cast<std::int64_t>(truncated) - slope.at(argument);
    EXPECT_TRUE(error == 0 || error == 1);
    const double u_real = static_cast<double>(argument) / 32768;
    EXPECT_NEAR(static_cast<double>(slope.at(argument)) / (1 << 20), logistic(u_real), slope.error() + 1e-5);
    EXPECT_LE(slope.at(argument), slope.most());
    EXPECT_GE(slope.at(argument), slope.least());
  }
}

TEST(SlopePolynomial, OfDegreeOneIsTheLine) {
  const SlopePolynomial line([](double u) { return 8 * u; }, 1, 20);
  EXPECT_LT(line.error(), 1e-9);
  EXPECT_NEAR(line.steepest(), 8, 1e-6);
  EXPECT_EQ(line.at(32768), 8 << 20);
  EXPECT_EQ(line.at(-32768), -(8 << 20));
  EXPECT_ERROR(UsageError, "Scale the labels", SlopePolynomial([](double u) { return 1e13 * u; }, 1, 20));
}

}  // namespace starling::ring_test
