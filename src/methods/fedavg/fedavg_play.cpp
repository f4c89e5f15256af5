// The rounds and results of `starling fedavg`.
#include <utility>

#include "fedavg_method.hpp"
#include "methods/methods.hpp"
#include "output/checkpoints/kept_parts.hpp"
#include "output/model_average.hpp"
#include "output/model_file/saved_model.hpp"
#include "protocol/aggregated/aggregated_clients.hpp"
#include "protocol/aggregated/fedavg.hpp"
#include "report/summary.hpp"
#include "run/life_cycle.hpp"
#include "run/play_at_root.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/results/added_noise.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

namespace {

class FedAvgPlay final : public PlayAtRoot {
 public:
  FedAvgPlay(const BegunRun& begun, const Method& method, FedAvgParts& parts)
      : PlayAtRoot(begun, method, *parts.model, parts.config.fedavg.rounds, steps_of(parts.config.fedavg)),
        begun_(begun),
        parts_(parts),
        shares_(parts.weights),
        factors_(run_.inputs.factors_of_own_means(run_.inputs.dataset.streams)),
        clients_(clients_of_rank(begun)) {
    if (parts.config.average != Averaging::none) average_.emplace(parts.config.average, planned());
    protocol_ = std::make_unique<FedAvg>(root_, clients_, parts.config.fedavg, parts.start, begun.privacy->mechanism(),
                                         std::move(parts.weights), factors_);
  }

  [[nodiscard]] Recording recording() override {
    Recording recording = PlayAtRoot::recording();
    recording.scored = {ReleasePath::fedavg_score, clients_.streams()};
    return recording;
  }

  void add_observers(std::vector<Observer*>& observers, KeptParts& parts) override {
    PlayAtRoot::add_observers(observers, parts);
    if (!average_) return;
    observers.push_back(&*average_);
    parts.add("mean models", *average_);
  }

  [[nodiscard]] Released<Columns> final_models() override {
    return average_ ? average_->models(*protocol_) : protocol_->models();
  }

  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override {
    summary.average = name_of(parts_.config.average);
    PlayAtRoot::summarise(summary, std::move(models), end);
    summary.add(noise_of_run());
  }

  [[nodiscard]] std::optional<SavedModel> saved_model() const override {
    return starling::saved_model(parts_.config.model, parts_.config.loss, *parts_.loss, run_.inputs.dataset.shape);
  }

 private:
  static StepSchedule steps_of(const FedAvgSettings& settings) {
    StepSchedule steps = settings;
    if (steps.falls_to_zero()) steps.zero_at = settings.rounds;
    return steps;
  }

  /// **Collective.**
  [[nodiscard]] AddedNoise noise_of_run() const {
    const FedAvgSettings& settings = parts_.config.fedavg;
    const auto length = [&settings](Round step) { return settings.length(step / settings.local_steps, step); };
    Vector weights = shares_;
    for (std::size_t k = 0; k < weights.size(); ++k) weights[k] *= factors_[k];
    return added_noise(begun_, *protocol_,
                       {length, weights, shares_, true,
                        average_                                ? "the model is a mean over rounds"
                        : parts_.config.local_update != "plain" ? "local steps are corrected"
                                                                : ""});
  }

  const BegunRun begun_;
  FedAvgParts& parts_;
  Vector shares_;   ///< n_k
  Vector factors_;  ///< of the local clients' noisy mean gradients
  AggregatedClients clients_;
  std::optional<ModelAverage> average_;
};

}  // namespace

std::unique_ptr<Play> FedAvgMethod::make(const BegunRun& begun) {
  return std::make_unique<FedAvgPlay>(begun, *this, parts_);
}

Command fedavg_command() {
  return learning_command<FedAvgMethod, FedAvgConfig, fedavg_options, complete_fedavg_config>(
      "fedavg", "federated averaging with rank 0 as aggregator, to compare with", fedavg_manual);
}

}  // namespace starling
