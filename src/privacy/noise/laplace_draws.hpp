/// Many draws of the discrete Laplace noise at once: the method of laplace_exact.hpp for 16 draws side by side. (A last
/// group of at most 8 draws has the words of 8 draws: to encrypt 512 bytes takes twice as long as 256.)
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

#include "laplace_exact.hpp"

namespace starling::laplace_draws {

inline constexpr std::size_t lanes = 16;         ///< draws made together
inline constexpr std::size_t group_words = 64;   ///< keystream words of so many draws
inline constexpr std::size_t block_groups = 16;  ///< groups whose words are read at once: 8 KiB, 1.6 µs of ChaCha20
inline constexpr std::size_t spare_words = 128;  ///< 1 KiB: for the rare lanes of some 60 blocks

/// The keystream words of 16 draws: 16 U's and 16 times (31 bits of A, the sign above) of 32 bits, then of 16 bits 16
/// fractions for each digit 32 … 42 and for V ≥ 1. In a word, what comes first is lowest. The words of 8 draws are the
/// same with 8 for 16.
using Group = std::span<const std::uint64_t, group_words>;
inline constexpr std::size_t top_word = 8;        ///< where the A's begin
inline constexpr std::size_t fraction_word = 16;  ///< where the fractions begin
inline constexpr std::size_t row_words = 4;       ///< words of 16 fractions

/// Words of so many draws, at most a block's. The last group of a block is half as wide where 8 lanes are enough.
inline std::size_t words_of(std::size_t draws) {
  const std::size_t rest = draws % lanes;
  return draws / lanes * group_words + (rest == 0 ? 0 : rest <= lanes / 2 ? group_words / 2 : group_words);
}

/// Makes a group of the words of 8 draws, with which it begins: each of their lanes stands there twice.
inline void widen(std::span<std::uint64_t, group_words> words) {
  const auto widen_row = [words](std::size_t begin, std::size_t end) {
    const std::size_t half = (end - begin) / 2;
    std::copy_n(&words[begin / 2], half, &words[begin + half]);
    std::copy_n(&words[begin / 2], half, &words[begin]);
  };
  // From the last row on: none is overwritten before it is moved.
  for (std::size_t end = group_words; end > fraction_word; end -= row_words) widen_row(end - row_words, end);
  widen_row(top_word, fraction_word);
  widen_row(0, top_word);
}

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

/// Numbers side by side: one register where the CPU has such, several where not, with the same result. (Functions take
/// them by reference: how they are passed by value depends on the CPU.)
template <class T, std::size_t count>
using Vector [[gnu::vector_size(sizeof(T) * count)]] = T;
using Fractions = Vector<std::uint16_t, lanes>;
using Half = Vector<std::uint32_t, lanes / 2>;
using Quarter = Vector<std::uint64_t, lanes / 4>;

/// A vector of numbers, one for each entry of V, starting with `word`.
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

/// Draws of a group, as far as the group's own words settle the draws, and marks of the lanes that stay open.
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

/// Draws in all lanes, or in the first half only. No branch depends on a draw. Returns whether all draws are settled.
template <std::size_t halves = 2>
bool draw_group(Group group, Draws& draws) {
  Fractions digits;
  Fractions open;
  draw_digits(group, digits, open);
  std::memcpy(draws.open.data(), &open, sizeof open);
  const auto parts = std::bit_cast<std::array<Vector<std::uint16_t, lanes / 2>, 2>>(digits);
  Half close{};
  for (std::size_t h = 0; h < halves; ++h) {
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
  const bool settled = integers.size() <= lanes / 2 ? draw_group<1>(group, draws) : draw_group(group, draws);
  if (!settled) {
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
  /// Whether any word was requested.
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
    const std::size_t drawn = words_of(count);
    words.words(block.first(drawn));
    if (drawn < groups * group_words) widen(block.subspan((groups - 1) * group_words).first<group_words>());
    for (std::size_t g = 0; g < groups; ++g) {
      const Group group(&block[g * group_words], group_words);
      add_group(reserve, group, integers.subspan(g * lanes, std::min(lanes, count - g * lanes)));
    }
    integers = integers.subspan(count);
  }
}

}  // namespace starling::laplace_draws
