/// Settings of stochastic gradient descent under local differential privacy.
#pragma once

#include "core/links.hpp"
#include "protocol/step_schedule.hpp"

namespace starling {

/// Settings of a run; γ_i is the step schedule's length of step i, with α = 0.51 by default.
struct LdpSgdSettings : StepSchedule {
  LdpSgdSettings() : StepSchedule{1, 0.51, 0} {}
  Round steps = 1;
  Round first_round = 0;     ///< rounds before are left out
  bool follow_bias = false;  ///< whether clients send each step's released curvature, for the bias of the average
  Round burn_in = 0;         ///< first steps, which the average and the bias leave out
};

}  // namespace starling
