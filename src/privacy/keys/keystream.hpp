/// ChaCha20 keystream as a source of uniform words, and exact samplers on it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "privacy/keys/keys.hpp"

namespace starling {

/// A ChaCha20 keystream. Words are little-endian. What was drawn is wiped when the stream goes; its buffer is part of
/// it, so that drawing allocates nothing.
class Keystream {
 public:
  explicit Keystream(const StreamStart& start);
  ~Keystream();
  Keystream(Keystream&&) noexcept;
  Keystream& operator=(Keystream&&) noexcept;

  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  std::uint64_t operator()();
  /// Fills `out` with the words that as many calls of operator() would return, at the speed of the cipher where there
  /// are many. The caller wipes them.
  void words(std::span<std::uint64_t> out);
  /// Starts another stream, reusing the cipher's state: nothing is allocated.
  void restart(const StreamStart& start);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// log2 of the fixed scale t of the discrete Laplace noise.
inline constexpr int laplace_scale_bits = 40;

/// Adds to each integer its own exact draw of the discrete Laplace distribution of scale t = 2^40: P(k) = (1 − α)/(1 +
/// α) · α^|k| with α = exp(−1/t), independent of all others (docs/methods/privacy.md, "One release"). What is added
/// depends on the stream's position and on the number of integers alone, and is less than 2^49 in magnitude; one draw
/// alone is a span of length 1. The caller keeps the integers below 2^62. Uses 32 bytes of keystream for a draw, of as
/// many draws as make a multiple of 8. How it is drawn and why that is exact: src/privacy/noise/laplace_exact.hpp; in
/// what order: src/privacy/noise/laplace_draws.hpp. Throws FailureError where 256 bits of the stream agree with a
/// constant, which is as likely as a guessed key.
void add_discrete_laplace(Keystream& words, std::span<std::int64_t> integers);

/// Continuous Laplace of the given scale in double precision: for `--mechanism dissertation` only, and no more private
/// than floating point allows (Mironov 2012).
[[nodiscard]] double floating_laplace(Keystream& words, double scale);

}  // namespace starling
