/// The reporter of network-wide figures during a run. At recorded rounds every rank sends rank 0 a short report,
/// without waiting. Rank 0 adds up the reports, shows them and hands them to the writers of the history. The figures do
/// not depend on the layout (ReportTree), and are those of the clients that are not lost.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/columns.hpp"
#include "core/links.hpp"
#include "core/snapshot.hpp"
#include "net/agreement.hpp"
#include "output/choices.hpp"
#include "output/directory/history.hpp"
#include "output/directory/journal.hpp"
#include "output/model_recorder.hpp"
#include "output/progress_printer.hpp"
#include "output/rounds.hpp"
#include "privacy/metrics_policy.hpp"
#include "protocol/observer.hpp"

namespace starling {

/// Nodes of the tree, ascending. Each is a vector of equal length: `fields` figures that add up, and the sum of models.
class ReportTree {
 public:
  /// The first of the figures, of every node.
  enum Field : std::size_t {
    first,    ///< first client
    clients,  ///< number of clients
    spread,   ///< Σ ‖x_u − mean of the node‖²
    figures,  ///< the place of the first figure that adds up
  };

  /// `head` is the number of fields and figures before the models.
  explicit ReportTree(std::size_t head) : head_(head) {}
  /// Adds a node that follows all others, and joins it with those before it where both are halves of one.
  void add(Vector node);
  [[nodiscard]] const std::vector<Vector>& nodes() const { return nodes_; }
  /// All nodes together, in their order. There must be one.
  [[nodiscard]] Vector total() const;

 private:
  void join(Vector& left, const Vector& right) const;
  std::size_t head_;
  std::vector<Vector> nodes_;
};

/// Seconds that this rank has worked in the rounds, without waiting for others.
using WorkClock = std::function<double()>;

/// The observer that reports one rank's figures.
class NetworkReporter final : public Observer {
 public:
  /// `active` are the ranks that host clients, and `first` is this rank's first client. `printer` and `writers` are
  /// rank 0's; they are null and empty elsewhere. Test scores are taken at rounds 0, 1, 2, 4, 8, … and at the end. With
  /// one model for all clients there is neither consensus error nor mass. A report copies at most `most_numbers`
  /// numbers of models at once.
  NetworkReporter(Agreement& agreement, std::vector<int> active, Client first, const MetricsPolicy& policy,
                  Scores scores, TestScore test, ProgressPrinter* printer,
                  std::vector<std::unique_ptr<HistoryWriter>> writers, Models models = Models::one_each,
                  std::size_t most_numbers = most_numbers_of_models);

  /// `work` tells the slowest rank in the progress; without it nobody does.
  void time_by(WorkClock work) { work_ = std::move(work); }

  void after(const RoundView& view) override;
  [[nodiscard]] Round due() const override;
  /// Sends the last report; rank 0 waits for the reports of all ranks. `done` is the last round of the whole run. A
  /// rank that has played fewer rounds reports its state for the missing ones.
  void finish(const RoundView& view, Round done);
  /// Keeps this rank's reports in a journal, for persist(). `afresh` empties an existing journal.
  void keep_in(const std::string& journal_file, bool afresh);
  /// Writes or reads the position. After reading, all earlier reports are sent again: some may have been lost.
  void persist(Snapshot& snapshot);
  /// Skips reports of rounds before `end` that were not played.
  void leave_out(Round end);
  /// Files that a checkpoint depends on.
  [[nodiscard]] std::vector<std::string> files() const { return {journal_->path()}; }
  /// The history on rank 0; empty elsewhere.
  [[nodiscard]] const std::vector<NetworkFigures>& history() const { return history_; }

 private:
  [[nodiscard]] Round next_report() const;
  void send_up_to(const RoundView& view, Round done);
  void send(const RoundView& view, Round round, bool with_test);
  [[nodiscard]] Vector figures_of(const RoundView& view, std::size_t k);
  [[nodiscard]] Released<std::vector<Vector>> report_of(const RoundView& view, bool with_test);
  void hand_in(Round round, const Released<std::vector<Vector>>& report);
  static void persist_report(Snapshot& entry, Round& round, Released<std::vector<Vector>>& report);
  void collect(bool wait);
  /// Whether it is time to receive reports and to write the file.
  [[nodiscard]] bool looks();
  [[nodiscard]] NetworkFigures add_up(const std::vector<Vector>& reports) const;
  [[nodiscard]] std::optional<SlowestRank> slowest_of(const std::vector<Vector>& reports) const;

  Agreement& agreement_;
  Client first_;
  std::vector<int> active_;
  MetricsPolicy policy_;
  Scores scores_;
  Models models_;
  std::size_t most_numbers_;
  TestScore test_;
  WorkClock work_ = [] { return 0.0; };
  ProgressPrinter* printer_;
  RecordRounds rounds_{std::nullopt};
  std::optional<Round> last_sent_;
  Round seen_ = -1;  ///< last round whose due report has been sent
  std::size_t sent_ = 0;
  std::optional<Journal> journal_;  ///< this rank's reports
  std::int64_t looked_ = 0;         ///< time of the last look, in milliseconds of the coarse clock
  std::int64_t asked_ = 0;          ///< time of the last question whether to look
  Round between_looks_ = 8;         ///< rounds between two such questions
  std::vector<Score> before_;       ///< shared totals of each client at the report before; empty if none are shared
  std::vector<NetworkFigures> history_;
  std::vector<std::unique_ptr<HistoryWriter>> writers_;  ///< rank 0's
};

}  // namespace starling
