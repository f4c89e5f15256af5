/// Estimates of coefficients with the intervals around them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/links.hpp"
#include "starling/record/directory/run_directory.hpp"

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
  std::optional<Client> client = std::nullopt;  ///< whose, where clients have estimates of their own
};

/// Whether 0 lies outside of the interval; none where a bound is unknown.
[[nodiscard]] std::optional<bool> excludes_zero(const Interval& interval);

/// Wald's interval, estimate ± z · standard error with z the standard normal quantile of (1 + level)/2; 0 < level < 1.
[[nodiscard]] Interval wald_interval(const std::string& name, double estimate, double standard_error, double level,
                                     const std::string& method);

/// Whether several coefficients are all zero, by random scaling.
struct JointTest {
  std::vector<std::string> names;
  double statistic = 0;  ///< n θ̄' V̂⁻¹ θ̄
  double critical = 0;   ///< what it exceeds with probability 1 − level if they are
  double level = 0;
};

/// Intervals as they stood when so much had been seen.
struct IntervalsAt {
  Round steps = 0;
  double records = 0;  ///< of all clients whose records the estimates rest on
  std::vector<Interval> intervals;
};

/// Writes coefficients.csv to the run directory: name, estimate, standard_error, low, high, level, method, a line per
/// interval, numbers with all their digits and empty fields for what is unknown; a first column `client` where there is
/// one. Throws FailureError.
void write_coefficients(const RunDirectory& directory, const std::vector<Interval>& intervals);

/// Writes FOLDER/intervals.csv: steps, records, [client,] name, estimate, low, high, level, method, as
/// coefficients.csv; the column `client` is there where any interval has one. Throws FailureError.
void write_interval_path(const std::string& folder, const std::vector<IntervalsAt>& path);

/// What write_interval_path wrote, without standard errors; empty where there is no such file. Throws DataError.
[[nodiscard]] std::vector<IntervalsAt> read_interval_path(const std::string& folder);

}  // namespace starling
