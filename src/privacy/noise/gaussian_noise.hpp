/// Correctly rounded Gaussian noise (docs/methods/privacy.md, "One release"): integers k = round(σ Z), Z exactly
/// standard normal.
///
/// A draw is a sign and a tail probability U in (0, 1/2) of as many binary digits as are needed: |Z| = −Φ⁻¹(U) and
/// |k| = round(σ |Z|). Given uniform words, k is the exact rounding of σ Z: integer data plus k is the rounding of data
/// plus σ Z, a function of what the continuous Gaussian mechanism releases, so μ = Δ₂/σ holds as it does there (Dong,
/// Roth and Su, "Gaussian differential privacy", 2022, theorem 1 and post-processing).
///
/// The first word of a draw holds the sign (its top bit) and 63 digits of U. They give σ |Z| with a proven error
/// (src/privacy/noise/gaussian_table.hpp); only where a half-integer lies within it, or U < 2^-22, more digits are
/// drawn and U is compared with Q((k ± 1/2)/σ) in MPFR with directed rounding, at growing precision, until one is
/// proven larger. That loop ends with probability 1.
///
/// Timing. All draws take the same instructions but those few, one in 180,000 at σ = 2^41 (μ = 1) and one in a
/// hundred at 2^52, which take some ten microseconds; which piece of a table a draw reads depends on the draw.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "privacy/keys/keystream.hpp"

namespace starling {

/// The noise of one scale.
class GaussianNoise {
 public:
  static constexpr double smallest_sigma = 0x1p4;
  static constexpr double largest_sigma = 0x1p56;
  /// |k| is less than this. A draw that would not be has probability P(|Z| ≥ 2^61/σ), less than 10^-223 at the largest
  /// σ and less still below: it ends in a FailureError, since the words cannot have been uniform.
  static constexpr std::int64_t bound = std::int64_t{1} << 61;

  /// σ in integers. Throws UsageError unless it is in [2^4, 2^56].
  explicit GaussianNoise(double sigma);

  [[nodiscard]] double sigma() const { return sigma_; }

  /// Adds to each integer its own draw; the same, and the same words taken, as that many single draws. Allocates only
  /// for draws that need more than one word. Throws UsageError unless all integers are in [−2^62, 2^62), FailureError
  /// as above; `integers` then hold a mixture that must not be used.
  void add(Keystream& words, std::span<std::int64_t> integers) const;
  /// One draw.
  [[nodiscard]] std::int64_t operator()(Keystream& words) const;

  /// The result of the first word.
  struct FirstTry {
    std::int64_t value;  ///< k, if `decided`; else near it, unless the word is in the extreme tail
    bool decided;
  };
  [[nodiscard]] FirstTry first_try(std::uint64_t word) const;
  /// The draw that starts with this word; `more` gives the further words. In MPFR from the start: slow, and the same
  /// as `first_try` where that is decided. Throws FailureError as above.
  [[nodiscard]] std::int64_t exact(std::uint64_t word, const std::function<std::uint64_t()>& more) const;
  /// The share of first words that do not decide their draw: from the table's bounds, fractions of σ |Z| being uniform.
  [[nodiscard]] double undecided_share() const;

 private:
  static constexpr std::size_t octaves = 21;
  /// How `first_try` rounds in an octave of the table.
  struct Octave {
    std::uint64_t half_minus_error;
    std::uint64_t twice_error;
    std::uint64_t shift;
  };
  /// |k| is in [lowest, highest] if `known`.
  struct Range {
    std::uint64_t lowest;
    std::uint64_t highest;
    bool known;
  };
  [[nodiscard]] inline Range range(std::uint64_t word) const;
  [[nodiscard]] std::int64_t resolve(std::uint64_t word, const std::function<std::uint64_t()>& more) const;

  double sigma_;
  std::uint64_t significand_ = 0;
  std::array<Octave, octaves> octaves_{};
};

}  // namespace starling
