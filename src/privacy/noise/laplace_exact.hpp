/// One draw of the discrete Laplace noise of scale t = 2^40 (docs/methods/privacy.md, "One release"), over any source
/// of uniform words, so that tests can write the words themselves. laplace_draws.hpp makes many draws at once.
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
/// The only inexact step: digit 5 of V − 1, which is 1 with probability 1 / (1 + e^256) < 2^-369 (and has to be
/// reached, probability e^-8), and those above it are taken as 0: below the resolution of the constants, 256 bits.
/// Where a fraction agrees with its constant in all 256 bits (probability 2^-256: as likely as guessing the noise key)
/// the draw fails instead of taking a side. Hence X < 2^43 · 33.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/check.hpp"
#include "privacy/keys/keystream.hpp"

namespace starling::laplace_draws {

inline constexpr int low_digits = 32;  ///< digits of U
inline constexpr int tail_digit = 43;  ///< the first digit of V
inline constexpr std::size_t middle_digits = tail_digit - low_digits;
inline constexpr int tail_digits = 5;  ///< digits of V − 1 that are drawn

/// A binary fraction of 256 digits, the first ones first.
using Threshold = std::array<std::uint16_t, 16>;
/// P(digit = 1) of digits 32 … 47, then P(V ≥ 1): the true values lie above these by less than 2^-256. (In a file of
/// their own: compilers that see the values make each one anew where it is used, from three instructions.)
extern const std::array<Threshold, 17> thresholds;
inline constexpr std::size_t tail_row = 16;

/// One lane's words.
struct Lane {
  std::uint32_t low = 0;
  std::uint32_t top = 0;
  std::array<std::uint16_t, middle_digits + 1> fractions{};
};

/// Whether a uniform fraction that starts with `first` is less than the threshold.
template <class Words>
bool below(Words& words, const Threshold& threshold, std::uint16_t first) {
  if (first != threshold[0]) return first < threshold[0];
  for (std::size_t i = 1; i < threshold.size(); ++i) {
    const auto piece = static_cast<std::uint16_t>(words());
    if (piece != threshold[i]) return piece < threshold[i];
  }
  throw FailureError(
      "the noise generator is broken: 256 bits of it agree with a constant, which has a probability of 2^-256.");
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

}  // namespace starling::laplace_draws
