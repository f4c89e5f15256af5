/// One run of `starling infer`.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "column_check.hpp"
#include "infer_config.hpp"
#include "infer_engine.hpp"
#include "interval_results.hpp"
#include "methods/omd/step_cap_choice.hpp"
#include "output/intervals/study.hpp"
#include "protocol/person_model.hpp"
#include "run/learning_run.hpp"
#include "run/tuning/tuned_settings.hpp"
#include "warm_up.hpp"

namespace starling {

/// One run of `starling infer` on one rank.
class InferRun final : public LearningRun {
 public:
  InferRun(World& world, Configured<InferConfig>& configuration, RunStart start)
      : LearningRun(world, "infer", configuration, std::move(start)), configuration_(configuration) {}

 private:
  /// Ranks without clients take part in an aggregator's rounds.
  [[nodiscard]] bool plays(int rank) const override { return !schedule_ || LearningRun::plays(rank); }
  [[nodiscard]] std::string digest_of_inputs() const override {
    return LearningRun::digest_of_inputs() + digest_of(config_.step_cap);
  }
  void open_graph() override;
  [[nodiscard]] std::string graph_digest() const override { return schedule_ ? schedule_->digest() : ""; }
  void open_data() override;
  void choose_settings() override;
  void open_model() override;
  void agree_on_model() override;
  [[nodiscard]] RunFacts privacy_facts() override;
  void build_protocol() override;
  [[nodiscard]] Recording recording() override;
  void add_observers(std::vector<Observer*>& observers, KeptParts& parts) override;
  void play_rounds(const std::vector<Observer*>& observers) override { engine_->run(observers); }
  [[nodiscard]] RoundsEnd end_rounds() override;
  [[nodiscard]] const RoundView& view() const override { return engine_->view(); }
  [[nodiscard]] TimeShares time_shares() const override { return engine_->time_shares(); }
  [[nodiscard]] Released<Columns> final_models() override { return intervals_->estimates(); }
  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override;
  [[nodiscard]] OwnResults own_results(const Summary& summary) override;
  [[nodiscard]] std::optional<SavedModel> model_of_results() const override;
  /// A study of coverage plays its own rounds.
  ExitCode play() override { return config_.replications > 0 ? study() : LearningRun::play(); }

  void choose_steps();
  void note_hidden();
  [[nodiscard]] bool path_tells_scales() const;
  /// **Collective.**
  [[nodiscard]] Vector count_records();
  void look_at_columns();
  void refuse_constant_columns(const std::vector<std::size_t>& constant);
  [[nodiscard]] std::unique_ptr<Protection> make_protection(ReleaseSettings settings) const;
  /// Whether curvatures are released beside directions.
  [[nodiscard]] bool two_parts() const { return config_.plug_in || config_.curvature_by_step(); }
  [[nodiscard]] SecondPart plug_in_part() const;
  [[nodiscard]] bool unprotected() const { return !config_.privacy.protects(); }

  /// With this rank's streams, accounts and keys.
  [[nodiscard]] std::unique_ptr<InferEngine> engine(std::vector<std::unique_ptr<Stream>> streams, Accounts& accounts);
  [[nodiscard]] std::vector<std::string> coefficient_names() const;
  void add_weights(Summary& summary);

  void check_truth() const;
  ExitCode study();
  [[nodiscard]] std::optional<std::vector<IntervalsAt>> replicate(std::int64_t r);
  void write_study_results(const Study& study, std::int64_t replications, double wall);

  Configured<InferConfig>& configuration_;
  InferConfig& config_ = configuration_.values();
  std::unique_ptr<Schedule> schedule_;  ///< of runs with --topology
  std::optional<double> contraction_;   ///< of the graph, per exchange; none where it is not known
  bool even_masses_ = false;            ///< every client has a mass of 1 in every round
  std::unique_ptr<CurvedLoss> curved_;
  std::unique_ptr<MallowsModel> model_;
  std::optional<PersonModel> persons_;  ///< of runs of unit person
  std::optional<Released<Vector>> start_;
  Tuning tuning_;
  KeptChoices kept_choices_{tuning_};
  std::optional<WarmUp> warm_up_;                ///< of runs with --warmup-share, once their steps are known
  std::set<std::size_t> hidden_;                 ///< features that a warm-up could not tell from noise
  std::optional<ColumnCheck> columns_;           ///< once the model is open
  std::optional<IntervalFacts> interval_facts_;  ///< once the ranks agree on the model
  Recorded recorded_;
  std::unique_ptr<InferEngine> engine_;
  std::optional<IntervalResults> intervals_;  ///< of the engine
};

}  // namespace starling
