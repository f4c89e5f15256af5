// Intervals in summary.json and, of renewable estimation, in the table at the end of a run.
#include "regret_text.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include <boost/math/special_functions/erf.hpp>

#include "starling/core/check.hpp"
#include "starling/record/intervals/interval.hpp"
#include "starling/report/summary_view.hpp"

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
  const std::optional<bool> excludes = excludes_zero(each);
  Json json = {{"name", each.name},
               {"estimate", number_json(each.estimate)},
               {"standard_error", number_json(each.standard_error)},
               {"low", number_json(each.low)},
               {"high", number_json(each.high)},
               {"excludes_zero", excludes ? Json(*excludes) : Json(nullptr)},
               {"level", number_json(each.level)},
               {"method", each.method}};
  if (each.client) json["client"] = *each.client;
  return json;
}

std::optional<Client> client_of(const SummaryView& interval) {
  const auto client = interval.integer("client");
  if (!client) return std::nullopt;
  check<DataError>(*client >= 0 && *client <= std::numeric_limits<Client>::max(),
                   "summary.json has an interval of client {} (there is none: the file is damaged) restore it",
                   *client);
  return static_cast<Client>(*client);
}

}  // namespace

std::optional<bool> excludes_zero(const Interval& interval) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return std::nullopt;
  return interval.low > 0 || interval.high < 0;
}

Json intervals_json(const std::vector<Interval>& intervals) {
  Json list = Json::array();
  for (const Interval& each : intervals) list.push_back(interval_json(each));
  return list;
}

Json per_client_json(const std::vector<Interval>& intervals) {
  Json list = Json::array();
  std::map<Client, std::size_t> places;
  for (const Interval& each : intervals) {
    if (!each.client) continue;
    const auto [place, is_new] = places.emplace(*each.client, list.size());
    if (is_new) list.push_back({{"client", *each.client}, {"intervals", Json::array()}});
    Json own = interval_json(each);
    own.erase("client");
    list[place->second]["intervals"].push_back(std::move(own));
  }
  return list;
}

std::vector<Interval> intervals_of(const SummaryView& summary) {
  std::vector<Interval> intervals;
  for (const SummaryView& each : summary.list("intervals")) {
    intervals.push_back({each.text("name"), each.number("estimate"), each.number("standard_error"), each.number("low"),
                         each.number("high"), each.number("level"), each.text("method"), client_of(each)});
  }
  return intervals;
}

std::string interval_rows(const SummaryView& summary) {
  if (summary.text("command") == "infer") return "";  // has a table of its own
  const std::vector<Interval> all = intervals_of(summary);
  const std::size_t listed = std::min(all.size(), most_shown);
  std::size_t width = 0;
  for (std::size_t j = 0; j < listed; ++j) width = std::max(width, all[j].name.size());
  std::string text;
  for (std::size_t j = 0; j < listed; ++j) {
    text += table_row(j == 0 ? "coefficients" : "", interval_text(all[j], width));
  }
  if (all.size() > listed) {
    text += table_row("", fmt::format("... {} more, in summary.json and coefficients.csv", all.size() - listed));
  }
  return text;
}

Interval wald_interval(const std::string& name, double estimate, double standard_error, double level,
                       const std::string& method) {
  check(level > 0 && level < 1, "level={} (the confidence of an interval lies between 0 and 1)", level);
  const double z = std::numbers::sqrt2 * boost::math::erf_inv(level);
  return {name, estimate, standard_error, estimate - z * standard_error, estimate + z * standard_error, level, method};
}

}  // namespace starling
