/// What the runs of all learning commands have in common.
#pragma once

#include "app/run/privacy/run_privacy.hpp"
#include "app/settings/learning_config.hpp"
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "starling/loss/loss.hpp"
#include "starling/net/agreement.hpp"
#include "starling/record/checkpoints/checkpointer.hpp"
#include "starling/record/directory/run_directory.hpp"
#include "starling/record/model_recorder.hpp"
#include "starling/record/network_reporter.hpp"
#include "starling/report/figures/figure.hpp"
#include "starling/report/summary.hpp"

namespace starling {

/// Seconds that a run's rounds have taken, in all the processes that it had.
class RoundClock {
 public:
  void start() { began_ = std::chrono::steady_clock::now(); }
  [[nodiscard]] double seconds() const {
    return before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }
  void persist(Snapshot& snapshot) {
    double now = snapshot.reading() ? 0 : seconds();
    snapshot(now);
    if (snapshot.reading()) before_ = now;
  }

 private:
  double before_ = 0;
  std::chrono::steady_clock::time_point began_;
};

/// What a run that reads pipes has had of them.
struct Feed {
  std::size_t dimension = 0;      ///< of the models that the records make
  std::vector<LeftOut> left_out;  ///< whenever it was resumed
  /// Throws DataError if the records make other models.
  void persist(Snapshot& snapshot);
};

/// A run on one rank, from configuration to results. Steps that can fail on some ranks only are wrapped in
/// Agreement::together, so that all ranks leave together.
class LearningRun {
 public:
  LearningRun(World& world, std::string command, std::string command_line)
      : world_(world), agreement_(world), command_(std::move(command)), command_line_(std::move(command_line)) {}
  virtual ~LearningRun() = default;
  LearningRun(const LearningRun&) = delete;
  LearningRun& operator=(const LearningRun&) = delete;

 protected:
  [[nodiscard]] virtual const LearningConfig& common() const = 0;

  /// `parse` reads the configuration, which is the same on all ranks from then on. **Collective.**
  void configure(const std::function<void()>& parse);
  /// Whether the run that is to go on has played all its rounds. **Collective.**
  [[nodiscard]] bool is_finished();
  /// Says so, on rank 0.
  [[nodiscard]] ExitCode show_finished() const;
  /// Why the run could not go on from a checkpoint; empty if it can.
  [[nodiscard]] virtual std::string why_not_resumable() const;
  /// Why the run could not go on with other records, leaving out rounds; empty if it can.
  [[nodiscard]] virtual std::string why_no_round_is_left_out() const {
    return "its records come through a pipe, and are gone";
  }
  /// Rounds of a client's account in a round of the run.
  [[nodiscard]] virtual Round releases_of_round() const { return 1; }
  [[nodiscard]] bool is_resumable() const { return why_not_resumable().empty(); }
  void require_resumable() const;
  /// Digest of public inputs that no ledger knows of: start models, test records; a command adds its own.
  [[nodiscard]] virtual std::string digest_of_inputs() const;
  /// Why a run that is resumed may not have another number of rounds than it was to have; empty if it may.
  [[nodiscard]] virtual std::string why_no_more_rounds() const { return ""; }

  [[nodiscard]] bool first_rank() const { return world_.rank() == 0; }
  [[nodiscard]] Client first_client() const { return layout_->first(world_.rank()); }
  [[nodiscard]] Client client_count() const { return layout_->count(world_.rank()); }
  [[nodiscard]] std::vector<int> ranks_with_clients() const;
  /// Whether this rank plays rounds: by default if it hosts clients.
  [[nodiscard]] virtual bool plays(int rank) const { return layout_->count(rank) > 0; }

  /// Whether records are learned from, and not public start values averaged.
  [[nodiscard]] virtual bool uses_records() const { return loss_ != nullptr; }
  /// Whose models the run records, and on which ranks: by default its clients.
  [[nodiscard]] virtual Layout record_layout() const { return *layout_; }
  [[nodiscard]] Client recorded_here() const { return record_layout().count(world_.rank()); }

  /// Clients that are asked for, or one per rank. Throws UsageError if more than ranks are not asked for.
  [[nodiscard]] Client number_of_clients(std::optional<Client> of_topology) const;
  void note_idle_ranks();

  /// Throws UsageError unless a mechanism is chosen.
  void require_mechanism() const;
  /// Opens this rank's streams; `data` is the configuration's, and is completed.
  void open_streams(DataSettings& data);
  /// Ranks that read one file must have read the same; clients with files of their own learn one model.
  /// **Collective.**
  void agree_on_data();
  /// T: what is asked for, or what the streams give. Throws UsageError for more than they give.
  [[nodiscard]] Round rounds_of(std::optional<Round> available) const;

  /// The files that this rank reads records from; none of generators and standard input.
  [[nodiscard]] virtual std::vector<std::string> source_files() const;
  /// Of every byte of them; pipes are left out.
  [[nodiscard]] std::string digest_of_source() const;
  /// Of a run that is resumed, how many rounds it was to have when it began; else `now`.
  [[nodiscard]] Round first_rounds(Round now) const;
  [[nodiscard]] bool start_can_be_read_again() const;
  /// Of the file with start models, if there is one.
  [[nodiscard]] std::string digest_of_start() const;
  /// What the run's privacy depends on, but for what a command adds.
  [[nodiscard]] RunFacts facts(Round rounds) const;
  /// **Collective.**
  void open_privacy(RunFacts facts);

