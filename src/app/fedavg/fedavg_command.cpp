// The rounds of `starling fedavg`, and what they come to.
#include "fedavg_command.hpp"

#include "app/run/launch.hpp"
#include "fedavg_run.hpp"

namespace starling {

ExitCode FedAvgRun::play() {
  root_.emplace(world_, *layout_);
  AggregatedClients clients(*model_, privacy_->accounts(), privacy_->keys(), std::move(dataset_.streams),
                            config_.data.batch);
  FedAvg protocol(*root_, clients, config_.fedavg, *start_, privacy_->mechanism(), weights_);
  const Round planned = config_.fedavg.rounds;
  find_checkpoint(planned);
  open_model_records(*model_, planned);

  std::vector<Observer*> observers = recorders();
  std::optional<ModelAverage> average;
  if (config_.average != Averaging::none) observers.push_back(&average.emplace(config_.average, planned));
  KeptParts parts;
  parts.add("rounds", protocol);
  if (average) parts.add("mean models", *average);
  start_checkpoints(std::move(parts));
  observers.push_back(last_observer());
  const double wall = time_rounds([&] { protocol.run(observers); });

  const Released<Columns> models = average ? average->models(protocol) : protocol.models();
  const bool stopped = protocol.done() < planned;
  checkpoint_the_end(protocol.done(), stopped);
  finish_records(protocol, protocol.done(), models);
  if (stopped) note_stop(protocol.done(), planned, "round", is_resumable());
  const Summary summary = make_summary(protocol, models, wall, stopped);
  agreement_.together([&] {
    if (first_rank()) write_results(summary, stopped, "the final model");
  });
  if (!stopped) drop_checkpoints(protocol.done());
  return stopped ? ExitCode::stopped_safely : ExitCode::done;
}

Summary FedAvgRun::make_summary(const FedAvg& protocol, const Released<Columns>& models, double wall, bool stopped) {
  Summary summary = begin_summary(config_.fedavg.rounds, wall);
  summary.average = name_of(config_.average);
  gather(protocol, models, *model_, summary);
  finish_summary(summary, stopped);
  return summary;
}

Command fedavg_command() {
  return {
      .name = "fedavg",
      .purpose = "federated averaging with rank 0 as aggregator, to compare with",
      .on_all_ranks = true,
      .help = fedavg_help,
      .options = fedavg_declarations,
      .configuration = [](const std::vector<std::string>& words) { return parse_fedavg_config(words).text; },
      .run =
          [](const Call& call) {
            return run_on_all_ranks([&](World& world) { return FedAvgRun(world, call.command_line).run(call.words); });
          }};
}

}  // namespace starling
