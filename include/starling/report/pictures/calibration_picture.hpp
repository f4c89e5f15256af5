/// The picture of predicted probabilities and observed frequencies.
#pragma once

#include <string>

#include "starling/record/figures/test_metrics.hpp"

namespace starling {

/// Draws calibration.svg into the folder: observed frequencies against mean predicted probabilities, with two standard
/// errors, and the shares of records. Returns a sentence saying why not, if gnuplot is missing or fails, else an empty
/// string.
[[nodiscard]] std::string draw_calibration(const std::string& folder, const Calibration& calibration);

}  // namespace starling
