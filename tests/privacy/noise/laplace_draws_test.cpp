// The Laplace sampler on words that are written for it: each way that a draw can take, and how rare it is.
#include "privacy/noise/laplace_draws.hpp"

#include <cmath>
#include <vector>

#include "core/check.hpp"
#include "privacy/statistics.hpp"
#include "support/testing.hpp"

namespace starling::laplace_draws_test {

using namespace laplace_draws;
using testing_support::one_in_ten_thousand;

/// A source of the words in a list; using more is an error.
class ScriptedWords {
 public:
  explicit ScriptedWords(std::vector<std::uint64_t> script = {}) : script_(std::move(script)) {}
  std::uint64_t operator()() { return script_.at(used_++); }
  void words(std::span<std::uint64_t> out) {
    for (std::uint64_t& word : out) word = (*this)();
  }
  [[nodiscard]] std::size_t left() const { return script_.size() - used_; }

 private:
  std::vector<std::uint64_t> script_;
  std::size_t used_ = 0;
};

constexpr std::uint32_t negative = 0x80000000U;
constexpr std::uint64_t unused_bits = 0xabcdef0123450000U;  // of a word that gives 16 bits

/// A lane whose draw is `low`, settled by its own words.
Lane easy_lane(std::uint32_t low = 5) {
  Lane lane{low, 0x7fffffffU, {}};
  lane.fractions.fill(0xffff);
  return lane;
}

std::int64_t draw(const Lane& lane, std::vector<std::uint64_t> script = {}) {
  ScriptedWords words(std::move(script));
  const std::int64_t result = exact_draw(words, lane);
  EXPECT_EQ(words.left(), 0U);
  return result;
}

/// The keystream words that hold a lane in position 0 and easy lanes in all others, by the layout's definition.
std::vector<std::uint64_t> group_of(const Lane& first) {
  std::vector<unsigned char> bytes;
  const auto put = [&](std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) bytes.push_back(static_cast<unsigned char>(value >> (8 * i)));
  };
  for (std::size_t i = 0; i < lanes; ++i) put(i == 0 ? first.low : 5, 4);
  for (std::size_t i = 0; i < lanes; ++i) put(i == 0 ? first.top : 0x7fffffffU, 4);
  for (const std::uint16_t fraction : first.fractions) {
    for (std::size_t i = 0; i < lanes; ++i) put(i == 0 ? fraction : 0xffff, 2);
  }
  std::vector<std::uint64_t> words(bytes.size() / 8);
  for (std::size_t i = 0; i < bytes.size(); ++i) words[i / 8] |= std::uint64_t{bytes[i]} << (8 * (i % 8));
  return words;
}

/// What add_draws adds to 16 integers whose first lane is `first`, with `script` for what it needs in addition.
std::vector<std::int64_t> added(const Lane& first, const std::vector<std::uint64_t>& script = {}) {
  std::vector<std::uint64_t> words = group_of(first);
  words.insert(words.end(), script.begin(), script.end());
  ScriptedWords source(words);
  std::vector<std::uint64_t> block(group_words * block_groups);
  std::vector<std::uint64_t> spare(1);  // so that no word is read before it is needed
  Reserve<ScriptedWords> reserve(source, spare);
  std::vector<std::int64_t> integers(lanes);
  add_draws(source, reserve, std::span<std::int64_t>(integers), std::span<std::uint64_t>(block));
  EXPECT_EQ(reserve.touched(), !script.empty());
  EXPECT_EQ(source.left(), 0U);
  return integers;
}

TEST(LaplaceThresholds, AreTheProbabilitiesOfTheDigits) {
  for (std::size_t row = 0; row < thresholds.size(); ++row) {
    double value = 0;
    for (std::size_t i = 0; i < thresholds[row].size(); ++i) {
      value += std::ldexp(static_cast<double>(thresholds[row][i]), -16 * static_cast<int>(i + 1));
    }
    const double expected =
        row == tail_row ? std::exp(-8.0) : 1 / (1 + std::exp(std::ldexp(1.0, static_cast<int>(row) - 8)));
    EXPECT_NEAR(value / expected, 1, 1e-14) << row;
  }
}

