/// A second sampler of the discrete Laplace distribution, to check the production one against: reference, for tests. It
/// shares no code with it, and works at every scale 2^0 … 2^40, where the small ones let every integer be counted.
#pragma once

#include <cstdint>

#include "starling/core/check.hpp"
#include "starling/privacy/keys/keystream.hpp"

namespace starling::testing_support {

/// Uniform on {0, …, n − 1}, 1 ≤ n ≤ 2^63. Words from the largest multiple of n upwards are drawn again, so each
/// residue belongs to equally many of the words that are kept.
inline std::uint64_t uniform_below(Keystream& words, std::uint64_t n) {
  if ((n & (n - 1)) == 0) return words() & (n - 1);
  while (true) {
    const std::uint64_t word = words();
    // 2^64 − n is not above that multiple, 2^64 − (2^64 mod n): a word below it needs no division to be kept.
    if (word < 0 - n || word < 0 - (0 - n) % n) return word % n;
  }
}

/// Bernoulli(exp(−numerator / 2^bits)), numerator ≤ 2^bits (algorithm 1): with A_k ~ Bernoulli(γ / k) until the first
/// 0, at k = K, P(K is odd) = Σ_j (−γ)^j / j! = exp(−γ). Exact: uniform_below() is uniform on k·2^bits values, of which
/// `numerator` lie under `numerator`, so the comparison holds with probability γ / k. k·2^bits stays below 2^63: k
/// reaches 2^23 with probability less than 1 / 2^23!.
inline bool bernoulli_exp_minus(Keystream& words, std::uint64_t numerator, int bits) {
  std::uint64_t k = 1;
  while (uniform_below(words, k << bits) < numerator) ++k;
  return k % 2 == 1;
}

/// Bernoulli(exp(−1)): the same with γ = 1, where A_1 = 1 always and P(A_k = 1) = 1/k.
inline bool bernoulli_exp_minus_one(Keystream& words) {
  std::uint64_t k = 2;
  while (uniform_below(words, k) == 0) ++k;
  return k % 2 == 1;
}

/// Number of successes of Bernoulli(exp(−1)) before the first failure.
inline std::uint64_t whole_scales(Keystream& words) {
  std::uint64_t count = 0;
  while (bernoulli_exp_minus_one(words)) ++count;
  check<FailureError>(count < (std::uint64_t{1} << 20),
                      "the noise generator is broken (a draw of probability exp(-2^20))");
  return count;
}

/// Exact draw of the discrete Laplace distribution of scale t = 2^scale_bits: P(k) = (1 − α)/(1 + α) · α^|k| with α =
/// exp(−1/t). Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy" (2020), algorithms 1 and 2,
/// in 64-bit integers: no floating point, so the probabilities hold exactly, given uniform words.
/// Throws FailureError at |k| ≥ 2^20·t, which has probability exp(−2^20): the words are then not uniform.
[[nodiscard]] inline std::int64_t reference_laplace(Keystream& words, int scale_bits = laplace_scale_bits) {
  check(scale_bits >= 0 && scale_bits <= laplace_scale_bits, "scale_bits={} (must be in 0 to {})", scale_bits,
        laplace_scale_bits);
  while (true) {
    // Bits of a uniform word are independent: the low ones give U, uniform on {0, …, t − 1}, the top one the sign.
    const std::uint64_t word = words();
    const std::uint64_t rest = word & ((std::uint64_t{1} << scale_bits) - 1);
    if (!bernoulli_exp_minus(words, rest, scale_bits)) continue;
    // U + t V is geometric: P(x) ∝ exp(−x/t), x = 0, 1, …; at most 2^40·2^20.
    const std::uint64_t magnitude = rest + (whole_scales(words) << scale_bits);
    const bool negative = (word >> 63) != 0;
    if (negative && magnitude == 0) continue;  // zero has one sign only (algorithm 2)
    const auto value = static_cast<std::int64_t>(magnitude);
    return negative ? -value : value;
  }
}

}  // namespace starling::testing_support
