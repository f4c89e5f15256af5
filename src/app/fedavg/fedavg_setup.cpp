// The data, model and privacy of `starling fedavg`.
#include "fedavg_run.hpp"
#include <algorithm>

namespace starling {

void FedAvgRun::open_data() {
  place_clients(std::nullopt);
  loss_ = make_loss(config_.model, config_.loss);
  config_.data.label_map = [this](double raw) { return loss_->label(raw); };
  open_streams(config_.data);
  weigh_clients();
}

/// Sets n_k of the paper.
void FedAvgRun::weigh_clients() {
  for (const auto& stream : dataset_.streams) {
    const std::optional<std::int64_t> records = stream->records();
    check(config_.weights == ClientWeights::equal || records,
          "--client-weights records on '{}' (nobody knows beforehand how many records a client will have) use "
          "--client-weights equal",
          config_.data.source);
    weights_.push_back(config_.weights == ClientWeights::equal ? 1 : static_cast<double>(*records));
  }
}

void FedAvgRun::open_model() {
  model_ = make_model(config_.model, *loss_, dataset_.shape);
  dimension_ = model_->dimension();
  if (config_.test) test_ = read_test_set(*config_.test, config_.data, dataset_.shape);
  start_ = start_model(model_->initial(config_.data.seed));
  choose_rounds();
}

/// The last round may have fewer local steps than the others.
void FedAvgRun::choose_rounds() {
  FedAvgSettings& settings = config_.fedavg;
  std::optional<Round> available = dataset_.shape.rounds;
  if (available) available = *available / settings.local_steps + (*available % settings.local_steps > 0 ? 1 : 0);
  settings.rounds = rounds_of(available);
  releases_ = settings.rounds * settings.local_steps;
  if (dataset_.shape.rounds) releases_ = std::min(releases_, *dataset_.shape.rounds);
  if (settings.local_steps == 1) return;
  notes_.push_back(fmt::format("{} rounds of {} local steps: each client makes up to {} releases", settings.rounds,
                               settings.local_steps, releases_));
}

RunFacts FedAvgRun::privacy_facts() {
  RunFacts facts = common_facts(releases_);
  facts.trust = config_.privacy.protects() ? TrustModel::local : TrustModel::none;
  facts.sends_models = true;
  return facts;
}

}  // namespace starling
