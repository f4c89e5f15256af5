#include "score_report.hpp"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "files/text_files.hpp"
#include "report/pictures/pictures.hpp"
#include "report/prediction_report.hpp"
#include "report/view/summary_view.hpp"
#include "report/view/table_text.hpp"

namespace starling {

namespace {

/// A line of the table of groups, of one column more than headings.
std::string group_line(const std::string& group, const std::string& records, const std::string& first,
                       const std::string& second, const std::string& third) {
  return indented_line(fmt::format("{:<22}{:>12}{:>12}{:>12}{:>12}", group, records, first, second, third));
}

std::string group_rows(const ScoreReport& report) {
  if (report.groups.empty()) return "";
  const bool classes = report.metrics.classification.has_value();
  std::string text = "\n" + (classes ? group_line(report.by, "records", "accuracy", "balanced", "AUC")
                                     : group_line(report.by, "records", "R^2", "RMSE", "MAE"));
  for (const auto& [value, metrics] : report.groups) {
    const std::string records = std::to_string(metrics.records);
    if (classes) {
      const Classification& own = *metrics.classification;
      text += group_line(value, records, shown(100 * own.accuracy, "{:.2f} %"),
                         shown(100 * own.balanced_accuracy, "{:.2f} %"),
                         shown(own.roc ? own.roc->area : std::nan(""), "{:.4f}"));
    } else {
      const RegressionMetrics& own = *metrics.regression;
      text += group_line(value, records, shown(own.r2, "{:.4f}"), shown(own.rmse, "{:.6g}"), shown(own.mae, "{:.6g}"));
    }
  }
  return text;
}

/// The report, in which classes have the texts of the label's column: for the table.
Json with_texts(const ScoreReport& report) {
  Json json = json_of(report);
  if (!json["metrics"].contains("classes")) return json;
  for (Json& each : json["metrics"]["classes"]) {
    const auto found = report.class_texts.find(each["class"].get<double>());
    if (found != report.class_texts.end()) each["text"] = found->second;
  }
  return json;
}

}  // namespace

Json json_of(const ScoreReport& report) {
  Json json = {{"model", report.model},
               {"client", report.client},
               {"source", report.source},
               {"metrics", json_of(report.metrics)}};
  for (const auto& [label, text] : report.class_texts) {
    json["class_texts"].push_back({{"class", label}, {"text", text}});
  }
  if (report.by.empty()) return json;
  json["by"] = report.by;
  json["groups"] = Json::array();
  for (const auto& [value, metrics] : report.groups) {
    json["groups"].push_back({{"value", value}, {"metrics", json_of(metrics)}});
  }
  return json;
}

std::string text_of(const ScoreReport& report) {
  const SummaryView view(with_texts(report), "the results");
  const std::string whose = report.client ? fmt::format(", client {}", *report.client) : "";
  std::string text = table_row("model", report.model + whose) + table_row("source", report.source) +
                     table_row("records", std::to_string(report.metrics.records));
  if (view.has("metrics.accuracy")) {
    text += table_row("accuracy", shown(100 * view.number("metrics.accuracy"), "{:.2f} %"));
  }
  text += metric_rows(view, "metrics");
  for (const std::string& table : {class_rows(view, "metrics"), calibration_rows(view, "metrics")}) {
    if (!table.empty()) text += "\n" + table;
  }
  return text + group_rows(report);
}

std::string store(const ScoreReport& report, const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  check(!failed, "cannot make the folder '{}': {}. Name another with --output.", folder, failed.message());
  write_text(folder + "/score.json", json_of(report).dump(2) + "\n");
  const std::optional<Classification>& classes = report.metrics.classification;
  return classes && classes->probabilities ? draw_calibration(folder, classes->probabilities->calibration) : "";
}

}  // namespace starling
