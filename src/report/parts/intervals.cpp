// Intervals of coefficients, and their rows for renewable estimation.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "core/check.hpp"
#include "parts.hpp"

namespace starling {

namespace {

constexpr std::size_t most_shown = 12;

std::string interval_text(const Interval& interval, std::size_t width) {
  std::string text = fmt::format("{:<{}} {:>12}", interval.name, width, shown(interval.estimate, "{:.6g}"));
  if (std::isfinite(interval.standard_error)) text += fmt::format(" +- {:<11.4g}", interval.standard_error);
  if (!std::isfinite(interval.low) && !std::isfinite(interval.high)) return text;
  return text + fmt::format(" [{}, {}] at {} ({})", shown(interval.low, "{:.6g}"), shown(interval.high, "{:.6g}"),
                            shown(100 * interval.level, "{:.4g} %"), interval.method);
}

Json interval_json(const Interval& each) {
  Json json = {{"name", each.name},
               {"estimate", number_json(each.estimate)},
               {"standard_error", number_json(each.standard_error)},
               {"low", number_json(each.low)},
               {"high", number_json(each.high)},
               {"excludes_zero", excludes_zero(each)},
               {"level", number_json(each.level)},
               {"method", each.method}};
  if (each.client) json["client"] = *each.client;
  return json;
}

std::optional<Client> client_of(const SummaryView& interval) {
  const auto client = interval.integer("client");
  if (!client) return std::nullopt;
  check<DataError>(*client >= 0 && *client <= std::numeric_limits<Client>::max(),
                   "summary.json has an interval of client {}: there is none, so the file is damaged. Restore it.",
                   *client);
  return static_cast<Client>(*client);
}

/// Whether each client's path has settled goes beside its intervals.
Json per_client_json(const std::vector<Interval>& intervals, const RunSettling& settling) {
  const auto settled = [&](Client client) -> std::optional<bool> {
    if (!settling.knows_scales || !settling.agrees()) return false;
    const auto& paths = settling.paths;
    const auto path = std::ranges::find_if(paths, [&](const auto& p) { return p.client == client; });
    return path == paths.end() ? std::nullopt : std::optional(path->settled);
  };
  Json list = Json::array();
  std::map<Client, std::size_t> places;
  for (const Interval& each : intervals) {
    if (!each.client) continue;
    const auto [place, is_new] = places.emplace(*each.client, list.size());
    if (is_new) {
      list.push_back({{"client", *each.client}});
      if (const auto known = settled(*each.client)) list.back()["settled"] = *known;
      list.back()["intervals"] = Json::array();
    }
    Json own = interval_json(each);
    own.erase("client");
    list[place->second]["intervals"].push_back(std::move(own));
  }
  return list;
}

/// The figures of the path that is farthest from having settled, and of the clients' disagreement.
Json settling_json(const RunSettling& settling) {
  if (!settling.settled()) return nullptr;
  Json json = Json::object();
  if (settling.newton) {
    json["step"] = number_json(settling.newton->step);
    json["most_step"] = NewtonSettling::most_step;
    json["stepping"] = settling.newton->stepping;
    json["undetermined"] = settling.newton->undetermined;
    return json;
  }
  json["knows_scales"] = settling.knows_scales;
  if (!settling.paths.empty()) {
    const PathSettling& worst = settling.worst();
    json["effective_steps"] = number_json(worst.effective_steps);
    json["least_effective_steps"] = number_json(worst.least_effective_steps);
    json["slowest"] = worst.slowest;
    json["drift"] = number_json(worst.drift);
    json["most_drift"] = number_json(worst.most_drift);
    json["drifting"] = worst.drifting;
  }
  if (!settling.disagreement) return json;
  json["disagreement"] = number_json(settling.disagreement->size);
  json["most_disagreement"] = Disagreement::most;
  json["disagreeing"] = settling.disagreement->name;
  return json;
}

void add_intervals(const Summary& summary, Json& json) {
  const RunIntervals& all = summary.get<RunIntervals>();
  if (summary.aggregated || !all.intervals.empty()) json["intervals"] = json_list(all.intervals, interval_json);
  if (all.records) json["interval_records"] = number_json(*all.records);
  if (summary.command == "infer" && !all.intervals.empty()) {
    json["settled"] = all.settling.settled();
    json["settling"] = settling_json(all.settling);
  }
  if (!all.own_units.empty()) json["own_units"] = json_list(all.own_units, interval_json);
  if (Json own = per_client_json(all.intervals, all.settling); !own.empty()) json["per_client"] = std::move(own);
  if (!all.joint) return;
  json["joint"] = {{"names", all.joint->names},
                   {"statistic", number_json(all.joint->statistic)},
                   {"critical", number_json(all.joint->critical)},
                   {"level", number_json(all.joint->level)}};
}

std::string interval_rows(const SummaryView& summary) {
  if (summary.text("command") == "infer") return "";  // has a table of its own
  const std::vector<Interval> all = intervals_of(summary);
  const std::size_t listed = std::min(all.size(), most_shown);
  std::size_t width = 0;
  for (std::size_t j = 0; j < listed; ++j) width = std::max(width, all[j].name.size());
  return listed_rows("coefficients", all, most_shown, ", in summary.json and coefficients.csv",
                     [width](const Interval& each) { return interval_text(each, width); });
}

}  // namespace

const SummaryPart interval_part{add_intervals, interval_rows};

std::vector<Interval> intervals_of(const SummaryView& summary, const std::string& key) {
  std::vector<Interval> intervals;
  for (const SummaryView& each : summary.list(key)) {
    intervals.push_back({each.text("name"), each.number("estimate"), each.number("standard_error"), each.number("low"),
                         each.number("high"), each.number("level"), each.text("method"), client_of(each)});
  }
  return intervals;
}

}  // namespace starling
