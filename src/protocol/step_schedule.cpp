#include "starling/protocol/step_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace starling {

double StepSchedule::step_at(Round t) const {
  if (zero_at > 0) return step * (static_cast<double>(std::max<Round>(zero_at - t, 0)) / static_cast<double>(zero_at));
  const double place = static_cast<double>(t + 1) + step_offset;
  return step / (step_power == 0.5 ? std::sqrt(place) : std::pow(place, step_power));
}

double StepSchedule::power_step_at(Round t) const {
  return step * std::pow(static_cast<double>(t + 1) + step_offset, -step_power);
}

double StepSchedule::steps_between(Round begin, Round end) const {
  if (zero_at > 0) {
    const auto count = static_cast<double>(std::max<Round>(std::min(end, zero_at) - begin, 0));
    return count > 0 ? count * (step_at(begin) + step_at(begin + static_cast<Round>(count) - 1)) / 2 : 0;
  }
  const double low = static_cast<double>(begin) + 0.5 + step_offset;
  const double high = static_cast<double>(end) + 0.5 + step_offset;
  const double power = 1 - step_power;
  const double integral =
      std::abs(power) < 1e-9 ? std::log(high / low) : (std::pow(high, power) - std::pow(low, power)) / power;
  return step * integral;
}

}  // namespace starling
