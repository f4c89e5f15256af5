/// The table and the picture of long-term constraints.
#pragma once

#include <string>

#include "starling/record/figures/constraint_figures.hpp"

namespace starling {

/// FOLDER/violation.csv: round, constraint, violation, dual_mean, dual_max; and violation.svg. Returns a sentence that
/// says why there is no picture, else an empty string. Throws FailureError.
[[nodiscard]] std::string write_violations(const std::string& folder, const ConstraintReport& report);

}  // namespace starling
