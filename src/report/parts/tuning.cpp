// What a rule chose of the options that were left open.
#include "parts.hpp"

namespace starling {

namespace {

void add_tuning(const Summary& summary, Json& json) {
  const auto* const tuning = summary.find<Tuning>();
  if (tuning == nullptr || tuning->chosen.empty()) return;
  const auto chosen = [](const TunedValue& each) {
    return Json{{"option", each.option}, {"value", each.value}, {"reason", each.reason}};
  };
  json["tuning"] = {{"chosen", json_list(tuning->chosen, chosen)},
                    {"signal_to_noise", number_json(tuning->signal_to_noise)},
                    {"most_lost", tuning->most_lost ? number_json(*tuning->most_lost) : Json()}};
}

std::string tuning_rows(const SummaryView& summary) {
  std::string text;
  for (const SummaryView& each : summary.list("tuning.chosen")) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", each.text("option"), shown_value(each.text("value")));
  }
  return text.empty() ? "" : table_row("chosen", text + "  (--tuning auto)");
}

}  // namespace

std::string shown_value(const std::string& value) {
  constexpr std::size_t most = 40;
  return value.size() <= most ? value : value.substr(0, most - 3) + "...";
}

const SummaryPart tuning_part{add_tuning, tuning_rows};

}  // namespace starling
