#include "report/prediction_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/view/summary_view.hpp"
#include "report/view/table_text.hpp"

namespace starling {

namespace {

std::string percent(double share) {
  return shown(100 * share, "{:.2f} %");
}

Json confusion_json(const Classification& metrics) {
  Json labels = Json::array();
  Json rows = Json::array();
  const std::size_t n = metrics.classes.size();
  for (std::size_t i = 0; i < n; ++i) {
    labels.push_back(metrics.classes[i].label);
    const auto row = metrics.confusion.begin() + static_cast<std::ptrdiff_t>(i * n);
    rows.push_back(std::vector<std::int64_t>(row, row + static_cast<std::ptrdiff_t>(n)));
  }
  return {{"classes", labels}, {"counts", rows}};
}

Json classes_json(const Classification& metrics) {
  return json_list(metrics.classes, [](const ClassMetrics& each) {
    return Json{{"class", each.label},
                {"records", each.records},
                {"predicted", each.predicted},
                {"precision", number_json(each.precision)},
                {"recall", number_json(each.recall)},
                {"f1", number_json(each.f1)},
                {"specificity", number_json(each.specificity)}};
  });
}

Json calibration_json(const Calibration& calibration) {
  Json list = Json::array();
  const auto tenths = static_cast<double>(calibration.size());
  for (std::size_t i = 0; i < calibration.size(); ++i) {
    list.push_back({{"from", static_cast<double>(i) / tenths},
                    {"to", static_cast<double>(i + 1) / tenths},
                    {"records", calibration[i].records},
                    {"probability", number_json(calibration[i].probability)},
                    {"frequency", number_json(calibration[i].frequency)}});
  }
  return list;
}

void add_classification(const Classification& metrics, Json& json) {
  json["accuracy"] = number_json(metrics.accuracy);
  json["balanced_accuracy"] = number_json(metrics.balanced_accuracy);
  json["precision"] = number_json(metrics.precision);
  json["recall"] = number_json(metrics.recall);
  json["f1"] = number_json(metrics.f1);
  json["specificity"] = number_json(metrics.specificity);
  if (metrics.roc) {
    json["auc"] = number_json(metrics.roc->area);
    json["auc_standard_error"] = number_json(metrics.roc->standard_error);
  }
  if (metrics.probabilities) {
    json["log_loss"] = number_json(metrics.probabilities->log_loss);
    json["brier"] = number_json(metrics.probabilities->brier);
    json["calibration"] = calibration_json(metrics.probabilities->calibration);
  }
  if (metrics.confusion.empty()) return;  // there are too many classes for lists
  json["classes"] = classes_json(metrics);
  json["confusion"] = confusion_json(metrics);
}

std::string headings(const char* first, const char* second, const char* third, const char* fourth, const char* fifth) {
  return indented_line(fmt::format("{:<22}{:>12}{:>12}{:>12}{:>12}", first, second, third, fourth, fifth));
}

}  // namespace

Json json_of(const TestMetrics& metrics) {
  Json json = {{"records", metrics.records}};
  if (metrics.classification) add_classification(*metrics.classification, json);
  if (metrics.regression) {
    json["r2"] = number_json(metrics.regression->r2);
    json["rmse"] = number_json(metrics.regression->rmse);
    json["mae"] = number_json(metrics.regression->mae);
    if (metrics.regression->deviance) {
      json["deviance"] = number_json(*metrics.regression->deviance);
      json["null_deviance"] = number_json(*metrics.regression->null_deviance);
    }
  }
  return json;
}

std::optional<Calibration> calibration_at(const SummaryView& view, const std::string& path) {
  const std::vector<SummaryView> bins = view.list(path);
  Calibration calibration{};
  if (bins.size() != calibration.size()) return std::nullopt;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    calibration[i] = {bins[i].count("records"), bins[i].number("probability"), bins[i].number("frequency")};
  }
  return calibration;
}

std::string metric_rows(const SummaryView& view, const std::string& path) {
  const auto number = [&](const char* name) { return view.number(path + "." + name); };
  const auto has = [&](const char* name) { return view.has(path + "." + name); };
  std::string text;
  if (has("balanced_accuracy")) {
    text += table_row("balanced accuracy",
                      fmt::format("{}, precision {}, recall {}, F1 {}, specificity {}",
                                  percent(number("balanced_accuracy")), percent(number("precision")),
                                  percent(number("recall")), percent(number("f1")), percent(number("specificity"))));
  }
  if (has("auc")) {
    text += table_row("AUC", fmt::format("{}, standard error {}", shown(number("auc"), "{:.4f}"),
                                         shown(number("auc_standard_error"), "{:.4f}")));
  }
  if (has("log_loss")) {
    text += table_row("log-loss", fmt::format("{}, Brier score {}", shown(number("log_loss"), "{:.6f}"),
                                              shown(number("brier"), "{:.6f}")));
  }
  if (has("rmse")) {
    text += table_row("R^2", fmt::format("{}, RMSE {}, mean absolute error {}", shown(number("r2"), "{:.4f}"),
                                         shown(number("rmse"), "{:.6g}"), shown(number("mae"), "{:.6g}")));
  }
  if (has("deviance")) {
    text += table_row("deviance",
                      fmt::format("{} a record, {} of the labels' mean alone", shown(number("deviance"), "{:.6g}"),
                                  shown(number("null_deviance"), "{:.6g}")));
  }
  return text;
}

std::string class_rows(const SummaryView& view, const std::string& path) {
  constexpr std::size_t most_shown = 20;
  const std::vector<SummaryView> classes = view.list(path + ".classes");
  if (classes.empty() || classes.size() > most_shown) return "";
  std::string text = headings("class", "records", "precision", "recall", "F1");
  for (const SummaryView& each : classes) {
    const std::string number = fmt::format("{}", each.number("class"));
    const std::string name = each.has("text") ? fmt::format("{} ({})", each.text("text"), number) : number;
    text += indented_line(fmt::format("{:<22}{:>12}{:>12}{:>12}{:>12}", name, each.count("records"),
                                      percent(each.number("precision")), percent(each.number("recall")),
                                      percent(each.number("f1"))));
  }
  return text;
}

std::string calibration_rows(const SummaryView& view, const std::string& path) {
  std::string text;
  for (const SummaryView& each : view.list(path + ".calibration")) {
    if (each.count("records") == 0) continue;
    if (text.empty()) text = headings("probability", "records", "mean", "observed", "");
    text += indented_line(fmt::format("{:<22}{:>12}{:>12.4f}{:>12.4f}",
                                      fmt::format("{:.1f} to {:.1f}", each.number("from"), each.number("to")),
                                      each.count("records"), each.number("probability"), each.number("frequency")));
  }
  return text;
}

}  // namespace starling
