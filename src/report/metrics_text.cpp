// Test metrics in summary.json and in the table at the end of a run.
#include "regret_text.hpp"

#include "starling/record/figures/test_metrics.hpp"
#include "starling/report/summary_view.hpp"

namespace starling {

namespace {

std::string percent(double share) {
  return shown(100 * share, "{:.2f} %");
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

}  // namespace starling
