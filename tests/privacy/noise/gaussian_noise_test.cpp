#include "privacy/noise/gaussian_noise.hpp"

#include <bit>
#include <limits>
#include <mpfr.h>

#include "core/check.hpp"
#include "privacy/gaussian_judge.hpp"
#include "privacy/noise/gaussian_table.hpp"
#include "privacy/statistics.hpp"
#include "support/slow.hpp"
#include "support/testing.hpp"

namespace starling::gaussian_noise_test {

using namespace testing_support;

constexpr double production_sigma = 0x1p41;  // mu = 1
__extension__ using Wide = __int128;

// 10^5 draws; the long tests have 10^6.
TEST(GaussianNoise, EveryDrawIsCorrectlyRounded) {
  expect_correct_rounding(slow() ? 20'000 : 5'000);
}

// The slow sampler on words that the fast one decides.
TEST(GaussianNoise, FirstTryAgreesWithTheSlowSampler) {
  for (const double sigma : {16.0, 1.99e6, production_sigma, 3e15, 0x1p56}) {
    const GaussianNoise noise(sigma);
    Keystream words(NoiseKey::from_seed(41, 0));
    std::size_t decided = 0;
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t word = words();
      const GaussianNoise::FirstTry draw = noise.first_try(word);
      if (!draw.decided) continue;
      ++decided;
      EXPECT_EQ(noise.exact(word, GivenWords({})), draw.value) << sigma << ' ' << word;
    }
    EXPECT_GT(decided, 1500U) << sigma;
  }
}

/// Words on both sides of the ends of octaves and of some of their pieces, and beyond the table.
std::vector<std::uint64_t> edge_words() {
  std::vector<std::uint64_t> words{1, 2, 3};
  for (int octave = 0; octave < 24; ++octave) {
    const std::uint64_t first = std::uint64_t{1} << (62 - octave);
    for (const std::uint64_t piece : {0U, 1U, 32U, 63U}) {
      const std::uint64_t edge = first + ((piece * first) >> 6);
      for (const std::uint64_t word : {edge - 1, edge, edge + 1}) words.push_back(word);
    }
  }
  words.push_back(sign_bit - 1);
  return words;
}

// Also shows that no sum of the fast path wraps: z is monotone, and the ends of the octaves are here, at the scales
// where the terms are largest and smallest.
TEST(GaussianNoise, IsRightAtTheEdgesOfTheTable) {
  const std::vector<std::uint64_t> rest{0x5555555555555555, 0x123456789abcdef0};
  for (const double sigma : {16.0, std::nextafter(32.0, 0), production_sigma, std::nextafter(0x1p56, 0), 0x1p56}) {
    const GaussianNoise noise(sigma);
    GaussianJudge checker(sigma, 96);
    GaussianJudge precise(sigma, 256);
    std::size_t wrong = 0;
    for (const std::uint64_t word : edge_words()) {
      const GaussianNoise::FirstTry draw = noise.first_try(word);
      if (draw.decided) {
        wrong += checker.right(draw.value, {word}) ? 0 : 1;
      } else {
        const std::int64_t k = noise.exact(word, GivenWords(rest, true));
        wrong += precise.right(k, {word, rest[0], rest[1]}) ? 0 : 1;
        EXPECT_EQ(noise.exact(word | sign_bit, GivenWords(rest, true)), -k);
      }
    }
    EXPECT_EQ(wrong, 0U) << sigma;
  }
}

/// Q(whole · 2^-scale) − (v + offset) · 2^-65, its sign.
int compare_tail(Wide whole, int scale, std::uint64_t v, int offset) {
  mpfr_t tail;
  mpfr_t known;
  mpfr_inits2(192, tail, known, static_cast<mpfr_ptr>(nullptr));
  mpfr_set_si(tail, static_cast<std::int64_t>(whole >> 32), MPFR_RNDN);
  mpfr_mul_2ui(tail, tail, 32, MPFR_RNDN);
  mpfr_add_ui(tail, tail, static_cast<std::uint64_t>(whole & 0xffffffff), MPFR_RNDN);
  mpfr_div_2si(tail, tail, scale, MPFR_RNDN);
  mpfr_sqrt_ui(known, 2, MPFR_RNDN);
  mpfr_div(tail, tail, known, MPFR_RNDN);
  mpfr_erfc(tail, tail, MPFR_RNDN);
  mpfr_div_2ui(tail, tail, 1, MPFR_RNDN);
  mpfr_set_ui(known, v, MPFR_RNDN);
  mpfr_add_si(known, known, offset, MPFR_RNDN);
  mpfr_div_2ui(known, known, 65, MPFR_RNDN);
  const int sign = mpfr_cmp(tail, known);
  mpfr_clears(tail, known, static_cast<mpfr_ptr>(nullptr));
  return sign;
}