  /// Or goes on in that of the run that is resumed. **Collective.**
  void make_directory();
  [[nodiscard]] MetricsPolicy metrics_policy() const;
  [[nodiscard]] ProgressStyle progress_style() const;
  /// The command as it can be typed again, with its launcher.
  [[nodiscard]] std::string full_command_line() const;
  /// What a run records while it goes on.
  struct Recording {
    Round rounds = 0;
    Recorded clients;
    Scores scores = Scores::none;
    TestScore test;
    Models models = Models::one_each;
    std::vector<std::pair<std::string, std::string>> provenance;  ///< for run.h5, beside what all runs say
    std::optional<Mixing> mixing = {};  ///< how clients mix with their neighbours; none where rank 0 aggregates
  };
  /// Opens the run's files and its progress, and prints the notes so far. **Collective.**
  void open_records(const Recording& recording);
  /// Before open_records(): whether a run that is resumed has a checkpoint that all ranks hold; it is to have `rounds`
  /// rounds. **Collective.**
  void find_checkpoint(Round rounds);
  /// After open_records(): checkpoints hold these parts, and what all runs keep; a run that is resumed has all of it as
  /// it was then. **Collective.**
  void start_checkpoints(KeptParts parts);
  /// After the last round of a run that a signal has stopped, or that writes checkpoints, before anything else.
  /// **Collective.**
  void checkpoint_the_end(Round done, bool stopped);
  /// Once its results are whole: a run that has come to its end keeps the last checkpoint, if it writes any.
  /// **Collective.**
  void drop_checkpoints(Round done);
  /// Who records the run, on ranks that host clients; nobody elsewhere.
  [[nodiscard]] std::vector<Observer*> recorders();
  /// Who comes after them, and after whoever else looks on: the checkpoints.
  [[nodiscard]] Observer* last_observer() { return &*checkpointer_; }
  /// Plays all rounds as soon as all ranks are ready, and returns the seconds that they took. **Collective.**
  [[nodiscard]] double time_rounds(const std::function<void()>& play);
  /// Closes the records of a run that has come to round `done` and ends with `models` (d × local clients).
  /// **Collective.**
  void finish_records(const RoundView& view, Round done, const Released<Columns>& models);
  /// Notes that a signal stopped the run; `unit` is what its rounds are called.
  void note_stop(Round done, Round planned, std::string_view unit = "round", bool resumable = false);

  /// **Collective.** A summary with the keys that do not depend on the rounds, and the recorded figures.
  [[nodiscard]] Summary begin_summary(Round planned, double wall);
  /// There is one model, rank 0's: a mean of equal models would round.
  static void set_one_model(Summary& summary, View theta);
  /// With privacy and notes, once `summary.rounds` is known. **Collective.**
  void finish_summary(Summary& summary, bool stopped);
  /// What a command writes beside what all do.
  struct OwnResults {
    std::function<void()> write;                     ///< tables
    std::function<std::vector<std::string>()> draw;  ///< pictures; returns why some are missing
  };
  /// Rank 0's: files, pictures unless a signal stopped the run, and the summary on stdout. `last` is what the model
  /// that the run ends with is called.
  void write_results(Summary summary, bool stopped, const std::string& last, const OwnResults& own = {});
  /// To stdout, as --json asks.
  void print_summary(const Summary& summary) const;

  World& world_;
  Agreement agreement_;
  mutable SharedFigures shared_figures_;  ///< noted by all policies of the run
  std::string command_;
  std::string command_line_;
  std::optional<Layout> layout_;
  std::unique_ptr<Loss> loss_;
  Dataset dataset_;
  std::string source_digest_;  ///< where a ledger is kept
  std::optional<Batch> test_;
  std::size_t dimension_ = 0;
  std::optional<RunPrivacy> privacy_;  ///< of runs that learn
  std::string run_id_;
  std::string configuration_;  ///< effective, as the run directory has it
  std::optional<RunDirectory> directory_;
  bool goes_on_ = false;  ///< with a run that began earlier
  std::optional<Round> resumed_from_;
  std::optional<Round> learning_ends_;  ///< round after which a client has spent its budget, where that is known
  Round planned_rounds_ = 0;            ///< of a run that goes on
  std::optional<bool> reads_pipes_;     ///< some rank; once all know
  Feed feed_;
  std::optional<Checkpointer> checkpointer_;
  RoundClock clock_;
  std::optional<ModelRecorder> recorder_;  ///< of ranks that host clients
  std::optional<FigureRecorder> figures_;
  std::optional<ProgressPrinter> printer_;
  std::optional<NetworkReporter> reporter_;
  std::vector<std::string> notes_;
  Secret<std::string> for_owner_;  ///< lines that wait for the run's directory

 private:
  [[nodiscard]] std::string configuration_at_first() const;
  void choose_configuration();
  void note_budget(Round rounds);
  void note_clients_without_records();
  void note_short_run(Round rounds);
  void check_rounds_may_change() const;
  void note_recorded(const Recorded& recorded);
  /// Before the first round, at places where all ranks meet. **Collective.**
  void end_if_signalled();
  void choose_checkpoint();
  void require_same_inputs() const;
  void leave_out_rounds();
  void make_new_directory();
  [[nodiscard]] CheckpointFolder checkpoint_folder() const;
  /// A line about a private record, to private/<rank>/left-out.txt, which its owner alone can read.
  void tell_owner(const Secret<std::string>& line);
  /// The part of private records that decides which client has which; empty where none does.
  [[nodiscard]] std::string dealt_by() const;
  /// What the run makes known of records, or withholds.
  void name_metrics(Summary& summary);
};

}  // namespace starling
