/// Writes what a rank's clients release, and metrics where they may be shared, to clients/<rank>.h5, and the owner's
/// own metrics to private/<rank>/metrics.csv. What has been written stands in a journal too
/// (record/directory/journal.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/snapshot.hpp"
#include "starling/privacy/mechanism.hpp"
#include "starling/privacy/metrics_policy.hpp"
#include "starling/protocol/observer.hpp"
#include "starling/record/directory/journal.hpp"
#include "starling/record/directory/run_directory.hpp"
#include "starling/record/recorded.hpp"
#include "starling/record/rounds.hpp"

namespace starling {

/// What progressive scores mean: nothing is learned, labels are numbers, or labels are classes.
enum class Scores { none, losses, losses_and_accuracies };
/// "averaging", "regression" or "classification".
[[nodiscard]] const char* name_of(Scores scores);

/// Figures whose spread over a rank's clients is recorded where there are too many to record all; the distance is that
/// of a client's model from the mean model of its rank.
constexpr const char* figures_of_a_spread = "mass, presence, distance, loss, accuracy";

/// In models that an observer holds at once beside the protocol's own, 8 MB; one model may be larger.
constexpr std::size_t most_numbers_of_models = std::size_t{1} << 20;

class ModelRecorder final : public Observer {
 public:
  /// For the clients first … first + count − 1 of this rank; `recorded` says whose models and figures are recorded.
  /// Begins the files, unless the directory's run goes on: then persist() does, up to where it was.
  ModelRecorder(const RunDirectory& directory, int rank, Client first, std::size_t count, std::size_t dimension,
                const Recorded& recorded, const MetricsPolicy& policy, RecordRounds rounds, Scores scores);

  /// Writes what waits: a run that ends by an error keeps all its records.
  ~ModelRecorder() override;
  ModelRecorder(const ModelRecorder&) = delete;
  ModelRecorder& operator=(const ModelRecorder&) = delete;

  void after(const RoundView& view) override;
  [[nodiscard]] Round due() const override { return rounds_.next(); }
  /// Records the last round if it was not, and `final_models` (d × clients of this rank); writes everything. `done` is
  /// the last round of the whole run: a rank that has not come as far records what it has under the rounds that others
  /// record.
  void finish(const RoundView& view, Round done, const Released<Columns>& final_models);
  /// Where it is; what was written up to there is on the disk then, or is there again.
  void persist(Snapshot& snapshot);
  /// Nothing is recorded of rounds before `end` that were not yet played.
  void leave_out(Round end);
  /// That persist() goes on with.
  [[nodiscard]] std::vector<std::string> files() const { return {journal_.path(), owners_.path()}; }

 private:
  void make_file();
  void go_back(std::int64_t journal, std::int64_t owners);
  void record_up_to(const RoundView& view, Round done);
  void record(const RoundView& view, Round round);
  void record_models(const RoundView& view);
  void record_presences();
  void record_metrics(const RoundView& view, Round round);
  void record_metrics(const RoundView& view, Round round, std::size_t k);
  void record_distances(const RoundView& view);
  void record_spread_of_metrics(Round round);
  void keep(View of_all, Vector& rows);
  void note_presence(const RoundView& view);
  [[nodiscard]] bool lists(Client u) const;
  [[nodiscard]] bool all_one_by_one() const { return figures_ == Figures::of_all; }
  [[nodiscard]] std::size_t listed() const { return all_one_by_one() ? count_ : listed_.size(); }
  void persist_waiting(Snapshot& entry);
  void flush();
  void write_waiting();

  std::string file_;
  OwnersFile owners_;
  Journal journal_;
  Client first_;
  std::size_t count_;
  std::size_t dimension_;
  std::vector<std::size_t> recorded_;  ///< whose models are, local numbers, ascending
  std::vector<std::size_t> listed_;    ///< likewise, whose figures are where they are not those of all
  Figures figures_;
  bool final_models_;
  MetricsPolicy policy_;
  RecordRounds rounds_;
  Scores scores_;
  std::chrono::steady_clock::time_point flushed_;

  // Records that wait to be written.
  std::vector<std::int64_t> done_;
  Vector models_;
  Vector masses_;
  Vector losses_;
  Vector accuracies_;
  Vector presences_;
  Vector spreads_;                      ///< of each record: figures x their spread
  std::vector<std::int64_t> arrivals_;  ///< to, round, from, heard of each
  bool has_arrivals_ = false;           ///< the file
  std::optional<Round> last_;           ///< record
  Round watched_ = 0;                   ///< rounds since the last record, after which it was called
  std::vector<Round> present_;          ///< of these, those in which each client took part
  Secret<std::string> owners_rows_;     ///< lines of the owners' file that wait
  std::vector<Secret<Score>> before_;   ///< tallies at the record before
  Secret<Vector> interval_losses_;      ///< of all clients since then, where only their spread is kept
  Secret<Vector> interval_accuracies_;
  Secret<std::int64_t> interval_records_;
  Secret<std::int64_t> interval_out_of_range_;
};

/// Rank 0 writes run.h5: one file in which /rounds, /model, /mass, /final_model (and /loss, /accuracy where they are
/// shared, and /spread where figures are not kept of every client) of all ranks' files appear joined. Links are
/// relative: the directory can be moved. Attributes are `provenance` and the time, `started`.
struct RunLayout {
  Layout layout;
  std::size_t dimension = 0;
  Recorded recorded;
  Scores shared_scores = Scores::none;  ///< those that clients/*.h5 hold
};
void write_run_file(const RunDirectory& directory, const RunLayout& layout,
                    const std::vector<std::pair<std::string, std::string>>& provenance);

}  // namespace starling
