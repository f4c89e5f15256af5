// The rounds and results of `starling fedavg`.
#include "app/commands.hpp"
#include "fedavg_run.hpp"

namespace starling {

void FedAvgRun::build_protocol() {
  root_.emplace(world_, *layout_);
  clients_.emplace(*model_, privacy_->accounts(), privacy_->keys(), std::move(dataset_.streams), config_.data.batch);
  protocol_ =
      std::make_unique<FedAvg>(*root_, *clients_, config_.fedavg, *start_, privacy_->mechanism(), std::move(weights_));
}

void FedAvgRun::add_observers(std::vector<Observer*>& observers, KeptParts& parts) {
  AggregatedRun::add_observers(observers, parts);
  if (config_.average == Averaging::none) return;
  observers.push_back(&average_.emplace(config_.average, planned_rounds()));
  parts.add("mean models", *average_);
}

Released<Columns> FedAvgRun::final_models() {
  return average_ ? average_->models(*protocol_) : protocol_->models();
}

void FedAvgRun::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) {
  summary.average = name_of(config_.average);
  AggregatedRun::summarise(summary, std::move(models), end);
}

int run_fedavg(const std::vector<std::string>& words, const std::string& command_line, bool speaks) {
  return run_learning<FedAvgRun>(words, command_line, speaks, fedavg_help, parse_fedavg_config);
}

}  // namespace starling
