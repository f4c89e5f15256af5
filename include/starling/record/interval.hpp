/// Estimates of coefficients with the intervals around them.
#pragma once

#include <string>
#include <vector>

#include "starling/record/run_directory.hpp"

namespace starling {

/// Of one coefficient. What is unknown is NaN: an estimate may have no standard error.
struct Interval {
  std::string name;
  double estimate = 0;
  double standard_error = 0;
  double low = 0;
  double high = 0;
  double level = 0;  ///< of confidence, 0.95 say
  std::string method;
};

/// Wald's interval, estimate ± z · standard error with z the standard normal quantile of (1 + level)/2; 0 < level < 1.
[[nodiscard]] Interval wald_interval(const std::string& name, double estimate, double standard_error, double level,
                                     const std::string& method);

/// Writes coefficients.csv to the run directory: name, estimate, standard_error, low, high, level, method, a line per
/// interval, numbers with all their digits and empty fields for what is unknown. Throws FailureError.
void write_coefficients(const RunDirectory& directory, const std::vector<Interval>& intervals);

}  // namespace starling
