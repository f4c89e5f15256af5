/// The options of `starling data convert` about times, and the intervals that they name or release.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "console/pass.hpp"
#include "data/preparation/survival.hpp"
#include "options/options.hpp"
#include "run/settings/source_choice.hpp"

namespace starling {

struct SurvivalChoice {
  std::vector<std::string> columns;  ///< of time and event; empty: records stay what they are
  std::string intervals;             ///< a file, or quantiles-released
  std::size_t count = 8;             ///< of released intervals, at most
  std::optional<double> longest;     ///< public bound of times of released intervals
  std::optional<double> epsilon;     ///< the price of their release for a person
  std::string written;               ///< file of the released ends
  std::string ledger;                ///< entered beforehand; empty under --noise-key seed
  Client ledger_client = 0;          ///< number of the one client of a source there
  std::string noise_key = "random";

  [[nodiscard]] bool releases() const { return intervals == "quantiles-released"; }
  /// Throws UsageError for what cannot be released. `force`: files may be replaced.
  void check_release(const SourceChoice& source, bool force) const;
};

void add_survival_options(Options& options, SurvivalChoice& survival);

/// Column of times and ends of intervals: those in the file, or quantiles of the times of events, which are released by
/// Laplace noise (docs/methods/counts-and-times.md, "Released intervals"), entered into the ledger and written.
/// `report` gets the lines that say so. Throws UsageError, FailureError, and as for_each_time.
[[nodiscard]] SurvivalSettings survival_settings(const SurvivalChoice& survival, const SourceChoice& source,
                                                 Progress& progress, std::string& report);

}  // namespace starling
