/// How the discrete Laplace noise of scale t = 2^40 is drawn (method 6, release, item 3), over any source of uniform
/// words, so that tests can write the words themselves.
///
/// A draw is a sign and a magnitude X with P(X = x) ∝ exp(−x/t), x = 0, 1, …; minus zero is drawn again, whole, which
/// leaves P(k) ∝ exp(−|k|/t) on all integers. X is geometric, so its binary digits are independent (x = Σ 2^i b_i makes
/// exp(−x/t) a product), and what is left of it above any digit is geometric again.
///
///  * Digits 0 … 31, U: P(U = u) ∝ exp(−u/t) by rejection from the uniform distribution (`accept`, Canonne, Kamath and
///    Steinke 2020, algorithm 1). Its first comparison is of U with a uniform A on {0, …, 2^40 − 1}, and U is accepted
///    if A ≥ U. 31 bits of A settle that for all but 2^-9 of the draws; the others draw the rest.
///  * Digits 32 … 42: P(b_i = 1) = 1 / (1 + exp(2^(i − 40))), a uniform binary fraction compared with a constant one
///    (`below`): its first 16 bits, and 16 more at a time only while all agree, which 2^-16 of the fractions need.
///  * V = ⌊X / 2^43⌋ is geometric with P(V ≥ v) = exp(−8 v). One fraction compared with exp(−8) says whether V ≥ 1.
///    Then V − 1 is distributed as V was, and its digits 0 … 4 are drawn as above, with the constants of digits
///    43 … 47.
///
/// What is not exact, in full: digit 5 of V − 1, which is 1 with probability 1 / (1 + e^256) < 2^-369 (and has to be
/// reached, probability e^-8), and those above it are taken as 0: below the resolution of the constants, 256 bits.
/// Where a fraction agrees with its constant in all 256 bits (probability 2^-256: as likely as guessing the noise key)
/// the draw fails instead of taking a side. Hence X < 2^43 · 33.
///
/// Bits are used once: a draw has one 64-bit word (U, 31 bits of A, the sign) and twelve 16-bit words; what the rare
/// cases draw in addition is fresh, and the rest of such a word is thrown away.
///
/// Timing. Draws are made 16 at a time without a branch that depends on them; then those marked as rare (1 in 407) are
/// made again, from the same words and from what must be added to them, by `exact_draw`. So the time shows how many
/// draws were rare: 1 in 512 because U is rejected, but for 2^-9 of these, and how often says nothing of what is then
/// accepted; 1 in 2981 because V ≥ 1, a magnitude above 8 t; 1 in 5958 because a fraction began as its constant does.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "starling/core/check.hpp"
#include "starling/privacy/keystream.hpp"

