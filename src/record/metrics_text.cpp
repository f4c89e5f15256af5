// Test metrics and intervals in summary.json, in the table at the end of a run and in coefficients.csv.
#include "regret_text.hpp"
#include "summary_view.hpp"
#include "text_files.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <boost/math/special_functions/erf.hpp>

#include "starling/core/check.hpp"
#include "starling/record/interval.hpp"
#include "starling/record/test_metrics.hpp"

namespace starling {

namespace {

constexpr std::size_t most_shown = 12;

std::string percent(double share) {
  return shown(100 * share, "{:.2f} %");
}

/// With all its digits; empty where it is unknown.
std::string field(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

/// In quotation marks if it needs them.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string interval_text(const SummaryView& interval, std::size_t width) {
  std::string text =
      fmt::format("{:<{}} {:>12}", interval.text("name"), width, shown(interval.number("estimate"), "{:.6g}"));
  if (std::isfinite(interval.number("standard_error"))) {
    text += fmt::format(" +- {:<11.4g}", interval.number("standard_error"));
  }
  if (!std::isfinite(interval.number("low")) && !std::isfinite(interval.number("high"))) return text;
  return text + fmt::format(" [{}, {}] at {} ({})", shown(interval.number("low"), "{:.6g}"),
                            shown(interval.number("high"), "{:.6g}"), shown(100 * interval.number("level"), "{:.4g} %"),
                            interval.text("method"));
}

}  // namespace

void add_test_metrics(const TestMetrics& test, Json& metrics) {
  metrics["accuracy"] = number_json(test.accuracy);
  metrics["balanced_accuracy"] = number_json(test.balanced_accuracy);
  metrics["precision"] = number_json(test.precision);
  metrics["recall"] = number_json(test.recall);
  metrics["f1"] = number_json(test.f1);
  metrics["specificity"] = number_json(test.specificity);
  Json rows = Json::array();
  const std::size_t n = test.classes.size();
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = test.counts.begin() + static_cast<std::ptrdiff_t>(i * n);
    rows.push_back(std::vector<std::int64_t>(row, row + static_cast<std::ptrdiff_t>(n)));
  }
  metrics["confusion"] = {{"classes", test.classes}, {"counts", rows}};
}

std::string test_metric_rows(const SummaryView& summary) {
  if (!summary.has("metrics.balanced_accuracy")) return "";
  const auto figure = [&](const char* name) { return percent(summary.number(std::string("metrics.") + name)); };
  return table_row("accuracy",
                   fmt::format("{} on --test, {} balanced", figure("accuracy"), figure("balanced_accuracy"))) +
         table_row("", fmt::format("precision {}, recall {}, F1 {}, specificity {}", figure("precision"),
                                   figure("recall"), figure("f1"), figure("specificity")));
}

Json intervals_json(const std::vector<Interval>& intervals) {
  Json list = Json::array();
  for (const Interval& each : intervals) {
    list.push_back({{"name", each.name},
                    {"estimate", number_json(each.estimate)},
                    {"standard_error", number_json(each.standard_error)},
                    {"low", number_json(each.low)},
                    {"high", number_json(each.high)},
                    {"level", number_json(each.level)},
                    {"method", each.method}});
  }
  return list;
}

std::string interval_rows(const SummaryView& summary) {
  const std::vector<SummaryView> all = summary.list("intervals");
  const std::size_t listed = std::min(all.size(), most_shown);
  std::size_t width = 0;
  for (std::size_t j = 0; j < listed; ++j) width = std::max(width, all[j].text("name").size());
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

void write_coefficients(const RunDirectory& directory, const std::vector<Interval>& intervals) {
  std::string text = "name,estimate,standard_error,low,high,level,method\n";
  for (const Interval& each : intervals) {
    text += fmt::format("{},{},{},{},{},{},{}\n", field(each.name), field(each.estimate), field(each.standard_error),
                        field(each.low), field(each.high), field(each.level), field(each.method));
  }
  write_text(directory.path() + "/coefficients.csv", text);
}

}  // namespace starling
