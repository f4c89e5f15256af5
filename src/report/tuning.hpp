/// Values that a rule has chosen, as a part of the summary.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace starling {

/// A value that a rule has chosen for an option that was left open.
struct TunedValue {
  std::string option;  ///< without dashes
  std::string value;
  std::string reason;
};

/// The choices of --tuning auto.
struct Tuning {
  std::vector<TunedValue> chosen;
  double signal_to_noise = 0;       ///< ρ of the rule (docs/methods/learning-rule.md); 0 where it is not known
  std::optional<double> most_lost;  ///< expected at most, in points; none where it cannot be foretold
  std::optional<double> worth;      ///< of the joint model, in records of one client without noise; none: not known
};

/// A chosen value for people: the beginning of a long one.
[[nodiscard]] std::string shown_value(const std::string& value);

}  // namespace starling