namespace starling::laplace_draws {

inline constexpr std::size_t lanes = 16;         ///< draws made together
inline constexpr std::size_t group_words = 64;   ///< keystream words of so many draws
inline constexpr std::size_t block_groups = 16;  ///< groups whose words are read at once: 8 KiB, 1.6 µs of ChaCha20
inline constexpr std::size_t spare_words = 128;  ///< 1 KiB: for the rare lanes of some 60 blocks
inline constexpr int low_digits = 32;            ///< digits of U
inline constexpr int tail_digit = 43;            ///< the first digit of V
inline constexpr std::size_t middle_digits = tail_digit - low_digits;
inline constexpr int tail_digits = 5;  ///< digits of V − 1 that are drawn

/// A binary fraction of 256 digits, the first ones first.
using Threshold = std::array<std::uint16_t, 16>;
/// P(digit = 1) of digits 32 … 47, then P(V ≥ 1): the true values lie above these by less than 2^-256. (In a file of
/// their own: compilers that see the values make each one anew where it is used, from three instructions.)
extern const std::array<Threshold, 17> thresholds;
inline constexpr std::size_t tail_row = 16;

/// The keystream words of 16 draws: 16 U's and 16 times (31 bits of A, the sign above) of 32 bits, then of 16 bits 16
/// fractions for each digit 32 … 42 and for V ≥ 1. In a word, what comes first is lowest.
using Group = std::span<const std::uint64_t, group_words>;
inline constexpr std::size_t top_word = 8;        ///< where the A's begin
inline constexpr std::size_t fraction_word = 16;  ///< where the fractions begin
inline constexpr std::size_t row_words = 4;       ///< words of 16 fractions

/// One lane's words.
struct Lane {
  std::uint32_t low = 0;
  std::uint32_t top = 0;
  std::array<std::uint16_t, middle_digits + 1> fractions{};
};

/// Number `i` of the numbers of type T that begin with `word`.
template <class T>
T number_at(Group group, std::size_t word, std::size_t i) {
  constexpr std::size_t in_word = sizeof(std::uint64_t) / sizeof(T);
  return static_cast<T>(group[word + i / in_word] >> (8 * sizeof(T) * (i % in_word)));
}

inline Lane lane_of(Group group, std::size_t i) {
  Lane lane{number_at<std::uint32_t>(group, 0, i), number_at<std::uint32_t>(group, top_word, i), {}};
  for (std::size_t row = 0; row < lane.fractions.size(); ++row) {
    lane.fractions[row] = number_at<std::uint16_t>(group, fraction_word + row * row_words, i);
  }
  return lane;
}

/// Whether a uniform fraction that starts with `first` is less than the threshold.
template <class Words>
bool below(Words& words, const Threshold& threshold, std::uint16_t first) {
  if (first != threshold[0]) return first < threshold[0];
  for (std::size_t i = 1; i < threshold.size(); ++i) {
    const auto piece = static_cast<std::uint16_t>(words());
    if (piece != threshold[i]) return piece < threshold[i];
  }
  throw FailureError("the noise generator is broken (256 bits of it agree with a constant: probability 2^-256)");
}

/// Uniform on {0, …, n − 1}, 1 ≤ n ≤ 2^63. Words from the largest multiple of n upwards are drawn again, so each
/// residue belongs to equally many of the words that are kept.
template <class Words>
std::uint64_t uniform(Words& words, std::uint64_t n) {
  if (std::has_single_bit(n)) return words() & (n - 1);
  while (true) {
    const std::uint64_t word = words();
    // 2^64 − n is not above that multiple, 2^64 − (2^64 mod n): a word below it needs no division to be kept.
    if (word < 0 - n || word < 0 - (0 - n) % n) return word % n;
  }
}

/// Whether 31 bits of A are enough to say that A > U, whatever its other 9.
inline bool surely_accepted(std::uint32_t low, std::uint32_t top) {
  return (top & 0x7fffffffU) > (low >> 9);
}

/// Bernoulli(exp(−U / t)): with A_k ~ Bernoulli(γ / k), γ = U / t, until the first 0, at k = K, P(K is odd) = Σ_j
/// (−γ)^j / j! = exp(−γ). A_k = 1 where a uniform integer below k·2^40 is below U. That product stays below 2^63: k
/// reaches 2^23 with probability less than 2^-(8 · 2^23).
template <class Words>
bool accept(Words& words, std::uint32_t low, std::uint32_t top) {
  if (surely_accepted(low, top)) return true;
  const std::uint64_t first = (std::uint64_t{top & 0x7fffffffU} << 9) | (words() & 511);
  if (first >= low) return true;
  std::uint64_t k = 2;
  while (uniform(words, k << laplace_scale_bits) < low) ++k;
  return k % 2 == 1;
}

/// Draws U and its companions until U is accepted; the sign comes with them.
template <class Words>
void settle_low(Words& words, Lane& lane) {
  while (!accept(words, lane.low, lane.top)) {
    const std::uint64_t word = words();
    lane.low = static_cast<std::uint32_t>(word);
    lane.top = static_cast<std::uint32_t>(word >> 32);
  }
}

/// V, the part of the magnitude above digit 42.
template <class Words>
std::uint64_t tail(Words& words, std::uint16_t first) {
  if (!below(words, thresholds[tail_row], first)) return 0;
  std::uint64_t beyond = 0;
  for (int digit = 0; digit < tail_digits; ++digit) {
    const auto row = static_cast<std::size_t>(tail_digit - low_digits + digit);
    const bool one = below(words, thresholds[row], static_cast<std::uint16_t>(words()));
    beyond |= static_cast<std::uint64_t>(one) << digit;
  }
  return 1 + beyond;
}

template <class Words>
Lane fresh_lane(Words& words) {
  std::array<std::uint64_t, 4> drawn;
  for (std::uint64_t& word : drawn) word = words();
  Lane lane{static_cast<std::uint32_t>(drawn[0]), static_cast<std::uint32_t>(drawn[0] >> 32), {}};
  for (std::size_t row = 0; row < lane.fractions.size(); ++row) {
    lane.fractions[row] = static_cast<std::uint16_t>(drawn[1 + row / 4] >> (16 * (row % 4)));
  }
  return lane;
}

/// The draw that a lane's words begin, with what else it needs taken from `words`.
template <class Words>
std::int64_t exact_draw(Words& words, Lane lane) {
  while (true) {
    settle_low(words, lane);
    std::uint64_t magnitude = lane.low;
    for (std::size_t digit = 0; digit < middle_digits; ++digit) {
      const bool one = below(words, thresholds[digit], lane.fractions[digit]);
      magnitude |= static_cast<std::uint64_t>(one) << (low_digits + static_cast<int>(digit));
    }
    magnitude |= tail(words, lane.fractions[middle_digits]) << tail_digit;
    const bool negative = (lane.top >> 31) != 0;
    const auto value = static_cast<std::int64_t>(magnitude);
    if (!negative || magnitude != 0) return negative ? -value : value;
    lane = fresh_lane(words);  // zero has one sign only
  }
}

/// Numbers side by side: one register where the CPU has such, several where not, with the same result. (Functions take
/// them by reference: how they are passed by value depends on the CPU.)
template <class T, std::size_t count>
using Vector [[gnu::vector_size(sizeof(T) * count)]] = T;
using Fractions = Vector<std::uint16_t, lanes>;
using Half = Vector<std::uint32_t, lanes / 2>;
using Quarter = Vector<std::uint64_t, lanes / 4>;

/// As many numbers as V has, which begin with `word`.
template <class V>
void load(Group group, std::size_t word, V& result) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&result, &group[word], sizeof result);
  } else {
    using T = std::remove_cvref_t<decltype(result[0])>;
    for (std::size_t i = 0; i < sizeof(V) / sizeof(T); ++i) result[i] = number_at<T>(group, word, i);
  }
}

