/// The picture of a privacy audit.
#pragma once

#include <string>

#include "starling/privacy/audit/audit.hpp"

namespace starling {

/// FOLDER/audit-histogram.csv: edges of the bins, and counts of both sides.
void write_histogram(const std::string& folder, const AuditHistogram& histogram);

/// Draws audit.svg into the folder: how often each value was seen under either side, and the logarithm of the
/// likelihood ratio with the claimed ±ε. Returns a sentence saying why not, if gnuplot is missing or fails, else an
/// empty string.
[[nodiscard]] std::string draw_audit(const std::string& folder, const AuditResult& result);

}  // namespace starling
