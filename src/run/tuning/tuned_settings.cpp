#include "run/tuning/tuned_settings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "files/tell_user.hpp"
#include "options/option.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

void KeptChoices::persist(Snapshot& snapshot) {
  std::vector<std::string> words;
  for (const TunedValue& each : tuning_.chosen) words.insert(words.end(), {each.option, each.value, each.reason});
  snapshot(words);
  snapshot(tuning_.signal_to_noise);
  snapshot(tuning_.most_lost);
  snapshot(tuning_.worth);
  tuning_.chosen.clear();
  for (std::size_t i = 0; i + 2 < words.size(); i += 3)
    tuning_.chosen.push_back({words[i], words[i + 1], words[i + 2]});
}

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