/// 64-bit numbers from their halves.
inline void join(const Half& low, const Half& high, std::array<Quarter, 2>& result) {
  const bool little = std::endian::native == std::endian::little;
  const Half& first = little ? low : high;
  const Half& second = little ? high : low;
  const Half front = __builtin_shufflevector(first, second, 0, 8, 1, 9, 2, 10, 3, 11);
  const Half back = __builtin_shufflevector(first, second, 4, 12, 5, 13, 6, 14, 7, 15);
  std::memcpy(&result[0], &front, sizeof front);
  std::memcpy(&result[1], &back, sizeof back);
}

/// The draws of a group as far as its own words settle them, and which lanes they do not.
struct Draws {
  std::array<std::int64_t, lanes> values;
  std::array<std::uint16_t, lanes> open;   ///< not 0: a fraction must be refined, or V may not be 0
  std::array<std::uint32_t, lanes> close;  ///< not 0: U may be rejected, or the draw be minus zero
};

/// Digits 32 … 42 of each lane; `open` as in Draws.
inline void draw_digits(Group group, Fractions& digits, Fractions& open) {
  Fractions fractions;
  load(group, fraction_word + middle_digits * row_words, fractions);
  open = fractions <= thresholds[tail_row][0];
  digits = Fractions{};
  for (std::size_t row = middle_digits; row-- > 0;) {
    load(group, fraction_word + row * row_words, fractions);
    const std::uint16_t limit = thresholds[row][0];
    digits = digits + digits - (fractions < limit);  // true is −1: all bits
    open |= fractions == limit;
  }
}

