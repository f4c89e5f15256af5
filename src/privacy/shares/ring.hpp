/// Arithmetic modulo 2^64 and 2^128 on additive shares (docs/methods/shares.md).
///
/// A number x is shared among K parties as words x_1, …, x_K with Σ x_k = x modulo the size of the ring. All but one of
/// them are uniform and independent, so that any K − 1 of them say nothing of x. Signed numbers are kept in two's
/// complement. Reals are fixed-point numbers: the integer nearest to 2^f times the real.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace starling {

/// A number modulo 2^64.
using Word = std::uint64_t;
/// A number modulo 2^128.
__extension__ using WideWord = unsigned __int128;
__extension__ using SignedWide = __int128;

/// to[i] += from[i]. Equal lengths.
void add_words(std::span<const Word> from, std::span<Word> to);
void add_words(std::span<const WideWord> from, std::span<WideWord> to);
/// to[i] −= from[i]. Equal lengths.
void subtract_words(std::span<const Word> from, std::span<Word> to);
void subtract_words(std::span<const WideWord> from, std::span<WideWord> to);

/// product[j] += Σ_i matrix[i, j] v[i] modulo 2^64, for a matrix of v.size() rows of product.size() words.
void add_transposed_product(std::span<const Word> matrix, std::span<const Word> v, std::span<Word> product);

/// The wide words as twice as many words, low halves first, and back.
[[nodiscard]] std::vector<Word> halves_of(std::span<const WideWord> wide);
[[nodiscard]] std::vector<WideWord> from_halves(std::span<const Word> halves);

/// Truncation of shared numbers: division by 2^m, where a dealer knows a random r and the parties its shares.
///
/// Let x be in [−2^126, 2^126), y = x + 2^126 in [0, 2^127), and r uniform modulo 2^128. The parties open
/// c = y + r mod 2^128, which is uniform whatever x is. There is an overflow, y + r >= 2^128, exactly if r >= 2^127 and
/// c < 2^127: without an overflow r >= 2^127 gives c >= 2^127; with one, r > 2^128 − 2^127 and c = y + r − 2^128 <
/// 2^127, since y < 2^127. So with t = 1 where r >= 2^127 (else 0) and o = t · [c < 2^127],
///
///   ⌊(y + r)/2^m⌋ = ⌊c/2^m⌋ + o 2^(128−m),   ⌊(y + r)/2^m⌋ = ⌊y/2^m⌋ + ⌊r/2^m⌋ + e,   e in {0, 1},
///
/// and ⌊x/2^m⌋ = ⌊y/2^m⌋ − 2^(126−m) for m <= 126. What the parties compute of shares of ⌊r/2^m⌋ and t is therefore
/// ⌊x/2^m⌋ + e exactly: linear in the shares, since c is open. e depends on x mod 2^m and r alone.
class Truncation {
 public:
  /// Divides by 2^m, 1 <= m <= 126.
  explicit Truncation(int bits) : bits_(bits) {}

  /// 2^126, which one party adds to its share before it is opened.
  [[nodiscard]] static WideWord offset() { return WideWord{1} << 126; }
  /// ⌊r/2^m⌋ modulo 2^64, which the dealer shares.
  [[nodiscard]] Word high(WideWord r) const { return static_cast<Word>(r >> bits_); }
  /// t, which the dealer shares.
  [[nodiscard]] static Word top(WideWord r) { return static_cast<Word>(r >> 127); }
  /// A party's share of ⌊x/2^m⌋ + e, from the opened c and its shares of ⌊r/2^m⌋ and t. One party is `first`: it alone
  /// adds what is open.
  [[nodiscard]] Word share(WideWord c, Word high_share, Word top_share, bool first) const {
    Word result = first ? static_cast<Word>(c >> bits_) - static_cast<Word>(offset() >> bits_) : 0;
    result -= high_share;
    const bool below = (c >> 127) == 0;
    if (below) result += top_share * static_cast<Word>(WideWord{1} << (128 - bits_));
    return result;
  }

 private:
  int bits_;
};

}  // namespace starling
