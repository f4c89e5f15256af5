/// One run of `starling omd`.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/parents.hpp"
#include "omd_config.hpp"
#include "output/figures/model_path.hpp"
#include "output/figures/violation.hpp"
#include "output/model_average.hpp"
#include "protocol/decentralized/mixing_channel.hpp"
#include "protocol/person_model.hpp"
#include "regret/regret.hpp"
#include "run/inputs/start_models.hpp"
#include "run/learning_run.hpp"
#include "run/tuning/settings_by_rule.hpp"
#include "run_canaries.hpp"
#include "run_constraints.hpp"
#include "run_graph.hpp"
#include "step_cap_choice.hpp"
#include "tuning.hpp"

namespace starling {

/// One run of `starling omd` on one rank.
class OmdRun final : public LearningRun {
 public:
  OmdRun(World& world, Configured<OmdConfig>& configuration, RunStart start)
      : LearningRun(world, "omd", configuration, std::move(start)), configuration_(configuration) {}

 private:
  [[nodiscard]] std::string digest_of_inputs() const override {
    return LearningRun::digest_of_inputs() + graph_->digest_at_first() + digest_of(cap_at_first_);
  }

  [[nodiscard]] std::shared_ptr<OwnModel> own_model() const override { return config_.model.own; }
  [[nodiscard]] std::string own_start() const override {
    return own_model() == nullptr ? "" : own_start_digest(*model_, config_.data.seed);
  }
  void open_graph() override;
  [[nodiscard]] std::string graph_digest() const override { return graph_->digest_at_first(); }
  void begin_after_changes(std::size_t first) override;
  void open_data() override;
  void choose_settings() override;
  void open_model() override;
  void agree_on_model() override;
  [[nodiscard]] RunFacts privacy_facts() override;
  void build_protocol() override;
  [[nodiscard]] Recording recording() override;
  void add_observers(std::vector<Observer*>& observers, KeptParts& parts) override;
  void play_rounds(const std::vector<Observer*>& observers) override;
  [[nodiscard]] RoundsEnd end_rounds() override;
  [[nodiscard]] const RoundView& view() const override { return *omd_; }
  [[nodiscard]] TimeShares time_shares() const override { return omd_->time_shares(); }
  [[nodiscard]] Released<Columns> final_models() override;
  [[nodiscard]] bool evaluates() const override { return regrets(); }
  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override;
  void complete_summary(Summary& summary) override;
  [[nodiscard]] std::optional<SavedModel> model_of_results() const override;
  [[nodiscard]] OwnResults own_results(const Summary& summary) override;
  [[nodiscard]] ExitCode exit_code(const Summary& summary, const RoundsEnd& end) override;

  void choose_family();
  /// **Collective.**
  [[nodiscard]] std::map<Client, Vector> mean_models(const std::vector<Parentage>& parents);
  [[nodiscard]] StartModels read_start();
  void open_constraints();
  void check_regret() const;
  void check_canaries(Round rounds) const;

  [[nodiscard]] TunedMethod tuned_method();
  [[nodiscard]] RuleFacts facts_of_rule(std::optional<std::int64_t> most_records, std::size_t parameters) const;
  void check_before_release(Round releases);

  /// **Collective.**
  void choose_step_cap();
  [[nodiscard]] Learning make_learning();
  [[nodiscard]] bool hosts_clients() const { return inputs_.client_count() > 0; }
  [[nodiscard]] bool regrets() const { return config_.regret != RegretChoice::none; }
  [[nodiscard]] bool any_has_played();
  void note_late_clients();
  void add_regret(Summary& summary, bool stopped);
  [[nodiscard]] Regret find_regret_of_run();
  void add_weights(Summary& summary);
  [[nodiscard]] std::vector<std::string> draw() const;

  Configured<OmdConfig>& configuration_;
  OmdConfig& config_ = configuration_.values();
  Tuning tuning_;
  KeptChoices kept_choices_{tuning_};
  std::optional<RunGraph> graph_;
  double cap_at_first_ = 1;  ///< step cap with the clients that there were at first
  std::unique_ptr<Domain> domain_;
  std::unique_ptr<MirrorMap> mirror_;
  std::unique_ptr<Model> model_;
  Vector all_records_;                      ///< N_k of all clients, once the rule asks
  std::optional<Released<Columns>> start_;  ///< until the protocol takes it
  std::optional<RunConstraints> constraints_;
  std::optional<ConstraintReport> violation_;
  std::optional<PersonModel> persons_;   ///< of runs of unit person
  std::optional<RunCanaries> canaries_;  ///< of runs that audit themselves
  std::optional<MixingChannel> channel_;
  std::optional<DecentralizedOmd> omd_;
  Recorded recorded_;
  std::optional<ModelPath> path_;         ///< of runs that learn
  std::optional<PlayedRecorder> played_;  ///< of runs with --regret
  std::optional<ModelAverage> average_;
  std::optional<ConstraintRecorder> violations_;
};

}  // namespace starling
