/// Reports of run directories, for finished and unfinished runs (`starling report`).
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "output/directory/history.hpp"
#include "privacy/keys/release_path.hpp"
#include "report/pictures/pictures.hpp"
#include "report/summary.hpp"
#include "report/view/summary_view.hpp"

namespace starling {

/// The state of a run. `silent`: not finished, and no process seems to work on it.
enum class RunState { finished, starting, running, silent };
[[nodiscard]] const char* name_of(RunState state);

/// The report of one run directory. Reading takes no locks and writes nothing.
class RunReport {
 public:
  /// Throws UsageError if `path` is not the directory of a run, DataError for damaged files.
  explicit RunReport(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] RunState state() const { return state_; }
  /// summary.json. For an unfinished run the known values under the same keys, null for the others, and the keys
  /// `state` and `seconds_since_record`.
  [[nodiscard]] const std::string& json() const { return json_; }
  [[nodiscard]] const std::vector<NetworkFigures>& history() const { return history_; }
  /// The table of results, or the progress of an unfinished run, followed by lines of its history.
  [[nodiscard]] std::string text() const;
  /// The parts of the table of results, or of the progress of an unfinished run.
  [[nodiscard]] ResultTexts texts() const;
  /// The recorded models as CSV: round,client,coordinate,value. Throws DataError.
  void write_models(std::ostream& out) const;
  /// Draws the run's pictures and writes convergence.csv. Returns a sentence that says why pictures are missing, or an
  /// empty string. Throws DataError before anything is written.
  [[nodiscard]] std::string draw(const std::string& folder, PictureFormats formats) const;

 private:
  void read_finished();
  void read_unfinished();
  [[nodiscard]] std::string head() const;
  [[nodiscard]] ResultTexts texts_so_far() const;

  std::string path_;
  RunState state_ = RunState::finished;
  double seconds_since_record_ = 0;  ///< of an unfinished run
  std::string json_;
  std::vector<NetworkFigures> history_;
};

/// The summary of a run, finished or not.
[[nodiscard]] SummaryView view_of(const RunReport& run);

}  // namespace starling