// The bound that tools/gaussian_table.cpp proves, seen from outside: q ± error encloses z of the whole cell, at both
// ends of each piece and at random places in it; and half the error would not do everywhere.
TEST(GaussianNoise, TableKeepsItsBound) {
  using namespace gaussian_table;
  Keystream random(NoiseKey::from_seed(45, 0));
  std::size_t checked = 0;
  std::size_t wrong = 0;
  std::size_t wrong_at_half = 0;
  for (int octave = 0; octave < octaves; ++octave) {
    const int low_bits = 57 - octave;  // of a word, within its piece; one less than of a normalised cell
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
      const std::uint64_t first = (pieces + piece) << (low_bits - 1);
      const std::uint64_t last = first + (std::uint64_t{1} << (low_bits - 1)) - 1;
      for (const std::uint64_t word :
           {first, last, first + random() % (last - first), first + random() % (last - first)}) {
        const Cell cell(word);
        ASSERT_EQ(cell.octave, octave);
        const Octave& row = table.octave[static_cast<std::size_t>(octave)];
        const Wide q = quantile(cell);
        const int scale = unit_bits + row.extra_bits;
        const auto encloses = [&](std::uint64_t error) {
          return compare_tail(q - error, scale, cell.centre, 1) >= 0 &&
                 compare_tail(q + error, scale, cell.centre, -1) <= 0;
        };
        ++checked;
        wrong += encloses(row.error) ? 0 : 1;
        wrong_at_half += encloses(row.error / 2) ? 0 : 1;
      }
    }
  }
  EXPECT_EQ(checked, 4U * pieces * octaves);
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(wrong_at_half, checked / 10);
}

TEST(GaussianNoise, TableEndsWhereItSays) {
  const GaussianNoise noise(16);
  EXPECT_FALSE(noise.first_try((std::uint64_t{1} << 42) - 1).decided);
  EXPECT_FALSE(noise.first_try(0).decided);
  EXPECT_TRUE(noise.first_try((std::uint64_t{1} << 42) + (std::uint64_t{1} << 40)).decided);
}

// Digits of U that agree with Q((k + 1/2)/σ) for 64, 128 or 192 bits, and then fall below it or rise above: k + 1 or k.
TEST(GaussianNoise, TiesAreBrokenByTheFirstDigitThatDiffers) {
  for (const double sigma : {16.0, production_sigma, 1.7e15, 0x1p56}) {
    const GaussianNoise noise(sigma);
    GaussianJudge checker(sigma, 512);
    for (const double z : {0.0, 1e-3, 0.6745, 1.0, 2.5, 4.9, 5.2, 9.0}) {
      const auto k = static_cast<std::int64_t>(std::floor(z * sigma));
      const std::vector<std::uint64_t> digits = checker.digits_of_boundary(k + 1, 5);
      EXPECT_FALSE(noise.first_try(digits[0]).decided);
      for (std::size_t depth = 1; depth < 4; ++depth) {
        std::vector<std::uint64_t> lower(digits.begin(), digits.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
        std::vector<std::uint64_t> upper = lower;
        --lower.back();
        ++upper.back();
        const auto draw = [&](const std::vector<std::uint64_t>& words) {
          return noise.exact(words[0], GivenWords({words.begin() + 1, words.end()}, true));
        };
        EXPECT_EQ(draw(lower), k + 1) << sigma << ' ' << z << ' ' << depth;
        EXPECT_EQ(draw(upper), k) << sigma << ' ' << z << ' ' << depth;
      }
    }
  }
}

// The first word of a tie goes through `add` as well: the window around it is left to the exact comparison.
TEST(GaussianNoise, WordsAroundATieAreUndecidedOrRight) {
  for (const double sigma : {16.0, production_sigma, 1.7e15}) {
    const GaussianNoise noise(sigma);
    GaussianJudge checker(sigma, 256);
    int undecided = 0;
    for (const double z : {1e-3, 0.3, 0.7, 1.3, 2.2, 3.3, 4.4}) {
      const auto k = static_cast<std::int64_t>(std::floor(z * sigma));
      const std::uint64_t tie = checker.digits_of_boundary(k + 1, 1)[0];
      for (std::uint64_t word = tie - 40; word < tie + 40; ++word) {
        const GaussianNoise::FirstTry draw = noise.first_try(word);
        undecided += draw.decided ? 0 : 1;
        EXPECT_TRUE(!draw.decided || checker.right(draw.value, {word})) << sigma << ' ' << word;
      }
    }
    EXPECT_GE(undecided, 7) << sigma;
  }
}

TEST(GaussianNoise, ExtremeTailsAreExactUntilTheBound) {
  for (const double sigma : {16.0, production_sigma, 0x1p56}) {
    const GaussianNoise noise(sigma);
    GaussianJudge checker(sigma, 2048);
    for (const std::size_t zeros : {0U, 1U, 3U, 9U}) {
      std::vector<std::uint64_t> words(zeros + 1);
      words.push_back(0x0123456789abcdef);
      words.push_back(0xfedcba9876543210);
      const std::int64_t k = noise.exact(0, GivenWords({words.begin() + 1, words.end()}, true));
      EXPECT_TRUE(checker.right(k, words)) << sigma << ' ' << zeros;
      EXPECT_LT(k, GaussianNoise::bound);
      EXPECT_GT(static_cast<double>(k), 9 * sigma);
    }
  }
  // P(|Z| ≥ 32) is about 2^-744.
  const GaussianNoise widest(GaussianNoise::largest_sigma);
  EXPECT_THROW(static_cast<void>(widest.exact(0, GivenWords({}, true))), FailureError);
}

TEST(GaussianNoise, DependsOnTheKeyTheScaleAndThePositionAlone) {
  for (const double sigma : {production_sigma, 1.7e15, 0x1p56}) {
    const auto draw = [&](std::uint64_t seed, std::size_t length) {
      Keystream words(NoiseKey::from_seed(seed, 3));
      std::vector<std::int64_t> integers(length);
      GaussianNoise(sigma).add(words, integers);
      return integers;
    };
    const std::vector<std::int64_t> all = draw(1, 1700);
    EXPECT_EQ(draw(1, 1700), all);
    EXPECT_NE(draw(2, 1700), all);
    for (const std::size_t length : {1U, 2U, 511U, 512U, 513U, 1024U, 1699U}) {
      const std::vector<std::int64_t> part = draw(1, length);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin())) << length;
    }
    Keystream words(NoiseKey::from_seed(1, 3));
    for (const std::int64_t k : all) EXPECT_EQ(GaussianNoise(sigma)(words), k);
  }
}

