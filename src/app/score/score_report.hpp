/// The results of `starling score`: metrics over all records and over groups of records.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/links.hpp"
#include "output/figures/test_metrics.hpp"
#include "report/view/json.hpp"

namespace starling {

struct ScoreReport {
  std::string model;             ///< path
  std::optional<Client> client;  ///< whose model it is; none: the mean of all
  std::string source;
  TestMetrics metrics;                        ///< over all records
  std::string by;                             ///< column of the groups; empty without groups
  std::map<std::string, TestMetrics> groups;  ///< by the column's text
  std::map<double, std::string> class_texts;  ///< texts of the label's column by the labels of classes
};

/// The object that docs/reference/json-output.md describes.
[[nodiscard]] Json json_of(const ScoreReport& report);

/// The same as tables.
[[nodiscard]] std::string text_of(const ScoreReport& report);

/// Writes score.json, and draws calibration.svg where there are probabilities, into a folder, which is made. Returns a
/// sentence that says why there is no picture, or an empty string. Throws UsageError and FailureError.
[[nodiscard]] std::string store(const ScoreReport& report, const std::string& folder);

}  // namespace starling
