/// The life cycle of a run, which all learning commands share.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "console/command.hpp"
#include "core/record_error.hpp"
#include "early_stop.hpp"
#include "graph/graph.hpp"
#include "launch.hpp"
#include "loss/loss.hpp"
#include "net/agreement.hpp"
#include "output/model_file/saved_model.hpp"
#include "protocol/own_model/own_model.hpp"
#include "run/inputs/inputs.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/resumption/resumption.hpp"
#include "run/resumption/run_checkpoints.hpp"
#include "run/settings/configuration.hpp"
#include "run/tuning/tuned_method.hpp"
#include "run_records.hpp"
#include "run_steps.hpp"

namespace starling {

/// Seconds that the rounds of a run have taken, in all processes of the run.
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

/// The command line of a run, and config.ini of the run that --resume names.
struct RunStart {
  std::string command_line;
  std::string of_run;
};

/// A run on one rank, from inputs to results. A command derives from this class and implements RunSteps.
/// Steps that can fail on some ranks only are wrapped in Agreement::together, so that all ranks leave together.
class LearningRun : public RunSteps {
 public:
  /// `of_run` is config.ini of the run that --resume names. Keeps a reference to the configuration, which is that of
  /// the command.
  LearningRun(World& world, std::string command, Configuration& configuration, RunStart start)
      : world_(world),
        agreement_(world),
        command_(std::move(command)),
        command_line_(std::move(start.command_line)),
        of_run_(std::move(start.of_run)),
        configured_(configuration),
        inputs_(world, configuration, notes_) {}

  /// Calls f with the run's folder, once it has one.
  void note_directory(std::function<void(const std::string&)> f) { note_directory_ = std::move(f); }
  /// The whole life cycle: data, privacy, protocol, rounds, results. **Collective.**
  ExitCode run();

 protected:
  [[nodiscard]] const LearningConfig& common() const { return configured_.common(); }

  // Properties of a command.

  /// The own model that the run learns; null for a model of starling.
  [[nodiscard]] virtual std::shared_ptr<OwnModel> own_model() const { return nullptr; }
  /// SHA-256 of the values from which an own model starts; empty for other models.
  [[nodiscard]] virtual std::string own_start() const { return ""; }
  /// Adapts the state of a checkpoint to the present clients. The checkpoint lacks change number `first` of the members
  /// and all later ones. **Collective.**
  virtual void begin_after_changes(std::size_t /*first*/) {}
  /// Digest of public inputs that no ledger knows: start models, test records. A command adds its own.
  [[nodiscard]] virtual std::string digest_of_inputs() const;
  /// Whether a rank plays rounds. By default a rank that hosts clients does.
  [[nodiscard]] virtual bool plays(int rank) const { return inputs_.layout->count(rank) > 0; }
  /// Whether the run learns from records. The alternative averages public start values.
  [[nodiscard]] virtual bool uses_records() const { return loss_ != nullptr; }
  /// The models on record and their ranks. By default these are the clients' models.
  [[nodiscard]] virtual Layout record_layout() const { return *inputs_.layout; }
  /// From the protocol to the results. **Collective.**
  virtual ExitCode play();

  // Inputs (run_facts.cpp).

  /// What a rule that chooses settings has of the run.
  [[nodiscard]] TuningTerms tuning_terms();
  void agree_on_data() override { inputs_.agree_on_data(); }
  /// Chooses correlation_, if `wanted`, for so many releases of a client, or of rank 0 over those of all clients: a
  /// record's uses are as far apart as the shortest pass of a client is long. A run that goes on keeps what it began
  /// with, for any number of releases. Throws UsageError. **Collective.**
  void correlate_noise(bool wanted, Round releases);
  /// Checks a start that is a saved model against the run's records and model. Throws UsageError and DataError.
  virtual void check_start();
  /// Whether the start can be read as often as needed.
  [[nodiscard]] virtual bool start_can_be_read_again() const;
  /// Has an own model asked for one private record at a time, if there is noise. Call it before the model is made that
  /// learns.
  void protect_rows(std::shared_ptr<OwnModel>& own);
  /// As RunInputs::digests_of_sources.
  [[nodiscard]] virtual std::vector<std::string> digests_of_sources() const { return inputs_.digests_of_sources(); }
  /// Facts for the run's privacy that all commands have.
  [[nodiscard]] RunFacts common_facts(Round rounds) const;

  /// Why the run cannot go on from a checkpoint; empty if it can.
  [[nodiscard]] std::string why_not_resumable() const;
  [[nodiscard]] bool is_resumable() const { return why_not_resumable().empty(); }
  /// The number of rounds with which a resumed run began; `now` for other runs.
  [[nodiscard]] Round first_rounds(Round now) const;

  // Results (run_results.cpp).

