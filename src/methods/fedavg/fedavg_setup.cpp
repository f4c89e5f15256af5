// The data, model and privacy of `starling fedavg`.
#include <algorithm>

#include "core/numerics/kernels.hpp"
#include "fedavg_run.hpp"
#include "run/privacy/noise_keys.hpp"
#include "run/settings/source_options.hpp"

namespace starling {

void FedAvgRun::open_data() {
  inputs_.place_clients();
  loss_ = make_loss(config_.model, config_.loss);
  check_class_labels(config_.data, loss_->classifies() && loss_->scores() == 1 && !config_.model.own, config_.loss);
  config_.data.label_map = [this](double raw) { return loss_->label(raw); };
  inputs_.open_streams(config_.data);
  weigh_clients();
}

/// Sets n_k of the paper.
void FedAvgRun::weigh_clients() {
  for (const auto& stream : inputs_.dataset.streams) {
    const std::optional<std::int64_t> records = stream->records();
    check(config_.weights == ClientWeights::equal || records,
          "--client-weights records on '{}' (nobody knows beforehand how many records a client will have) use "
          "--client-weights equal",
          config_.data.source);
    weights_.push_back(config_.weights == ClientWeights::equal ? 1 : static_cast<double>(*records));
  }
}

void FedAvgRun::choose_settings() {
  SettingsByRule settings(tuned_method(), tuning_terms());
  if (!config_.tunes()) return settings.add_intercept();
  all_records_ = inputs_.records_of_clients();
  tuning_ = settings.choose();
}

/// The mean model is θ_0 − Σ_s η_s Σ_k p_k ĝ_ks with p_k = n_k/Σ n and means ĝ over each client's own batches.
RuleFacts FedAvgRun::facts_of_rule(std::optional<std::int64_t> most_records, std::size_t parameters) const {
  const Vector factors = over_own_batches(all_records_);
  const bool equal = config_.weights == ClientWeights::equal;
  Vector shares;
  double weights = 0;
  for (std::size_t k = 0; k < factors.size(); ++k) {
    const double weight = factors[k] == 0 ? 0 : equal ? 1 : all_records_[k];
    shares.push_back(weight * factors[k]);
    weights += weight;
  }
  scale(1 / weights, shares);
  RuleFacts facts = rule_facts(config_, *loss_, shares, most_records, parameters);
  if (!most_records && !facts.rounds) facts.rounds = rounds_of_endless_streams;
  if (facts.rounds) *facts.rounds *= config_.fedavg.local_steps;
  if (config_.given("step")) facts.step = config_.fedavg.step;
  return facts;
}

TunedMethod FedAvgRun::tuned_method() {
  return {.config = config_,
          .configuration = configuration_,
          .first_step = config_.fedavg.step,
          .why_not = why_no_rule(config_),
          .why_own_units = "",
          .steps = config_.fedavg.local_steps == 1 ? "rounds" : "local steps",
          .norms = ReleasePath::fedavg_norm,
          .features = ReleasePath::fedavg_feature,
          .facts = [this](auto most_records, auto parameters) { return facts_of_rule(most_records, parameters); },
          .own_choices = [](const LearningRule&) { return std::vector<TunedValue>(); },
          .check_before_release = [this](Round releases) { check_before_release(releases); }};
}

void FedAvgRun::check_before_release(Round releases) {
  static_cast<void>(
      make_noise_keys(config_.privacy.noise_key, config_.data.seed, inputs_.first_client(), inputs_.client_count()));
  static_cast<void>(inputs_.rounds_of(rounds_for(releases)));
  const std::unique_ptr<Model> model = make_model(config_.model, *loss_, inputs_.dataset.shape);
  dimension_ = model->dimension();
  static_cast<void>(start_model(model->initial(config_.data.seed)));
}

void FedAvgRun::open_model() {
  protect_rows(config_.model.own);
  model_ = make_model(config_.model, *loss_, inputs_.dataset.shape);
  dimension_ = model_->dimension();
  start_ = start_model(model_->initial(config_.data.seed));
  choose_rounds();
}

/// The last round may have fewer local steps than the others.
Round FedAvgRun::rounds_for(Round releases) const {
  const Round steps = config_.fedavg.local_steps;
  return releases / steps + (releases % steps > 0 ? 1 : 0);
}

void FedAvgRun::choose_rounds() {
  FedAvgSettings& settings = config_.fedavg;
  std::optional<Round> available = inputs_.dataset.shape.rounds;
  if (available) available = rounds_for(*available);
  settings.rounds = inputs_.rounds_of(available);
  releases_ = settings.rounds * settings.local_steps;
  if (inputs_.dataset.shape.rounds) releases_ = std::min(releases_, *inputs_.dataset.shape.rounds);
  if (config_.linear_decay) settings.zero_at = releases_;
  if (settings.local_steps == 1) return;
  notes_.push_back(fmt::format("{} rounds of {} local steps: each client makes up to {} releases", settings.rounds,
                               settings.local_steps, releases_));
}

RunFacts FedAvgRun::privacy_facts() {
  RunFacts facts = common_facts(releases_);
  facts.trust = config_.privacy.protects() ? TrustModel::local : TrustModel::none;
  facts.sends_models = true;
  facts.histograms = histograms_of(config_, loss_.get());
  return facts;
}

}  // namespace starling
