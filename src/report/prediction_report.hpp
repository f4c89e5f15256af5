/// Metrics of predictions as JSON and as rows of a table.
#pragma once

#include <optional>
#include <string>

#include "output/figures/test_metrics.hpp"
#include "report/view/json.hpp"

namespace starling {

class SummaryView;

/// The object `metrics.test` of summary.json, which `starling score --json` prints too (docs/reference/summary.md).
[[nodiscard]] Json json_of(const TestMetrics& metrics);

/// The calibration at `path` in a view of such an object, as "metrics.calibration"; none where it has none. Throws
/// DataError.
[[nodiscard]] std::optional<Calibration> calibration_at(const SummaryView& view, const std::string& path);

/// Rows of a table for the object of json_of that stands at `path` in a view, such as "metrics.test". The accuracy has
/// no row.
[[nodiscard]] std::string metric_rows(const SummaryView& view, const std::string& path);
/// Rows for each class, under a line of headings; empty without classes, or with more than 20.
[[nodiscard]] std::string class_rows(const SummaryView& view, const std::string& path);
/// Rows for each tenth of the probabilities that has records, under a line of headings; empty without probabilities.
[[nodiscard]] std::string calibration_rows(const SummaryView& view, const std::string& path);

}  // namespace starling