  [[nodiscard]] MetricsPolicy metrics_policy() const;
  /// The score of a model on the test set; empty without one. Keeps a reference.
  [[nodiscard]] TestScore test_score_of(Model& model) const;
  /// A summary with the keys that do not depend on the rounds, and the recorded figures. **Collective.**
  [[nodiscard]] Summary begin_summary(Round planned, double wall);
  /// Results of this rank's clients, but for debts and for what a network layer counts. Scores `models` on the test
  /// set, if there is one and `model` is given.
  [[nodiscard]] LocalResults local_results(Released<Columns> models, Model* model) const;
  /// Kind, architecture and loss of the model that the run ends with, for model.h5; none for a run whose result is no
  /// model of records. Asked on rank 0 alone.
  [[nodiscard]] virtual std::optional<SavedModel> model_of_results() const { return std::nullopt; }
  /// The origin of the run's model, for its file.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> origin_of_model(const Summary& summary) const;
  /// States that all clients have rank 0's model. A mean of equal models would round.
  static void set_one_model(Summary& summary, View theta);

  [[nodiscard]] bool first_rank() const { return world_.rank() == 0; }
  /// Runs `step` on rank 0 alone. If it throws, all ranks leave together. **Collective.**
  void on_first_rank(const std::function<void()>& step) {
    agreement_.together([&] {
      if (first_rank()) step();
    });
  }
  [[nodiscard]] Client recorded_here() const { return record_layout().count(world_.rank()); }

  World& world_;
  Agreement agreement_;
  mutable SharedFigures shared_figures_;  ///< figures that the run's policies have shared
  std::string command_;
  std::string command_line_;
  std::string of_run_;         ///< config.ini of the run that --resume names
  Configuration& configured_;  ///< of the command
  std::vector<std::string> notes_;
  RunInputs inputs_;
  std::unique_ptr<Loss> loss_;
  std::size_t dimension_ = 0;
  std::optional<NoiseCorrelation> correlation_;  ///< of a client's noise over the rounds, where it is not independent
  std::optional<RunPrivacy> privacy_;            ///< of runs that learn
  std::string run_id_;
  std::optional<RunDirectory> directory_;
  std::optional<RunRecords> records_;

 private:
  [[nodiscard]] std::string private_folder_before_rounds();
  void begin_early_release();
  void configure();
  void choose_configuration();
  void open_inputs();
  void agree_on_own_model();
  void prepare();
  void open_privacy();
  void leave_nothing() const;
  void make_directory();
  void make_new_directory();
  void begin_in_directory();
  void end_if_signalled();
  [[nodiscard]] std::string early_stop() const;
  [[nodiscard]] std::string early_stop(ClientChange change) const;

  [[nodiscard]] std::string digest_of_start() const;
  [[nodiscard]] std::string model_identity() const;
  [[nodiscard]] bool model_can_be_told() const;

  void choose_members();
  [[nodiscard]] ExitCode show_finished() const;
  void require_resumable() const;
  void require_same_inputs() const;
  void choose_checkpoint();
  void start_checkpoints(Round rounds, KeptParts parts);
  void end_checkpoints(Round done);

  void open_records(const Recording& recording);
  [[nodiscard]] std::optional<Round> end_of_learning(Round rounds);
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> provenance(const Recording& recording,
                                                                            double epsilon_per_release) const;

  [[nodiscard]] bool evaluation_was_cut();
  void note_stop(const RoundsEnd& end, const Recording& recording);
  void finish_summary(Summary& summary, bool stopped);
  void add_privacy(Summary& summary, bool stopped);
  void name_metrics(Summary& summary);
  void add_test_metrics(Summary& summary) const;
  [[nodiscard]] std::optional<SavedModel> model_of(const Summary& summary) const;
  void write_results(Summary summary, bool stopped);

  std::function<void(const std::string&)> note_directory_ = [](const std::string&) {};
  std::string effective_;            ///< configuration, as the run directory has it
  bool released_early_ = false;      ///< something was released before the first round
  bool saved_partition_ = false;     ///< by this process
  std::optional<bool> reads_pipes_;  ///< whether some rank does, once all ranks know
  RoundClock clock_;
  std::optional<Resumption> resumption_;  ///< of a run that began earlier
  std::optional<RunCheckpoints> checkpoints_;
};

/// Reads the configuration of a run, which is the same on all ranks. **Collective.** Returns the text of config.ini of
/// the run that --resume names. Throws UsageError.
[[nodiscard]] std::string read_configuration(World& world, Configuration& configuration,
                                             const std::vector<std::string>& words);

/// The row of a learning command. `declare` declares its options, and `complete` completes what they say.
template <class Run, class Config, Options (*declare)(Config&), void (*complete)(Config&, const Options&)>
[[nodiscard]] Command learning_command(std::string name, std::string purpose, Manual (*manual)()) {
  using Words = std::vector<std::string>;
  return {.name = std::move(name),
          .purpose = std::move(purpose),
          .on_all_ranks = true,
          .manual = manual,
          .options = declarations_from<Config, declare>,
          .configuration = [](const Words& words) { return configured<Config>(declare, complete, words).to_tune; },
          .require_complete =
              [](const Words& words) {
                const Config config = configured<Config>(declare, complete, words);
                if (config.loss != "none") require_protection(config.privacy);
              },
          .run =
              [](const Call& call) {
                const auto job = [&](World& world) {
                  Configured<Config> configuration(declare, complete);
                  const std::string of_run = read_configuration(world, configuration, call.words);
                  Run run(world, configuration, {call.command_line, of_run});
                  run.note_directory(call.note_directory);
                  return run.run();
                };
                return run_on_all_ranks(job, call.errors);
              }};
}

}  // namespace starling
