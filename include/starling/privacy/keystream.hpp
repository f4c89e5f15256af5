/// ChaCha20 keystream as a source of uniform words, and exact samplers on it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "starling/privacy/keys.hpp"

namespace starling {

/// The keystream of one release key, nonce and counter zero. Words are little-endian.
class Keystream {
 public:
  explicit Keystream(const NoiseKey& key);
  ~Keystream();
  Keystream(Keystream&&) noexcept;
  Keystream& operator=(Keystream&&) noexcept;

  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  std::uint64_t operator()();
  /// Starts the stream of another key, reusing the cipher's state: nothing is allocated.
  void restart(const NoiseKey& key);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// log2 of the fixed scale t of the discrete Laplace noise.
inline constexpr int laplace_scale_bits = 40;

/// Exact draw of the discrete Laplace distribution of scale t = 2^scale_bits: P(k) = (1 − α)/(1 + α) · α^|k| with
/// α = exp(−1/t). Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy" (2020), algorithms 1
/// and 2, in 64-bit integers: no floating point, so the probabilities hold exactly, given uniform words. The number of
/// words that a draw takes depends on the draw.
/// `scale_bits` is in 0 … 40; other scales than the production one serve tests, where every integer can be counted.
/// Throws FailureError at |k| ≥ 2^20·t, which has probability exp(−2^20): the words are then not uniform.
[[nodiscard]] std::int64_t discrete_laplace(Keystream& words, int scale_bits = laplace_scale_bits);

/// Continuous Laplace of the given scale in double precision: for `--mechanism dissertation` only, and no more private
/// than floating point allows (Mironov 2012).
[[nodiscard]] double floating_laplace(Keystream& words, double scale);

}  // namespace starling
