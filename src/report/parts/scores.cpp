// Losses, accuracies and other scores of predictions.
#include <cmath>

#include "parts.hpp"
#include "report/prediction_report.hpp"

namespace starling {

namespace {

/// The metrics of predictions, with copies of the shortest beside the other scores.
void add_test_metrics(const TestMetrics& test, Json& metrics) {
  metrics["test"] = json_of(test);
  for (const char* name : {"accuracy", "balanced_accuracy", "precision", "recall", "f1", "specificity", "confusion"}) {
    if (metrics["test"].contains(name)) metrics[name] = Json(metrics["test"][name]);
  }
}

/// On --test if there is one, else progressive, else unknown.
double accuracy_of(const Summary& summary) {
  if (!summary.classifies) return std::nan("");
  const RunScores& scores = summary.get<RunScores>();
  const auto& score = scores.test ? scores.test : scores.progressive;
  return score ? mean(static_cast<double>(score->correct), score->records) : std::nan("");
}

Json metrics_json(const Summary& summary) {
  const RunScores& scores = summary.get<RunScores>();
  Json metrics = Json::object();
  if (scores.test) {
    metrics["test_loss"] = number_json(mean(scores.test->loss, scores.test->records));
    if (scores.constant_loss) metrics["constant_loss"] = number_json(*scores.constant_loss);
    if (summary.classifies) {
      if (scores.larger_class) metrics["larger_class"] = number_json(*scores.larger_class);
      metrics["test_accuracy"] = number_json(mean(static_cast<double>(scores.test->correct), scores.test->records));
    }
  }
  if (const auto* const test = summary.find<TestMetrics>()) add_test_metrics(*test, metrics);
  if (scores.progressive && summary.classifies) {
    metrics["progressive_accuracy"] =
        number_json(mean(static_cast<double>(scores.progressive->correct), scores.progressive->records));
  }
  if (scores.mse) metrics["mse"] = number_json(*scores.mse);
  if (scores.auc) metrics["auc"] = number_json(*scores.auc);
  const std::string here = "metrics.";
  for (const std::string& name : summary.withheld) {
    if (name.starts_with(here)) metrics[name.substr(here.size())] = nullptr;
  }
  return metrics;
}

std::string accuracy_rows(const SummaryView& summary, bool tested) {
  if (!summary.classifies()) return "";
  const double accuracy = summary.number("accuracy");
  std::string cell = "-";
  if (std::isfinite(accuracy)) {
    cell = fmt::format("{:.2f} % {}", 100 * accuracy,
                       !tested                      ? "progressive"
                       : summary.flag("aggregated") ? "on --test"
                                                    : "on --test, mean over clients");
  } else if (summary.withholds("accuracy")) {
    cell = summary.has("traffic.uplink_bits_per_round") ? "withheld: in private/ (--metrics shared shows it)"
                                                        : "withheld: in private/ (name a public --test set to see one)";
  }
  const std::string text = table_row("accuracy", cell);
  const double constant = summary.number("metrics.larger_class");
  if (!std::isfinite(constant)) return text;
  return text + table_row("", fmt::format("{:.2f} % by answering the larger class always", 100 * constant));
}

void add_keys(const Summary& summary, Json& json) {
  const RunScores& scores = summary.get<RunScores>();
  const auto& progressive = scores.progressive;
  json["loss"] = {{"mean", progressive ? number_json(mean(progressive->loss, progressive->records)) : Json(nullptr)},
                  {"last", number_json(scores.last_loss)}};
  if (scores.objective) json["objective"] = number_json(*scores.objective);
  json["accuracy"] = number_json(accuracy_of(summary));
  json["metrics"] = metrics_json(summary);
}

std::string rows_of(const SummaryView& summary) {
  if (!summary.learned()) return "";
  const std::string loss =
      summary.withholds("loss.mean")
          ? "withheld: in private/, for each owner (--metrics shared shows it)"
          : fmt::format("{} mean, {} over the last tenth", shown(summary.number("loss.mean"), "{:.6f}"),
                        shown(summary.number("loss.last"), "{:.6f}"));
  const bool known = summary.withholds("loss.mean") || std::isfinite(summary.number("loss.mean")) ||
                     std::isfinite(summary.number("loss.last"));
  const bool tested = summary.has("metrics.test_loss");
  std::string text = known || !tested ? table_row("loss", loss) : "";
  if (tested) {
    const double test = summary.number("metrics.test_loss");
    text +=
        table_row("test loss", std::isfinite(test) ? fmt::format("{:.6f}", test)
                                                   : "not finite: some losses or predictions on --test are no numbers");
  }
  if (summary.has("metrics.auc") && !summary.withholds("metrics.auc")) {
    text += table_row("progressive AUC", shown(summary.number("metrics.auc"), "{:.4f}"));
  }
  return text + accuracy_rows(summary, tested) + metric_rows(summary, "metrics.test");
}

}  // namespace

const SummaryPart score_part{add_keys, rows_of};

}  // namespace starling