TEST(GaussianNoise, AddsToWhatIsThere) {
  std::vector<std::int64_t> zeros(1000);
  std::vector<std::int64_t> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i * i) - 300000;
  std::vector<std::int64_t> sums = values;
  Keystream first(NoiseKey::from_seed(5, 0));
  Keystream second(NoiseKey::from_seed(5, 0));
  GaussianNoise(0x1p56).add(first, zeros);
  GaussianNoise(0x1p56).add(second, sums);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(sums[i], zeros[i] + values[i]);
}

TEST(GaussianNoise, RefusesWhatIsNotProved) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double sigma : {0.0, -1.0, 15.99, std::nextafter(0x1p56, infinity), infinity, -infinity,
                             std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(GaussianNoise{sigma}, UsageError) << sigma;
  }
  const GaussianNoise noise(16);
  Keystream words(NoiseKey::from_seed(6, 0));
  constexpr std::int64_t limit = std::int64_t{1} << 62;
  for (const std::int64_t wrong : {limit, -limit - 1, std::numeric_limits<std::int64_t>::min()}) {
    std::vector<std::int64_t> integers{0, wrong, 0};
    EXPECT_THROW(noise.add(words, integers), UsageError) << wrong;
  }
  std::vector<std::int64_t> extreme{limit - 1, -limit};
  EXPECT_NO_THROW(noise.add(words, extreme));
  EXPECT_NO_THROW(noise.add(words, {}));
}

// Error rate 2e-4 for each scale.
TEST(GaussianNoise, ShareOfUndecidedWordsIsAsPredicted) {
  EXPECT_LT(GaussianNoise(production_sigma).undecided_share(), 1.0 / 180000);
  for (const double sigma : {0x1.8p46, 0x1p52, 0x1p56}) {
    const GaussianNoise noise(sigma);
    Keystream words(NoiseKey::from_seed(42, 0));
    constexpr double n = 1e6;
    double undecided = 0;
    for (int i = 0; i < static_cast<int>(n); ++i) undecided += noise.first_try(words()).decided ? 0 : 1;
    const double expected = n * noise.undecided_share();
    EXPECT_LT(std::abs(undecided - expected), one_in_ten_thousand * std::sqrt(expected)) << sigma;
  }
}

}  // namespace starling::gaussian_noise_test
