// The rounds and results of `starling fedavg`.
#include "fedavg_run.hpp"
#include "methods/methods.hpp"

namespace starling {

void FedAvgRun::build_protocol() {
  root_.emplace(world_, *inputs_.layout);
  Model& learned = learned_model(*model_, config_.privacy, persons_);
  Vector factors = inputs_.factors_of_own_means(inputs_.dataset.streams);
  clients_.emplace(learned, privacy_->accounts(), privacy_->keys(), std::move(inputs_.dataset.streams),
                   config_.data.batch);
  protocol_ = std::make_unique<FedAvg>(*root_, *clients_, config_.fedavg, *start_, privacy_->mechanism(),
                                       std::move(weights_), std::move(factors));
}

void FedAvgRun::add_observers(std::vector<Observer*>& observers, KeptParts& parts) {
  AggregatedRun::add_observers(observers, parts);
  parts.add("choices", kept_choices_);
  if (config_.average == Averaging::none) return;
  observers.push_back(&average_.emplace(config_.average, planned_rounds()));
  parts.add("mean models", *average_);
}

Released<Columns> FedAvgRun::final_models() {
  return average_ ? average_->models(*protocol_) : protocol_->models();
}

void FedAvgRun::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) {
  summary.average = name_of(config_.average);
  summary.add(tuning_);
  AggregatedRun::summarise(summary, std::move(models), end);
}

Command fedavg_command() {
  return learning_command<FedAvgRun, FedAvgConfig, fedavg_options, complete_fedavg_config>(
      "fedavg", "federated averaging with rank 0 as aggregator, to compare with", fedavg_manual);
}

}  // namespace starling
