/// One run of `starling fedavg`.
#pragma once

#include "app/run/aggregated_run.hpp"
#include "fedavg_config.hpp"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace starling {

/// One run of `starling fedavg` on one rank, from configuration to results.
class FedAvgRun final : public AggregatedRun {
 public:
  FedAvgRun(World& world, std::string command_line) : AggregatedRun(world, "fedavg", std::move(command_line)) {}

  ExitCode run(const std::vector<std::string>& words) {
    configure([&] { config_ = parse_fedavg_config(words); });
    if (is_finished()) return show_finished();
    agreement_.together([&] { open_data(); });
    agree_on_data();
    agreement_.together([&] { open_model(); });
    open_protection();
    make_directory();
    return play();
  }

 private:
  [[nodiscard]] const LearningConfig& common() const override { return config_; }

  [[nodiscard]] std::string why_no_round_is_left_out() const override { return ""; }
  [[nodiscard]] Round releases_of_round() const override { return config_.fedavg.local_steps; }
  [[nodiscard]] std::string why_no_more_rounds() const override {
    return config_.average == Averaging::tail ? "the mean over the last half of the rounds has begun" : "";
  }
  void open_data();
  void weigh_clients();
  void open_model();
  void choose_rounds();
  /// **Collective.**
  void open_protection();
  ExitCode play();
  [[nodiscard]] Summary make_summary(const FedAvg& protocol, const Released<Columns>& models, double wall,
                                     bool stopped);

  FedAvgConfig config_;
  std::unique_ptr<Model> model_;
  std::optional<Released<Vector>> start_;
  Vector weights_;      ///< of local clients
  Round releases_ = 0;  ///< that a client makes at most
};

}  // namespace starling
