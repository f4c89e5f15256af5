/// One run of `starling fedavg`.
#pragma once

#include "app/run/aggregated_run.hpp"
#include "fedavg_config.hpp"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace starling {

/// One run of `starling fedavg` on one rank.
class FedAvgRun final : public AggregatedRun {
 public:
  FedAvgRun(World& world, std::string command_line) : AggregatedRun(world, "fedavg", std::move(command_line)) {}

 private:
  [[nodiscard]] const LearningConfig& common() const override { return config_; }
  [[nodiscard]] std::string why_no_round_is_left_out() const override { return ""; }
  [[nodiscard]] Round releases_of_round() const override { return config_.fedavg.local_steps; }
  [[nodiscard]] std::string why_no_more_rounds() const override {
    return config_.average == Averaging::tail ? "the mean over the last half of the rounds has begun" : "";
  }
  [[nodiscard]] AggregatedRounds& protocol() const override { return *protocol_; }
  [[nodiscard]] Model& model() const override { return *model_; }
  [[nodiscard]] Round planned_rounds() const override { return config_.fedavg.rounds; }

  [[nodiscard]] const OwnModel* own_model() const override { return config_.model.own.get(); }
  void read_configuration(const std::vector<std::string>& words) override {
    config_ = parse_fedavg_config(words, of_run_);
  }
  void open_data() override;
  void open_model() override;
  [[nodiscard]] RunFacts privacy_facts() override;
  void build_protocol() override;
  void add_observers(std::vector<Observer*>& observers, KeptParts& parts) override;
  [[nodiscard]] Released<Columns> final_models() override;
  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override;
  [[nodiscard]] std::optional<SavedModel> model_of_results() const override {
    return saved_model(config_.model, config_.loss, *loss_, dataset_.shape);
  }

  void weigh_clients();
  void choose_rounds();

  FedAvgConfig config_;
  std::unique_ptr<Model> model_;
  std::optional<PersonModel> persons_;  ///< of runs of unit person
  std::optional<Released<Vector>> start_;
  Vector weights_;      ///< of local clients
  Round releases_ = 0;  ///< most releases of a client
  std::optional<AggregatedClients> clients_;
  std::unique_ptr<FedAvg> protocol_;
  std::optional<ModelAverage> average_;
};

}  // namespace starling
