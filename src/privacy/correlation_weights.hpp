/// The weights of correlated noise as integers, and what follows from them exactly.
#pragma once

#include <array>
#include <cstdint>

#include "privacy/correlation.hpp"

namespace starling {

/// ω_j and θ_j in units of 2^-20.
struct CorrelationWeights {
  static constexpr int digits = 20;
  static constexpr std::int64_t one = std::int64_t{1} << digits;

  std::array<std::int64_t, NoiseCorrelation::buffers> omega{};  ///< 1 to one − 1
  std::array<std::int64_t, NoiseCorrelation::buffers> theta{};  ///< 0 to one − 1

  /// (1 − θ_1)(1 − θ_2)(1 − Σ_j ω_j/(1 − θ_j)), exact. Positive for weights of a correlation.
  [[nodiscard]] double gap() const;
  /// Σ c over endless rounds: 1/(1 − Σ_j ω_j/(1 − θ_j)), to a relative 2^-50.
  [[nodiscard]] double column_sum() const;
};

/// Throws UsageError unless the correlation is within its ranges (correlation.hpp).
[[nodiscard]] CorrelationWeights weights_of(const NoiseCorrelation& correlation);

}  // namespace starling
