/// Step lengths of gradient and mirror descent, the same rule in every mode.
#pragma once

#include "starling/core/links.hpp"

namespace starling {

/// The rule of a run's step lengths: η_t = c / (t + i0)^p in step t = 1, 2, …, or, where they fall along a line,
/// η_t = c (1 − (t − 1)/T) (docs/methods/decentralized.md, "Steps").
struct StepSchedule {
  double step = 1;          ///< c > 0
  double step_power = 0.5;  ///< p >= 0
  double step_offset = 0;   ///< i0 >= 0
  Round zero_at = 0;        ///< T, the round from which steps that fall along a line are 0; 0: they are powers

  /// Length of round t >= 0, which is step t + 1, as a quotient: for mirror descent.
  [[nodiscard]] double step_at(Round t) const;
  /// The same length as a product c (t + 1 + i0)^(−p), which may round differently: for the modes with an aggregator.
  [[nodiscard]] double power_step_at(Round t) const;
  /// Σ of lengths over the rounds begin, …, end − 1 by the midpoint rule. The relative error is below p² / (24 begin²).
  [[nodiscard]] double steps_between(Round begin, Round end) const;
};

}  // namespace starling