// Every threshold, decided by each of its 16 words in turn, both ways, with exactly the words that it takes.
TEST(LaplaceDraws, RefineFractionsWordByWord) {
  for (const Threshold& threshold : thresholds) {
    for (std::size_t level = 0; level < threshold.size(); ++level) {
      for (const int step : {-1, 1}) {
        const int last = threshold[level] + step;
        if (last < 0 || last > 0xffff) continue;
        std::vector<std::uint64_t> script;
        for (std::size_t i = 1; i <= level; ++i) {
          script.push_back(unused_bits | (i == level ? static_cast<std::uint64_t>(last) : threshold[i]));
        }
        ScriptedWords words(script);
        const std::uint16_t first = level == 0 ? static_cast<std::uint16_t>(last) : threshold[0];
        EXPECT_EQ(below(words, threshold, first), step < 0) << level;
        EXPECT_EQ(words.left(), 0U) << level;
      }
    }
  }
}

TEST(LaplaceDraws, FailRatherThanTakeASideWhereAllBitsAgree) {
  for (const Threshold& threshold : thresholds) {
    ScriptedWords words({threshold.begin() + 1, threshold.end()});
    EXPECT_THROW(static_cast<void>(below(words, threshold, threshold[0])), FailureError);
    EXPECT_EQ(words.left(), 0U);
  }
}

TEST(LaplaceDraws, AreMadeOfTheirDigitsAndSign) {
  EXPECT_EQ(draw(easy_lane(0xfffffe00U)), 0xfffffe00);
  for (std::size_t digit = 0; digit < middle_digits; ++digit) {
    Lane lane = easy_lane();
    lane.fractions[digit] = static_cast<std::uint16_t>(thresholds[digit][0] - 1);
    EXPECT_EQ(draw(lane), (std::int64_t{1} << (32 + digit)) + 5);
    lane.top |= negative;
    EXPECT_EQ(draw(lane), -(std::int64_t{1} << (32 + digit)) - 5);
    lane.fractions[digit] = static_cast<std::uint16_t>(thresholds[digit][0] + 1);
    EXPECT_EQ(draw(lane), -5);
  }
}

// V = 1 + its own five digits: 10110 in binary, then none of them.
TEST(LaplaceDraws, ContinueInTheTailByMemorylessness) {
  Lane lane = easy_lane();
  lane.fractions[middle_digits] = 0;
  const std::uint64_t zero = unused_bits | 0xffff;
  // Digits 44 and up have a threshold that begins with 16 zeros: word 0 is a tie there, and a second 0 decides
  // for digit 44; 45 takes three, 47 eleven zeros before its first other word.
  EXPECT_EQ(draw(lane, {0, 0, 0, zero, zero, zero}), (std::int64_t{1 + 3} << 43) + 5);
  EXPECT_EQ(draw(lane, {zero, zero, zero, zero, zero}), (std::int64_t{1} << 43) + 5);
  std::vector<std::uint64_t> all(1 + 2 + 3 + 6 + 12, 0);
  EXPECT_EQ(draw(lane, all), (std::int64_t{32} << 43) + 5);
}

// U = 2^31 is compared with A, of which 31 bits say 2^31 / 2^9: the other 9 decide.
TEST(LaplaceDraws, AcceptTheLowDigitsAsCanonneKamathSteinke) {
  constexpr std::uint32_t low = 0x80000100U;
  Lane lane = easy_lane(low);
  lane.top = low >> 9;
  const std::uint64_t noise = 0xfedcba9876543000U;  // above the 9 bits that count
  EXPECT_EQ(draw(lane, {noise | 0x100}), low);      // A = U
  EXPECT_EQ(draw(lane, {noise | 0x1ff}), low);      // A > U
  const std::uint64_t smaller = noise | 0x0ff;      // A = U − 1
  const std::uint64_t yes = low - 1;
  const std::uint64_t no = low;
  EXPECT_EQ(draw(lane, {smaller, yes, no}), low);            // k = 3
  EXPECT_EQ(draw(lane, {smaller, yes, yes, yes, no}), low);  // k = 5
  const std::uint64_t again = 7 | std::uint64_t{0xffffffffU} << 32;
  EXPECT_EQ(draw(lane, {smaller, no, again}), -7);            // k = 2: drawn again, with its sign
  EXPECT_EQ(draw(lane, {smaller, yes, yes, no, again}), -7);  // k = 4
  const std::uint64_t again_close = low | std::uint64_t{low >> 9} << 32;
  EXPECT_EQ(draw(lane, {smaller, no, again_close, smaller, no, again}), -7);
  // At k = 3 a word from the largest multiple of 3·2^40 upwards is drawn again.
  EXPECT_EQ(draw(lane, {smaller, yes, ~std::uint64_t{0}, no}), low);
}

