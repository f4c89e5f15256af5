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

void add_vertical_metrics(const VerticalFigures& figures, Json& metrics) {
  if (figures.mse) metrics["mse"] = number_json(*figures.mse);
  if (figures.auc) metrics["auc"] = number_json(*figures.auc);
}

std::string vertical_metric_rows(const SummaryView& summary) {
  std::string text;
  if (summary.has("metrics.auc") && !summary.withholds("metrics.auc")) {
    text += table_row("progressive AUC", shown(summary.number("metrics.auc"), "{:.4f}"));
  }
  if (summary.has("regret.hindsight")) {
    text += table_row("static regret",
                      fmt::format("{} ({} a round), against {}", shown(summary.number("regret.static"), "{:.6g}"),
                                  shown(summary.number("regret.per_round"), "{:.6g}"), summary.text("regret.method")));
  }
  return text;
}

/// On --test if there is one, else progressive, else unknown.
double accuracy_of(const Summary& summary) {
  if (!summary.classifies) return std::nan("");
  const auto& score = summary.test ? summary.test : summary.progressive;
  return score ? mean(static_cast<double>(score->correct), score->records) : std::nan("");
}

Json metrics_json(const Summary& summary) {
  Json metrics = Json::object();
  if (summary.test) {
    metrics["test_loss"] = number_json(mean(summary.test->loss, summary.test->records));
    if (summary.classifies) {
      if (summary.larger_class) metrics["larger_class"] = number_json(*summary.larger_class);
      metrics["test_accuracy"] = number_json(mean(static_cast<double>(summary.test->correct), summary.test->records));
    }
  }
  if (summary.test_metrics) add_test_metrics(*summary.test_metrics, metrics);
  if (summary.progressive && summary.classifies) {
    metrics["progressive_accuracy"] =
        number_json(mean(static_cast<double>(summary.progressive->correct), summary.progressive->records));
  }
  if (summary.vertical) add_vertical_metrics(*summary.vertical, metrics);
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

}  // namespace

void add_score_keys(const Summary& summary, Json& json) {
  json["loss"] = {
      {"mean", summary.progressive ? number_json(mean(summary.progressive->loss, summary.progressive->records))
                                   : Json(nullptr)},
      {"last", number_json(summary.last_loss)}};
  if (summary.objective) json["objective"] = number_json(*summary.objective);
  json["accuracy"] = number_json(accuracy_of(summary));
  json["metrics"] = metrics_json(summary);
}

std::string score_rows(const SummaryView& summary) {
  if (!summary.learned()) return "";
  const std::string loss =
      summary.withholds("loss.mean")
          ? "withheld: in private/, for each owner (--metrics shared shows it)"
          : fmt::format("{} mean, {} over the last tenth", shown(summary.number("loss.mean"), "{:.6f}"),
                        shown(summary.number("loss.last"), "{:.6f}"));
  std::string text = table_row("loss", loss);
  const bool tested = summary.has("metrics.test_loss");
  if (tested) {
    const double test = summary.number("metrics.test_loss");
    text +=
        table_row("test loss", std::isfinite(test) ? fmt::format("{:.6f}", test)
                                                   : "not finite: some losses or predictions on --test are no numbers");
  }
  text += vertical_metric_rows(summary);
  return text + accuracy_rows(summary, tested) + metric_rows(summary, "metrics.test");
}

}  // namespace starling
