/// `starling fedavg` in one run, before its rounds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/boundary.hpp"
#include "core/columns.hpp"
#include "fedavg_config.hpp"
#include "run/settings/configuration.hpp"
#include "run/stages/method.hpp"

namespace starling {

class Loss;
class Model;
class RunPairs;
struct RuleFacts;
struct TunedMethod;

/// Settings, model and weights of a run of federated averaging, once they are settled.
struct FedAvgParts {
  explicit FedAvgParts(FedAvgConfig& of_run);
  ~FedAvgParts();

  FedAvgConfig& config;
  std::unique_ptr<Loss> loss;
  std::unique_ptr<Model> model;
  Released<Vector> start = declare_public(Vector());
  Vector weights = {};  ///< of local clients
  Round releases = 0;   ///< most releases of a client
};

class FedAvgMethod final : public Method {
 public:
  FedAvgMethod(RunContext& run, RunHome& home, Configured<FedAvgConfig>& configuration);

  [[nodiscard]] RunFacts privacy_facts() override;
  [[nodiscard]] std::unique_ptr<Play> make(const BegunRun& begun) override;

 private:
  void open_data();
  void choose_settings();
  void open_model();
  [[nodiscard]] TunedMethod tuned_method();
  [[nodiscard]] RuleFacts facts_of_rule(std::optional<std::int64_t> most_records, std::size_t parameters) const;
  void check_before_release(Round releases);
  void weigh_clients();
  void choose_pairs();
  [[nodiscard]] std::optional<double> hiding_of_pairs() const;
  [[nodiscard]] Round rounds_for(Round releases) const;
  void choose_rounds();

  Configured<FedAvgConfig>& configuration_;
  FedAvgConfig& config_ = configuration_.values();
  FedAvgParts parts_{config_};
  Vector all_records_;                     ///< N_k of all clients, once the rule asks
  std::shared_ptr<const RunPairs> pairs_;  ///< under --trust pairs
};

}  // namespace starling
