/// Confidence intervals of coefficients.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/links.hpp"

namespace starling {

class RunDirectory;

/// The estimate and interval of one coefficient. Unknown numbers are NaN: an estimate may have no standard error.
struct Interval {
  std::string name;
  double estimate = 0;
  double standard_error = 0;
  double low = 0;
  double high = 0;
  double level = 0;  ///< confidence level, for example 0.95
  std::string method;
  std::optional<Client> client = std::nullopt;  ///< where each client has its own estimate
};

/// Whether 0 lies outside of the interval; none where a bound is unknown.
[[nodiscard]] std::optional<bool> excludes_zero(const Interval& interval);

/// A test that several coefficients are all zero: by random scaling of a path, or Wald's.
struct JointTest {
  std::vector<std::string> names;
  double statistic = 0;  ///< n θ̄' V̂⁻¹ θ̄, or θ̂' Ĉ⁻¹ θ̂ with Ĉ the covariance of the estimate
  double critical = 0;   ///< quantile that the statistic exceeds with probability 1 − level if they are
  double level = 0;
};

/// The intervals after a number of steps.
struct IntervalsAt {
  Round steps = 0;
  double records = 0;  ///< records behind the estimates, over all clients
  std::vector<Interval> intervals;
  std::optional<bool> settled = std::nullopt;  ///< whether the path has settled, as far as that is known
};

/// Whether a path has settled, with the coordinates by name.
struct PathSettling {
  std::optional<Client> client;  ///< where each client has a path of its own
  bool settled = false;
  double effective_steps = 0;  ///< as Settling has them
  double least_effective_steps = 0;
  std::string slowest;
  double drift = 0;
  double most_drift = 0;
  std::string drifting;
};

/// Disagreement of clients with paths of their own. Where an average moves all clients alike, it is small beside their
/// intervals; an interval that is farther from the common mean than it is long is about something else.
struct Disagreement {
  static constexpr double most = 0.5;  ///< between clients that have settled
  /// Root mean square, over the clients, of the distance of an estimate to the mean over the clients, in half-widths of
  /// its interval; largest over the coefficients.
  double size = 0;
  std::string name;  ///< of this coefficient
};

/// The disagreement in the first method's intervals of the first level; none without clients.
[[nodiscard]] std::optional<Disagreement> disagreement_of(const std::vector<Interval>& intervals);

/// Whether Newton's rounds have come to rest, with the parameters by name.
struct NewtonSettling {
  static constexpr double most_step = 1;
  double step = 0;                        ///< largest step of the first round that counts, in tolerances
  std::string stepping;                   ///< the parameter that takes it
  std::vector<std::string> undetermined;  ///< those whose curvature noise hides, or that no record determines
  bool exact = false;                     ///< without noise
  /// Without noise: records that bend the loss, where they are too few for all parameters.
  std::optional<double> too_few_records = std::nullopt;
  [[nodiscard]] bool settled() const { return step <= most_step && undetermined.empty(); }
};

/// Whether the paths of a run have settled, or its rounds of Newton's method.
struct RunSettling {
  std::optional<NewtonSettling> newton = {};
  std::vector<PathSettling> paths = {};  ///< those that tell
  std::optional<Disagreement> disagreement = {};
  /// Whether the scales of the features are known, or the path shows whether its steps suit them. Else a path that
  /// seems to have settled tells nothing.
  bool knows_scales = true;
  /// Whether scales are known, clients agree, and at most a tenth of them has not settled; none if no path tells.
  [[nodiscard]] std::optional<bool> settled() const;
  [[nodiscard]] bool agrees() const { return !disagreement || disagreement->size <= Disagreement::most; }
  /// The path that is farthest from having settled; there must be one.
  [[nodiscard]] const PathSettling& worst() const;
};

/// The intervals of a run: a part of its summary.
struct RunIntervals {
  std::vector<Interval> intervals = {};  ///< of coefficients; client by client where each has its own
  std::vector<Interval> own_units = {};  ///< the same in the source's own units, if records are standardised
  RunSettling settling = {};             ///< of the paths behind them
  std::optional<double> records = {};    ///< records behind them, over all clients
  std::optional<JointTest> joint = {};   ///< joint test of the coefficients (--joint)
};

/// Why paths have not settled, and what helps; none of those that have. `scaled`: public constants scale the features.
[[nodiscard]] std::optional<std::string> note_of_settling(const RunSettling& settling, bool scaled);

/// Writes coefficients.csv, or a table of another name, to the run directory: name, estimate, standard_error, low,
/// high, level, method, a line per interval, numbers with all their digits and empty fields for what is unknown; a
/// first column `client` where there is one. Throws FailureError.
void write_coefficients(const RunDirectory& directory, const std::vector<Interval>& intervals,
                        const std::string& name = "coefficients.csv");

/// Writes FOLDER/intervals.csv: steps, records, [client,] name, estimate, low, high, level, method, as
/// coefficients.csv; the column `client` is there where any interval has one. Throws FailureError.
void write_interval_path(const std::string& folder, const std::vector<IntervalsAt>& path);

/// Reads the file of write_interval_path, which has no standard errors; empty if there is no file. Throws DataError.
[[nodiscard]] std::vector<IntervalsAt> read_interval_path(const std::string& folder);

}  // namespace starling
