#include "protocol/step_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace starling {

double StepSchedule::step_at(Round t) const {
  if (falls_to_zero()) {
    return std::min(longest,
                    step * (static_cast<double>(std::max<Round>(zero_at - t, 0)) / static_cast<double>(zero_at)));
  }
  const double place = static_cast<double>(t + 1) + step_offset;
  return step / (step_power == 0.5 ? std::sqrt(place) : std::pow(place, step_power));
}

double StepSchedule::power_step_at(Round t) const {
  return step * std::pow(static_cast<double>(t + 1) + step_offset, -step_power);
}

double StepSchedule::steps_between(Round begin, Round end) const {
  if (falls_to_zero()) {
    end = std::min(end, zero_at);
    const double flat = longest < step ? std::ceil(static_cast<double>(zero_at) * (1 - longest / step)) : 0;
    const Round line = std::clamp(static_cast<Round>(flat), begin, std::max(begin, end));  // from here on below L
    const auto bounded = static_cast<double>(line - begin);
    const auto falling = static_cast<double>(std::max<Round>(end - line, 0));
    return (bounded > 0 ? bounded * longest : 0) + (falling > 0 ? falling * (step_at(line) + step_at(end - 1)) / 2 : 0);
  }
  const double low = static_cast<double>(begin) + 0.5 + step_offset;
  const double high = static_cast<double>(end) + 0.5 + step_offset;
  const double power = 1 - step_power;
  const double integral =
      std::abs(power) < 1e-9 ? std::log(high / low) : (std::pow(high, power) - std::pow(low, power)) / power;
  return step * integral;
}

}  // namespace starling
