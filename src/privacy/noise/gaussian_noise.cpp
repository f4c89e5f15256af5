#include "privacy/noise/gaussian_noise.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/memory/wipe.hpp"
#include "gaussian_exact.hpp"
#include "gaussian_table.hpp"

namespace starling {

namespace {

using gaussian_table::Cell;

std::int64_t with_sign(std::uint64_t magnitude, std::uint64_t word) {
  const std::uint64_t mask = 0 - (word >> 63);
  return static_cast<std::int64_t>((magnitude ^ mask) - mask);
}

/// z(U) of a word, roughly, for the search to start from: Newton's iteration for ln Q(z) = ln U, from above, where it
/// converges (ln Q is concave).
double rough_quantile(std::uint64_t word) {
  const double tail = std::ldexp(static_cast<double>(Cell(word).centre), -65);
  double z = std::sqrt(std::max(0.0, -2 * std::log(2 * tail)));
  for (int i = 0; i < 6; ++i) {
    const double upper = std::erfc(z * std::sqrt(0.5)) / 2;
    z += std::log(upper / tail) * upper * std::sqrt(2 * std::acos(-1.0)) * std::exp(z * z / 2);
  }
  return std::max(z, 0.0);
}

/// Words of a stream, read ahead in blocks; wiped on destruction.
class WordsAhead {
 public:
  explicit WordsAhead(Keystream& stream) : stream_(stream) {}
  ~WordsAhead() { wipe(block_.data(), most_ * sizeof(std::uint64_t)); }
  WordsAhead(const WordsAhead&) = delete;
  WordsAhead& operator=(const WordsAhead&) = delete;

  /// The words that were read and not taken; reads some if there are none. `needed` must be sure to be taken at last,
  /// so that the stream ends up where it would be if it had been read word by word.
  std::span<const std::uint64_t> ahead(std::size_t needed) {
    if (ahead_.empty()) {
      const std::span<std::uint64_t> fresh(block_.data(), std::min(block_.size(), needed));
      stream_.words(fresh);
      most_ = std::max(most_, fresh.size());
      ahead_ = fresh;
    }
    return ahead_;
  }
  void take(std::size_t count) { ahead_ = ahead_.subspan(count); }
  std::uint64_t operator()() {
    const std::uint64_t word = ahead(1).front();
    take(1);
    return word;
  }

 private:
  Keystream& stream_;
  std::span<const std::uint64_t> ahead_;
  std::size_t most_ = 0;
  std::array<std::uint64_t, 512> block_;
};

}  // namespace

// With σ = S · 2^(e−63), S in [2^63, 2^64), and q = `quantile`, which is z in units of 2^-(61+x) to within E, σ z is
// near q S · 2^(e−124−x). Of the exact product q S the upper half H is kept. As S < 2^64, σ z lies in (H − E, H + 1 +
// E) in units of 2^-s, s = 60 + x − e. So round(σ z) = ⌊σ z + 1/2⌋ lies between ⌊(H + 2^(s−1) − E) / 2^s⌋ and ⌊(H +
// 2^(s−1) + E) / 2^s⌋, and where they agree it is certain. For 4 ≤ e ≤ 56 we have 4 ≤ s ≤ 59;
// tests/privacy/noise/gaussian_noise_test.cpp checks at the ends of all octaves that no sum wraps.
GaussianNoise::GaussianNoise(double sigma) : sigma_(sigma) {
  static_assert(octaves == gaussian_table::octaves);
  check(sigma >= smallest_sigma && sigma <= largest_sigma,
        "sigma={} steps: must be in [2^4, 2^56]; the Gaussian sampler is proved there. Choose another mu.", sigma);
  const int exponent = std::ilogb(sigma);
  significand_ = static_cast<std::uint64_t>(std::ldexp(sigma, 63 - exponent));
  for (std::size_t j = 0; j < octaves; ++j) {
    const gaussian_table::Octave& octave = gaussian_table::table.octave[j];
    const auto shift = static_cast<std::uint64_t>(60 + octave.extra_bits - exponent);
    octaves_[j] = {(std::uint64_t{1} << (shift - 1)) - octave.error, 2 * octave.error, shift};
  }
}

inline GaussianNoise::Range GaussianNoise::range(std::uint64_t word) const {
  __extension__ using Wide = unsigned __int128;
  const Cell cell(word);
  const Octave& octave = octaves_[static_cast<std::size_t>(cell.octave)];
  const auto upper_half = static_cast<std::uint64_t>((Wide{gaussian_table::quantile(cell)} * significand_) >> 64);
  const std::uint64_t least = upper_half + octave.half_minus_error;
  return {least >> octave.shift, (least + octave.twice_error) >> octave.shift,
          cell.centre >= gaussian_table::smallest_cell};
}

GaussianNoise::FirstTry GaussianNoise::first_try(std::uint64_t word) const {
  const Range found = range(word);
  return {with_sign(found.lowest, word), found.known && found.lowest == found.highest};
}

std::int64_t GaussianNoise::exact(std::uint64_t word, const std::function<std::uint64_t()>& more) const {
  const auto hint = static_cast<std::int64_t>(std::min(rough_quantile(word) * sigma_, static_cast<double>(bound - 1)));
  return with_sign(static_cast<std::uint64_t>(find_gaussian_magnitude(sigma_, word, more, hint, bound)), word);
}

std::int64_t GaussianNoise::resolve(std::uint64_t word, const std::function<std::uint64_t()>& more) const {
  const Range found = range(word);
  if (!found.known) return exact(word, more);
  const auto lowest = static_cast<std::int64_t>(found.lowest);
  const auto highest = static_cast<std::int64_t>(found.highest);
  return with_sign(static_cast<std::uint64_t>(choose_gaussian_magnitude(sigma_, word, more, lowest, highest)), word);
}

void GaussianNoise::add(Keystream& words, std::span<std::int64_t> integers) const {
  std::uint64_t high_bits = 0;
  for (const std::int64_t q : integers) high_bits |= static_cast<std::uint64_t>(q ^ (q >> 63));
  check(high_bits >> 62 == 0,
        "an integer is outside [-2^62, 2^62), and noise added to it could overflow. Use larger steps.");
  WordsAhead stream(words);
  while (!integers.empty()) {
    // No more words are ahead than draws are left, and every draw takes one.
    const std::span<const std::uint64_t> first = stream.ahead(integers.size());
    std::size_t done = 0;
    for (; done < first.size(); ++done) {
      const Range found = range(first[done]);
      if (!found.known || found.lowest != found.highest) [[unlikely]] {
        break;
      }
      integers[done] += with_sign(found.lowest, first[done]);
    }
    stream.take(done);
    integers = integers.subspan(done);
    if (done == first.size()) continue;
    const std::uint64_t word = stream();
    integers.front() += resolve(word, [&stream] { return stream(); });
    integers = integers.subspan(1);
  }
}

std::int64_t GaussianNoise::operator()(Keystream& words) const {
  std::int64_t integer = 0;
  add(words, {&integer, 1});
  return integer;
}

double GaussianNoise::undecided_share() const {
  double share = std::ldexp(1.0, -static_cast<int>(octaves));
  for (std::size_t j = 0; j < octaves; ++j) {
    const double window =
        std::ldexp(static_cast<double>(octaves_[j].twice_error), -static_cast<int>(octaves_[j].shift));
    share += std::ldexp(std::min(1.0, window), -static_cast<int>(j) - 1);
  }
  return share;
}

}  // namespace starling
