#include "kept_notes.hpp"

#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "report/view/json.hpp"

namespace starling {

namespace {

Json json_or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

std::optional<double> number_or_none(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

}  // namespace

KeptNotes KeptNotes::parse(const std::string& json, const std::string& file) {
  KeptNotes kept;
  if (json.empty()) return kept;
  try {
    const Json of_run = Json::parse(json);
    of_run.at("notes").get_to(kept.notes);
    for (const Json& each : of_run.at("chosen")) kept.tuning.chosen.push_back({each.at(0), each.at(1), each.at(2)});
    kept.tuning.signal_to_noise = number_or_none(of_run.at("signal_to_noise")).value_or(0);
    kept.tuning.most_lost = number_or_none(of_run.at("most_lost"));
    kept.shared.add(std::to_string(of_run.value("shared", std::uint64_t{0})));
    kept.tuning.worth = number_or_none(of_run.at("worth"));
    kept.scores_released = of_run.value("scores_released", false);
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("'{}' is damaged: {}. Put it back as the run wrote it.", file, error.what()));
  }
  return kept;
}

std::string KeptNotes::text() const {
  Json chosen = Json::array();
  for (const TunedValue& each : tuning.chosen) chosen.push_back({each.option, each.value, each.reason});
  const Json json{{"notes", notes},
                  {"chosen", chosen},
                  {"shared", std::stoull(shared.text())},
                  {"signal_to_noise", tuning.signal_to_noise},
                  {"most_lost", json_or_null(tuning.most_lost)},
                  {"worth", json_or_null(tuning.worth)},
                  {"scores_released", scores_released}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace starling