TEST(LaplaceDraws, HaveOneZero) {
  Lane lane = easy_lane(0);
  EXPECT_EQ(draw(lane), 0);
  lane.top |= negative;
  // The next lane: −9, with digit 33 (second fraction of the first word) and, drawn in full, a tie in digit 36.
  const std::uint64_t sign_and_low = 9 | std::uint64_t{0xffffffffU} << 32;
  const std::uint64_t digit_33 = 0xffffffff0000ffffU;
  const std::uint64_t tie_36 = 0xffffffffffff0000U | thresholds[4][0];
  const std::int64_t expected = 9 + (std::int64_t{1} << 33) + (std::int64_t{1} << 36);
  const std::vector<std::uint64_t> next = {sign_and_low, digit_33, tie_36, ~std::uint64_t{0},
                                           static_cast<std::uint64_t>(thresholds[4][1] - 1)};
  EXPECT_EQ(draw(lane, next), -expected);
  EXPECT_EQ(added(lane, next)[0], -expected);
  EXPECT_EQ(added(easy_lane(0))[0], 0);
}

TEST(LaplaceDraws, OfAnArrayTakeTheSameWays) {
  std::vector<std::int64_t> expected(lanes, 5);
  EXPECT_EQ(added(easy_lane()), expected);
  for (std::size_t row = 0; row <= middle_digits; ++row) {
    const Threshold& threshold = thresholds[row == middle_digits ? tail_row : row];
    Lane lane = easy_lane();
    lane.fractions[row] = threshold[0];
    expected[0] = (std::int64_t{1} << (32 + row)) + 5;
    std::vector<std::uint64_t> script = {static_cast<std::uint64_t>(threshold[1] - 1)};
    if (row == middle_digits) script.insert(script.end(), 5, 0xffff);
    EXPECT_EQ(added(lane, script), expected) << row;
    expected[0] = 5;
    EXPECT_EQ(added(lane, {static_cast<std::uint64_t>(threshold[1] + 1)}), expected) << row;
  }
  Lane close = easy_lane(0x80000000U);
  close.top = (close.low >> 9) | negative;
  expected[0] = -std::int64_t{0x80000000U};
  EXPECT_EQ(added(close, {0}), expected);
}

/// The draws that add_draws adds to `count` zeros, from a fresh stream.
std::vector<std::int64_t> array_draws(std::size_t count) {
  Keystream words(NoiseKey::from_seed(32, 0));
  std::vector<std::uint64_t> block(group_words * block_groups);
  std::vector<std::uint64_t> spare(spare_words);
  Reserve<Keystream> reserve(words, spare);
  std::vector<std::int64_t> integers(count);
  add_draws(words, reserve, std::span<std::int64_t>(integers), std::span<std::uint64_t>(block));
  return integers;
}

/// A lane of `width` by the layout's definition: U's, A's and fractions, each of all lanes together.
Lane defined_lane(std::span<const std::uint64_t> words, std::size_t width, std::size_t i) {
  std::vector<unsigned char> bytes;
  for (const std::uint64_t word : words) {
    for (int k = 0; k < 64; k += 8) bytes.push_back(static_cast<unsigned char>(word >> k));
  }
  const auto at = [&](std::size_t place, std::size_t count) {
    std::uint32_t value = 0;
    for (std::size_t k = count; k-- > 0;) value = value << 8 | bytes.at(place + k);
    return value;
  };
  Lane lane{at(4 * i, 4), at(4 * (width + i), 4), {}};
  for (std::size_t row = 0; row < lane.fractions.size(); ++row) {
    lane.fractions[row] = static_cast<std::uint16_t>(at(8 * width + 2 * (row * width + i), 2));
  }
  return lane;
}

