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
  /// Starts the stream of another key, reusing the cipher's state.
  void restart(const NoiseKey& key);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// log2 of the fixed scale t of the discrete Laplace noise.
inline constexpr int laplace_scale_bits = 40;

/// Exact draw of the discrete Laplace distribution of scale t = 2^40: P(k) ∝ exp(−|k|/t). Canonne, Kamath and Steinke
/// (2020), algorithms 1 and 2, in 64-bit integers.
[[nodiscard]] std::int64_t discrete_laplace(Keystream& words);

/// Continuous Laplace of the given scale in double precision: for `--mechanism dissertation` only, and no more private
/// than floating point allows.
[[nodiscard]] double floating_laplace(Keystream& words, double scale);

}  // namespace starling
