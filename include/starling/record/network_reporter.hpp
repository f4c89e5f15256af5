/// Figures of the whole network while a run goes on: every rank sends rank 0 a short report at recorded rounds, without
/// waiting; rank 0 shows and keeps what they add up to.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/snapshot.hpp"
#include "starling/net/agreement.hpp"
#include "starling/privacy/mechanism.hpp"
#include "starling/privacy/metrics_policy.hpp"
#include "starling/protocol/observer.hpp"
#include "starling/record/directory/history.hpp"
#include "starling/record/directory/journal.hpp"
#include "starling/record/model_recorder.hpp"
#include "starling/record/progress_printer.hpp"
#include "starling/record/rounds.hpp"

namespace starling {

/// Score of a model on the public test set.
using TestScore = std::function<Score(View)>;

/// Whether clients have models of their own, which mix, or all have the aggregator's.
enum class Models { one_each, one_for_all };

class NetworkReporter final : public Observer {
 public:
  /// `active` are the ranks that host clients; `printer` and `history_file` (the path of history.csv) are rank 0's,
  /// null and empty elsewhere. Test scores are taken at rounds 0, 1, 2, 4, 8, … and at the end. Where there is one
  /// model for all, there are neither consensus error nor mass. A report looks at some models at a time, in the room of
  /// `most_numbers`, and works them out anew for each use if they are not all.
  NetworkReporter(Agreement& agreement, int rank, std::vector<int> active, const MetricsPolicy& policy, Scores scores,
                  TestScore test, ProgressPrinter* printer, const std::string& history_file,
                  Models models = Models::one_each, std::size_t most_numbers = most_numbers_of_models);

  void after(const RoundView& view) override;
  [[nodiscard]] Round due() const override;
  /// Sends the last report and, on rank 0, waits for the others'. `done` is the last round of the whole run: a rank
  /// that has not come as far reports what it has for the rounds in between.
  void finish(const RoundView& view, Round done);
  /// Keeps this rank's reports in a file too, for persist(); `afresh`: whatever it holds is of no use.
  void keep_in(const std::string& journal_file, bool afresh);
  /// Where it is. After reading, the reports that were made up to there are sent again: nobody knows which had come.
  void persist(Snapshot& snapshot);
  /// Nothing is reported of rounds before `end` that were not yet played.
  void leave_out(Round end);
  /// That persist() goes on with.
  [[nodiscard]] std::vector<std::string> files() const { return {journal_->path()}; }
  /// Rank 0's; empty elsewhere.
  [[nodiscard]] const std::vector<NetworkFigures>& history() const { return history_; }

 private:
  [[nodiscard]] Round next_report() const;
  void send_up_to(const RoundView& view, Round done);
  void send(const RoundView& view, Round round, bool with_test);
  void add_models(const RoundView& view, bool with_test, Released<Vector>& report) const;
  void hand_in(const Released<Vector>& report);
  void collect(bool wait);
  /// Whether it is time to look at others' reports and at the file.
  [[nodiscard]] bool looks();
  [[nodiscard]] NetworkFigures add_up(const std::vector<Vector>& reports) const;

  Agreement& agreement_;
  int rank_;
  std::vector<int> active_;
  MetricsPolicy policy_;
  Scores scores_;
  Models models_;
  std::size_t most_numbers_;
  TestScore test_;
  ProgressPrinter* printer_;
  RecordRounds rounds_{std::nullopt};
  std::optional<Round> last_sent_;
  Round seen_ = -1;  ///< reports up to this round have been sent where they were due
  std::size_t sent_ = 0;
  std::optional<Journal> journal_;  ///< of this rank's reports
  std::int64_t looked_ = 0;         ///< milliseconds of the coarse clock
  Score before_;                    ///< shared totals at the report before
  std::vector<NetworkFigures> history_;
  std::optional<HistoryFile> file_;  ///< rank 0's
};

}  // namespace starling
