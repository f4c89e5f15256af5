/// Settings of federated averaging.
#pragma once

#include <string>

#include "core/links.hpp"
#include "model/squared_penalty.hpp"
#include "protocol/step_schedule.hpp"

namespace starling {

/// Settings of a run; η_t is the step schedule's length of step t.
struct FedAvgSettings : StepSchedule {
  Round rounds = 1;
  Round local_steps = 1;             ///< E
  SquaredPenalty l2;                 ///< added after the release, since it depends on no record
  double proximal = 0;               ///< μ of FedProx
  bool controls = false;             ///< whether steps have the control variates of SCAFFOLD
  std::string precision = "double";  ///< quantiser of messages

  /// Length of a local step, counted from 0 over the run, in round t >= 0. `zero_at` counts local steps.
  [[nodiscard]] double length(Round t, Round local_step) const {
    return zero_at > 0 ? step_at(local_step) : power_step_at(t);
  }
};

}  // namespace starling
