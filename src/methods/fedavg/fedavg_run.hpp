/// One run of `starling fedavg`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fedavg_config.hpp"
#include "run/aggregated_run.hpp"
#include "run/inputs/start_models.hpp"
#include "run/tuning/rule_settings.hpp"
#include "run/tuning/settings_by_rule.hpp"

namespace starling {

/// One run of `starling fedavg` on one rank.
class FedAvgRun final : public AggregatedRun {
 public:
  FedAvgRun(World& world, Configured<FedAvgConfig>& configuration, RunStart start)
      : AggregatedRun(world, "fedavg", configuration, std::move(start)), configuration_(configuration) {}

 private:
  [[nodiscard]] AggregatedRounds& protocol() const override { return *protocol_; }
  [[nodiscard]] Model& model() const override { return *model_; }
  [[nodiscard]] Round planned_rounds() const override { return config_.fedavg.rounds; }
  [[nodiscard]] std::optional<StepSchedule> steps() const override {
    StepSchedule steps = config_.fedavg;
    if (steps.falls_to_zero()) steps.zero_at = planned_rounds();
    return steps;
  }

  [[nodiscard]] std::shared_ptr<OwnModel> own_model() const override { return config_.model.own; }
  [[nodiscard]] std::string own_start() const override {
    return own_model() == nullptr ? "" : own_start_digest(*model_, config_.data.seed);
  }
  void open_data() override;
  void choose_settings() override;
  void open_model() override;
  void agree_on_model() override { correlate_noise(config_.correlation == CorrelationChoice::two_buffers, releases_); }
  [[nodiscard]] RunFacts privacy_facts() override;
  void build_protocol() override;
  void add_observers(std::vector<Observer*>& observers, KeptParts& parts) override;
  [[nodiscard]] Released<Columns> final_models() override;
  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override;
  [[nodiscard]] std::optional<SavedModel> model_of_results() const override {
    return saved_model(config_.model, config_.loss, *loss_, inputs_.dataset.shape);
  }

  [[nodiscard]] TunedMethod tuned_method();
  [[nodiscard]] RuleFacts facts_of_rule(std::optional<std::int64_t> most_records, std::size_t parameters) const;
  void check_before_release(Round releases);

  void weigh_clients();
  [[nodiscard]] Round rounds_for(Round releases) const;
  void choose_rounds();

  Configured<FedAvgConfig>& configuration_;
  FedAvgConfig& config_ = configuration_.values();
  Tuning tuning_;
  KeptChoices kept_choices_{tuning_};
  std::unique_ptr<Model> model_;
  std::optional<PersonModel> persons_;  ///< of runs of unit person
  std::optional<Released<Vector>> start_;
  Vector weights_;      ///< of local clients
  Vector all_records_;  ///< N_k of all clients, once the rule asks
  Round releases_ = 0;  ///< most releases of a client
  std::optional<AggregatedClients> clients_;
  std::unique_ptr<FedAvg> protocol_;
  std::optional<ModelAverage> average_;
};

}  // namespace starling
