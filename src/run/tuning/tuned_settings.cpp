#include "run/tuning/tuned_settings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "files/tell_user.hpp"
#include "options/option.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

void print_tuning(const std::vector<TunedValue>& values, const std::string& outlook) {
  for (const TunedValue& each : values) {
    tell_user("tuning: {} {}: {}\n", each.option, shown_value(each.value), each.reason);
  }
  if (!outlook.empty()) tell_user("tuning: {}\n", outlook);
}

void keep_in_range(TunedValue& chosen) {
  if (chosen.option != "batch" && chosen.option != "clip" && chosen.option != "step") return;
  const Option option = declared(chosen.option);
  const double value = std::stod(chosen.value);
  const double kept = std::clamp(value, *option.range.least, *option.range.most);
  if (kept == value) return;
  chosen.reason = fmt::format("the {} that can be, in place of {}", kept < value ? "most" : "least", chosen.value);
  chosen.value = fmt::format("{}", kept);
}

}  // namespace starling
