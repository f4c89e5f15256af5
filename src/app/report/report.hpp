/// What a run directory tells of its run, after its end or while it goes on (`starling report`).
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "starling/record/directory/history.hpp"
#include "starling/report/summary_view.hpp"

namespace starling {

/// `silent`: not finished, and no sign that a process still works on it.
enum class RunState { finished, starting, running, silent };
[[nodiscard]] const char* name_of(RunState state);

/// A run as its directory shows it. Reading takes no locks and writes nothing.
class RunReport {
 public:
  /// Throws UsageError if there is no such directory or it is none of a run, DataError if what it holds is damaged.
  explicit RunReport(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] RunState state() const { return state_; }
  /// summary.json; of an unfinished run what is known under the same keys, null elsewhere, and besides `state` and
  /// `seconds_since_record`.
  [[nodiscard]] const std::string& json() const { return json_; }
  [[nodiscard]] const std::vector<NetworkFigures>& history() const { return history_; }
  /// The table of the run's end, or how far the run is; then some lines of its history.
  [[nodiscard]] std::string text() const;
  /// The recorded models as CSV: round,client,coordinate,value. Throws DataError.
  void write_models(std::ostream& out) const;
  /// Draws the run's pictures and writes convergence.csv. Returns a sentence if there are no pictures, else an empty
  /// string. Throws DataError, before anything is written.
  [[nodiscard]] std::string draw(const std::string& folder) const;

 private:
  void read_finished();
  void read_unfinished();
  [[nodiscard]] std::string head() const;

  std::string path_;
  RunState state_ = RunState::finished;
  double seconds_since_record_ = 0;  ///< of an unfinished run
  std::string json_;
  std::vector<NetworkFigures> history_;
};

/// Its summary, finished or not.
[[nodiscard]] SummaryView view_of(const RunReport& run);

/// About `most` lines of a history, evenly spread, as a table of the figures that are known; where a test set is scored
/// on some rounds only, those rounds are preferred. Empty for an empty history.
[[nodiscard]] std::string curve_table(const std::vector<NetworkFigures>& history, std::size_t most);

/// Runs side by side: what differs in their configurations, then their figures.
[[nodiscard]] std::string comparison(const std::vector<RunReport>& runs);

/// Draws compare.svg and compare.png. Returns as RunReport::draw.
[[nodiscard]] std::string draw_comparison_of(const std::vector<RunReport>& runs, const std::string& folder);

}  // namespace starling
