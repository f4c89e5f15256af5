/// Step lengths of gradient and mirror descent, the same rule in every mode.
#pragma once

#include <limits>

#include "core/links.hpp"

namespace starling {

/// The rule of a run's step lengths: η_t = c / (t + i0)^p in step t = 1, 2, …, or, where they fall along a line,
/// η_t = min(c (1 − (t − 1)/T), L) (docs/methods/decentralized.md, "Steps").
struct StepSchedule {
  double step = 1;          ///< c > 0
  double step_power = 0.5;  ///< p >= 0
  double step_offset = 0;   ///< i0 >= 0
  Round zero_at = 0;        ///< T, the round from which steps that fall along a line are 0; 0: they are powers
  double longest = std::numeric_limits<double>::infinity();  ///< L, of steps that fall along a line

  [[nodiscard]] bool falls_to_zero() const { return zero_at > 0; }
  /// η_1, without the bound L.
  [[nodiscard]] double first_step() const { return falls_to_zero() ? step : step_at(0); }

  /// Length of round t >= 0, which is step t + 1, as a quotient: for mirror descent.
  [[nodiscard]] double step_at(Round t) const;
  /// The same length as a product c (t + 1 + i0)^(−p), which may round differently: for the modes with an aggregator.
  [[nodiscard]] double power_step_at(Round t) const;
  /// Σ of lengths over the rounds begin, …, end − 1; of powers by the midpoint rule, whose relative error is below
  /// p² / (24 begin²).
  [[nodiscard]] double steps_between(Round begin, Round end) const;
};

}  // namespace starling
