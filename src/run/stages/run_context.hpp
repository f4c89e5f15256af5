/// Ranks, configuration, notes and inputs of a run, which all its stages share on one rank.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/agreement.hpp"
#include "net/world.hpp"
#include "output/choices.hpp"
#include "privacy/metrics_policy.hpp"
#include "report/tuning.hpp"
#include "run/inputs/inputs.hpp"
#include "run/settings/configuration.hpp"

namespace starling {

class Model;
class OwnModel;
class Resumption;

/// One run on one rank. Steps that can fail on some ranks only are wrapped in Agreement::together, so that all ranks
/// leave together.
class RunContext {
 public:
  /// Keeps references.
  RunContext(World& of_ranks, std::string name, Configuration& of_command, RunStart how_started)
      : world(of_ranks),
        agreement(of_ranks),
        command(std::move(name)),
        start(std::move(how_started)),
        configuration(of_command),
        inputs(of_ranks, of_command, notes) {}
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  World& world;
  Agreement agreement;
  const std::string command;
  const RunStart start;
  Configuration& configuration;
  std::string effective;  ///< the configuration, as the run directory has it
  std::vector<std::string> notes;
  Tuning tuning;  ///< what --tuning auto chose
  RunInputs inputs;
  Resumption* resumption = nullptr;      ///< of a run that began earlier
  std::shared_ptr<OwnModel> own_model;   ///< that the run learns; null for a model of starling
  bool reads_pipes = false;              ///< some rank does, once all ranks know
  bool scores_released = false;          ///< an earlier start of this run may have released sums of scores
  mutable SharedFigures shared_figures;  ///< figures that the run's policies have shared

  [[nodiscard]] const LearningConfig& common() const { return configuration.common(); }
  [[nodiscard]] bool first_rank() const { return world.rank() == 0; }
  /// Runs `step` on rank 0 alone. If it throws, all ranks leave together. **Collective.**
  void on_first_rank(const std::function<void()>& step) {
    agreement.together([&] {
      if (first_rank()) step();
    });
  }
  [[nodiscard]] MetricsPolicy metrics_policy() const;
  /// The figures that the policies of any rank have shared so far. **Collective.**
  [[nodiscard]] SharedFigures figures_of_all_ranks();
  /// The score of a model on the test set; empty without one. Keeps a reference.
  [[nodiscard]] TestScore test_score_of(Model& model) const;

  /// Names of files are absolute, unless ranks were started in different folders and mean different files by them.
  /// **Collective.**
  void settle_configuration();
  /// Joins what the ranks know of their records, and reads the test set. Nothing is done for a run that does not learn.
  /// **Collective.**
  void agree_on_records();
  /// The tuning, and all after it, is collective only among ranks whose own models say the same of themselves. Nothing
  /// is done for a model of starling. **Collective.**
  void agree_on_own_model(const std::shared_ptr<OwnModel>& own);
  /// Has an own model asked for one private record at a time, if there is noise. Call it before the model is made that
  /// learns.
  void protect_rows(std::shared_ptr<OwnModel>& own);
  /// Once all settings are chosen: deals records into batches, and takes the configuration for good. **Collective.**
  void settle();
  /// Calls `make`, which makes model and start, and checks a start that is a saved model against the run's records.
  /// **Collective.** Throws UsageError and DataError.
  void open_model(const std::function<void()>& make);
  /// Ranks must start an own model from the same values. **Collective.**
  void agree_on_own_start(const Model* model);

  /// The number of rounds with which a resumed run began; `now` for other runs.
  [[nodiscard]] Round first_rounds(Round now) const;
  /// Why the run cannot go on from a checkpoint; empty if it can.
  [[nodiscard]] std::string why_not_resumable() const;
  [[nodiscard]] bool is_resumable() const { return why_not_resumable().empty(); }
  /// Throws UsageError if the run was resumed, or is to have checkpoints, and cannot go on from one.
  void require_resumable() const;
  /// Whether another process finds the same start and can see that it has the same model.
  [[nodiscard]] bool begins_again_alike() const { return start_comes_again() && model_can_be_told(); }
  /// Digest of the start models and the own model, which no ledger knows.
  [[nodiscard]] std::string digest_of_models() const;
  /// Digest of public inputs that no ledger knows: start models, test records. Runs without records have no ledger, so
  /// that their configuration counts here. `dimension` is that of the models.
  [[nodiscard]] std::string digest_of_inputs(std::size_t dimension) const;

 private:
  void check_start();
  [[nodiscard]] bool start_comes_again() const;
  [[nodiscard]] bool model_can_be_told() const;
  [[nodiscard]] std::string digest_of_start() const;
  [[nodiscard]] std::string model_identity() const;
};

}  // namespace starling