/// No branch depends on a draw. Returns whether all lanes are settled.
inline bool draw_group(Group group, Draws& draws) {
  Fractions digits;
  Fractions open;
  draw_digits(group, digits, open);
  std::memcpy(draws.open.data(), &open, sizeof open);
  const auto parts = std::bit_cast<std::array<Vector<std::uint16_t, lanes / 2>, 2>>(digits);
  Half close{};
  for (std::size_t h = 0; h < 2; ++h) {
    Half low;
    Half top;
    load(group, h * lanes / 4, low);
    load(group, top_word + h * lanes / 4, top);
    const Half unsure = ((top & 0x7fffffffU) <= (low >> 9)) | (low == 0);  // 0: minus zero?
    std::memcpy(&draws.close[h * lanes / 2], &unsure, sizeof unsure);
    close |= unsure;
    const Half negative = Half{} - (top >> 31);  // 0, or all bits
    std::array<Quarter, 2> values;
    std::array<Quarter, 2> signs;
    join(low, __builtin_convertvector(parts[h], Half), values);
    join(negative, negative, signs);
    for (std::size_t q = 0; q < 2; ++q) values[q] = (values[q] ^ signs[q]) - signs[q];
    std::memcpy(&draws.values[h * lanes / 2], values.data(), sizeof values);
  }
  const auto opened = std::bit_cast<std::array<std::uint64_t, 4>>(open);
  const auto closed = std::bit_cast<std::array<std::uint64_t, 4>>(close);
  return (opened[0] | opened[1] | opened[2] | opened[3] | closed[0] | closed[1] | closed[2] | closed[3]) == 0;
}

/// Adds the draws of a group to at most 16 integers.
template <class Words>
void add_group(Words& words, Group group, std::span<std::int64_t> integers) {
  Draws draws;
  if (!draw_group(group, draws)) {
    for (std::size_t i = 0; i < integers.size(); ++i) {
      if ((draws.close[i] | draws.open[i]) != 0) draws.values[i] = exact_draw(words, lane_of(group, i));
    }
  }
  if (integers.size() == lanes) {
    for (std::size_t i = 0; i < lanes; ++i) integers[i] += draws.values[i];
  } else {
    for (std::size_t i = 0; i < integers.size(); ++i) integers[i] += draws.values[i];
  }
}

/// The words that rare lanes need, read many at a time, so that blocks are read whole.
template <class Words>
class Reserve {
 public:
  Reserve(Words& words, std::span<std::uint64_t> buffer) : words_(words), buffer_(buffer), used_(buffer.size()) {}
  std::uint64_t operator()() {
    if (used_ == buffer_.size()) {
      touched_ = true;
      words_.words(buffer_);
      used_ = 0;
    }
    return buffer_[used_++];
  }
  /// Whether anything was asked of it.
  [[nodiscard]] bool touched() const { return touched_; }

 private:
  Words& words_;
  std::span<std::uint64_t> buffer_;
  std::size_t used_;
  bool touched_ = false;
};

/// A block's words are read first. Then what its rare lanes need, lane after lane: from the reserve, which is filled
/// when it is asked and empty.
template <class Words>
void add_draws(Words& words, Reserve<Words>& reserve, std::span<std::int64_t> integers,
               std::span<std::uint64_t> block) {
  while (!integers.empty()) {
    const std::size_t count = std::min(integers.size(), block.size() / group_words * lanes);
    const std::size_t groups = (count + lanes - 1) / lanes;
    words.words(block.first(groups * group_words));
    for (std::size_t g = 0; g < groups; ++g) {
      const Group group(&block[g * group_words], group_words);
      add_group(reserve, group, integers.subspan(g * lanes, std::min(lanes, count - g * lanes)));
    }
    integers = integers.subspan(count);
  }
}

}  // namespace starling::laplace_draws
