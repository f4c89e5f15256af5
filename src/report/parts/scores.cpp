// Losses, accuracies and other scores of predictions.
#include "parts.hpp"

#include "starling/record/figures/test_metrics.hpp"

namespace starling {

namespace {

std::string percent(double share) {
  return shown(100 * share, "{:.2f} %");
}

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

void add_vertical_metrics(const VerticalFigures& figures, Json& metrics) {
  if (figures.mse) metrics["mse"] = number_json(*figures.mse);
  if (figures.auc) metrics["auc"] = number_json(*figures.auc);
}

std::string vertical_metric_rows(const SummaryView& summary) {
  std::string text;
  if (summary.has("metrics.auc") && !summary.withholds("metrics.auc")) {
    text += table_row("AUC", shown(summary.number("metrics.auc"), "{:.4f}") + " progressive");
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
  if (summary.test_metrics) return summary.test_metrics->accuracy;
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

}  // namespace

void add_score_keys(const Summary& summary, Json& json) {
  json["loss"] = {
      {"mean", summary.progressive ? number_json(mean(summary.progressive->loss, summary.progressive->records))
                                   : Json(nullptr)},
      {"last", summary.last_loss ? number_json(*summary.last_loss) : Json(nullptr)}};
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
  if (tested) text += table_row("test loss", shown(summary.number("metrics.test_loss"), "{:.6f}"));
  text += vertical_metric_rows(summary);
  if (!summary.classifies()) return text;
  if (summary.has("metrics.balanced_accuracy")) return text + test_metric_rows(summary);
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
  text += table_row("accuracy", cell);
  const double constant = summary.number("metrics.larger_class");
  if (!std::isfinite(constant)) return text;
  return text + table_row("", fmt::format("{:.2f} % by answering the larger class always", 100 * constant));
}

}  // namespace starling
