/// The recorder of one rank's clients. Released models and shared metrics go to clients/<rank>.h5. The owner's private
/// metrics go to private/<rank>/metrics.csv. A journal (record/directory/journal.hpp) holds a copy for resumed runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/snapshot.hpp"
#include "output/choices.hpp"
#include "output/directory/journal.hpp"
#include "output/directory/run_directory.hpp"
#include "output/rounds.hpp"
#include "privacy/metrics_policy.hpp"
#include "protocol/observer.hpp"

namespace starling {

/// Figures of which a run of many clients records the spread over a rank's clients. The distance is that of a client's
/// model from the mean model of its rank.
constexpr const char* figures_of_a_spread = "mass, presence, distance, loss, accuracy";

/// Largest count of numbers in the models that an observer copies at once (8 MB). One model may be larger.
constexpr std::size_t most_numbers_of_models = std::size_t{1} << 20;

/// The observer that records models, masses, presence and progressive scores.
class ModelRecorder final : public Observer {
 public:
  /// Records clients first … first + count − 1 of this rank, as `recorded` chooses. Creates the files of a new run. In
  /// a resumed run persist() restores them instead.
  ModelRecorder(const RunDirectory& directory, int rank, Client first, std::size_t count, std::size_t dimension,
                const Recorded& recorded, const MetricsPolicy& policy, RecordRounds rounds, Scores scores);

  /// Writes waiting records, so that a run that ends by an error keeps them all.
  ~ModelRecorder() override;
  ModelRecorder(const ModelRecorder&) = delete;
  ModelRecorder& operator=(const ModelRecorder&) = delete;

  void after(const RoundView& view) override;
  [[nodiscard]] Round due() const override { return rounds_.next(); }
  /// Records the last round and `final_models` (d × clients of this rank), and writes all waiting records. `done` is
  /// the last round of the whole run. A rank that has played fewer rounds records its state for the missing ones.
  void finish(const RoundView& view, Round done, const Released<Columns>& final_models);
  /// Writes or reads the state. Writing makes all records so far durable; reading restores them from the journal.
  void persist(Snapshot& snapshot);
  /// Skips records of rounds before `end` that were not played.
  void leave_out(Round end);
  /// Files that a checkpoint depends on.
  [[nodiscard]] std::vector<std::string> files() const { return {journal_.path(), owners_.path()}; }

 private:
  void make_file();
  /// A record as the journal has it: numbers of clients, each with its client.
  struct Row;
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
  [[nodiscard]] Row waiting_row(std::size_t r) const;
  void wait_again(const Row& row);
  void flush();
  void write_waiting();

  std::string file_;
  OwnersFile owners_;
  Journal journal_;
  Client first_;
  std::size_t count_;
  std::size_t dimension_;
  std::vector<std::size_t> recorded_;  ///< clients whose models are recorded: local numbers, ascending
  std::vector<std::size_t> listed_;    ///< clients whose figures are kept if not all are: local numbers, ascending
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
  Vector spreads_;                      ///< last recorded rounds × figures × spread
  std::vector<std::int64_t> arrivals_;  ///< (to, round, from, heard) of each arrival
  bool has_arrivals_ = false;           ///< whether the file has arrivals
  std::optional<Round> last_;           ///< record
  Round watched_ = 0;                   ///< observed rounds since the last record
  std::vector<Round> absent_;           ///< number of these that each client sat out
  Secret<std::string> owners_rows_;     ///< waiting lines of the owners' file
  std::vector<Secret<Score>> before_;   ///< tallies at the record before
  Secret<Vector> interval_losses_;      ///< of all clients since the last record; only their spread is kept
  Secret<Vector> interval_accuracies_;
  Secret<std::int64_t> interval_records_;
  Secret<std::int64_t> interval_out_of_range_;
};

/// The shape of run.h5.
struct RunLayout {
  Layout layout;
  std::size_t dimension = 0;
  Recorded recorded;
  Scores shared_scores = Scores::none;  ///< scores in clients/*.h5
};
/// Writes run.h5 on rank 0. Its virtual data sets join those of all ranks' files: /rounds, /model, /mass, /final_model;
/// /loss and /accuracy where they are shared; /spread where figures are not kept of every client. Links are relative,
/// so that the directory can be moved. Attributes are `provenance` and the time, `started`.
void write_run_file(const RunDirectory& directory, const RunLayout& layout,
                    const std::vector<std::pair<std::string, std::string>>& provenance);

}  // namespace starling