/// The same by the layout's definition, one draw after the other: a block's words, then 128 spare ones whenever rare
/// lanes have used up those before.
std::vector<std::int64_t> draws_one_by_one(std::size_t count) {
  Keystream words(NoiseKey::from_seed(32, 0));
  std::vector<std::uint64_t> spare;
  std::size_t used = 0;
  const auto next = [&] {
    if (used == spare.size()) {
      spare.resize(spare_words);
      for (std::uint64_t& word : spare) word = words();
      used = 0;
    }
    return spare[used++];
  };
  std::vector<std::int64_t> result;
  while (result.size() < count) {
    const std::size_t draws = std::min(count - result.size(), lanes * block_groups);
    std::vector<std::uint64_t> block((draws + 7) / 8 * 8 * 32 / sizeof(std::uint64_t));
    for (std::uint64_t& word : block) word = words();
    for (std::size_t i = 0; i < draws; ++i) {
      const std::size_t first = i / 16 * 16;
      const std::size_t width = draws - first <= 8 ? 8 : 16;
      const auto group = std::span<const std::uint64_t>(block).subspan(first * 4, width * 4);
      result.push_back(exact_draw(next, defined_lane(group, width, i - first)));
    }
  }
  return result;
}

TEST(LaplaceDraws, OfAnArrayAreThoseOfEachLane) {
  for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 15U, 16U, 17U, 24U, 25U, 248U, 249U, 255U, 256U, 257U, 300000U}) {
    EXPECT_EQ(array_draws(count), draws_one_by_one(count)) << count;
  }
}

// The array form and exact_draw agree on every lane that the array form settles by itself (exact_draw then asks for no
// word: ScriptedWords would throw), and the others are as rare as predicted. Error rate 2e-4 for each of three counts.
TEST(LaplaceDraws, AreRarelyRare) {
  constexpr int groups = 200000;
  Keystream words(NoiseKey::from_seed(30, 0));
  std::array<std::uint64_t, group_words> drawn;
  const Group group(drawn);
  Draws draws;
  ScriptedWords none;
  double close = 0;
  double open = 0;
  double rare = 0;
  for (int g = 0; g < groups; ++g) {
    words.words(drawn);
    const bool settled = draw_group(group, draws);
    bool all = true;
    for (std::size_t i = 0; i < lanes; ++i) {
      close += draws.close[i] != 0 ? 1 : 0;
      open += draws.open[i] != 0 ? 1 : 0;
      if ((draws.close[i] | draws.open[i]) != 0) {
        ++rare;
        all = false;
      } else {
        ASSERT_EQ(exact_draw(none, lane_of(group, i)), draws.values[i]);
      }
    }
    ASSERT_EQ(settled, all);
  }
  constexpr double n = 16.0 * groups;
  const auto check_rate = [&](double count, double p) {
    EXPECT_NEAR(count, n * p, one_in_ten_thousand * std::sqrt(n * p * (1 - p))) << p;
  };
  const double p_close = 0x1p-9;
  const double p_open = 1 - std::pow(1 - 0x1p-16, 11) * (1 - 22 * 0x1p-16);
  check_rate(close, p_close);
  check_rate(open, p_open);
  check_rate(rare, 1 - (1 - p_close) * (1 - p_open));
}

// Error rate 2e-4.
TEST(LaplaceDraws, RejectTheLowDigitsAtThePredictedRate) {
  constexpr int count = 4000000;
  Keystream words(NoiseKey::from_seed(31, 0));
  double rejected = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t word = words();
    if (!accept(words, static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32))) ++rejected;
  }
  const double p = 1 + std::expm1(-0x1p-8) / 0x1p-8;  // 1 − ∫ exp(−u/t) over U uniform on [0, 2^32)
  EXPECT_NEAR(rejected, count * p, one_in_ten_thousand * std::sqrt(count * p * (1 - p)));
}

}  // namespace starling::laplace_draws_test
