// What a rule chose of the options that were left open, and the factor of scores.
#include "report/tuning.hpp"

#include "parts.hpp"

namespace starling {

namespace {

void add_tuning(const Summary& summary, Json& json) {
  if (const auto* const scaled = summary.find<ScaledScores>())
    json["scaled_scores"] = {{"factor", scaled->factor}, {"error", scaled->error}};
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
  text = text.empty() ? "" : table_row("chosen", text + "  (--tuning auto)");
  if (!summary.has("scaled_scores")) return text;
  return text + table_row("scores",
                          fmt::format("multiplied by {:.3g}, error of its logarithm {:.2g}  (--score-share)",
                                      summary.number("scaled_scores.factor"), summary.number("scaled_scores.error")));
}

}  // namespace

std::string shown_value(const std::string& value) {
  constexpr std::size_t most = 40;
  return value.size() <= most ? value : value.substr(0, most - 3) + "...";
}

const SummaryPart tuning_part{add_tuning, tuning_rows};

}  // namespace starling
