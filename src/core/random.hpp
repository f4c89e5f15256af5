/// Random numbers for experiments, addressed by identity. The draws of (purpose, client, round) depend neither on the
/// caller, nor on the order of calls, nor on the number of ranks. Philox 4×64, ten rounds (Salmon et al. 2011;
/// Random123).
/// Not for privacy: noise comes from privacy/keys/keystream.hpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include <Random123/philox.h>

namespace starling {

/// Purpose of draws. The purpose is part of the address, so that two uses never share a stream. The values are stable:
/// reproducibility of runs depends on them.
enum class Purpose : std::uint64_t {
  data = 1,
  partition = 2,
  topology = 3,
  test_data = 4,
  experiment = 5,
  attendance = 6,
  link_loss = 7,
  start_values = 8,
  energy = 20,
};

/// A uniform random bit generator over the words of one address.
class AddressedRandom {
 public:
  using result_type = std::uint64_t;
  AddressedRandom(std::uint64_t seed, Purpose purpose, std::uint64_t client, std::uint64_t round)
      : key_{{seed, static_cast<std::uint64_t>(purpose)}}, counter_{{0, client, round, 0}} {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() {
    if (used_ == 4) {
      words_ = r123::Philox4x64()(counter_, key_);
      ++counter_[0];
      used_ = 0;
    }
    return words_[used_++];
  }

  /// Uniform on [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }
  /// Uniform on (0, 1].
  double positive_uniform() { return static_cast<double>(((*this)() >> 11) + 1) * 0x1.0p-53; }
  /// Uniform on {0, …, n − 1}, without bias (Lemire 2019).
  std::uint64_t below(std::uint64_t n) {
    __extension__ using Wide = unsigned __int128;
    Wide product = static_cast<Wide>((*this)()) * n;
    if (static_cast<std::uint64_t>(product) < n) {
      const std::uint64_t threshold = (0 - n) % n;
      while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<Wide>((*this)()) * n;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }
  /// Standard normal by Box and Muller.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(positive_uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  /// Gamma with the given shape, scale 1 (Marsaglia and Tsang 2000; boosted below shape 1).
  double gamma(double shape) {
    if (shape < 1) {
      const double boosted = gamma(shape + 1);  // drawn first; compilers may evaluate the operands of * in any order
      return boosted * std::pow(positive_uniform(), 1 / shape);
    }
    const double d = shape - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    while (true) {
      const double x = normal();
      const double root = 1 + c * x;
      if (root <= 0) continue;
      const double v = root * root * root;
      if (std::log(positive_uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
    }
  }

 private:
  r123::Philox4x64::key_type key_;
  r123::Philox4x64::ctr_type counter_;
  r123::Philox4x64::ctr_type words_{};
  unsigned used_ = 4;
};

}  // namespace starling
