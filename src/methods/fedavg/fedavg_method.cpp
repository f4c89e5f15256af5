#include "fedavg_method.hpp"

#include <algorithm>

#include "core/numerics/kernels.hpp"
#include "loss/loss.hpp"
#include "privacy/statement/trust.hpp"
#include "protocol/decentralized/learning_rule.hpp"
#include "run/inputs/start_models.hpp"
#include "run/privacy/noise_keys.hpp"
#include "run/privacy/pairs/run_pairs.hpp"
#include "run/privacy/run_facts.hpp"
#include "run/settings/source_options.hpp"
#include "run/stages/run_context.hpp"
#include "run/tuning/releases/tuned_method.hpp"
#include "run/tuning/rule_settings.hpp"
#include "run/tuning/score_share.hpp"
#include "run/tuning/settings_by_rule.hpp"

namespace starling {

FedAvgParts::FedAvgParts(FedAvgConfig& of_run) : config(of_run) {}
FedAvgParts::~FedAvgParts() = default;

FedAvgMethod::FedAvgMethod(RunContext& run, RunHome& home, Configured<FedAvgConfig>& configuration)
    : Method(run, home), configuration_(configuration) {
  all_ranks_play_ = true;
  run_.agreement.together([&] { open_data(); });
  run_.inputs.introduce();
  run_.inputs.open_streams(config_.data);
  run_.agreement.together([&] { weigh_clients(); });
  run_.agree_on_records();
  run_.agree_on_own_model(config_.model.own);
  choose_pairs();
  choose_settings();
  run_.settle();
  run_.open_model([this] { open_model(); });
  run_.agree_on_own_start(parts_.model.get());
  correlate_noise(config_.correlation == CorrelationChoice::two_buffers, parts_.releases);
}

void FedAvgMethod::open_data() {
  run_.inputs.place_clients();
  parts_.loss = make_loss(config_.model, config_.loss);
  check_person_gradient(config_.privacy, *parts_.loss);
  check_class_labels(config_.data, *parts_.loss, config_.loss, config_.model.own != nullptr);
  read_labels_of(*parts_.loss, config_.data);
}

/// Sets n_k of the paper.
void FedAvgMethod::weigh_clients() {
  for (const auto& stream : run_.inputs.dataset.streams) {
    const std::optional<std::int64_t> records = stream->records();
    check(config_.weights == ClientWeights::equal || records,
          "--client-weights records on '{}': nobody knows beforehand how many records a client will have. Use "
          "--client-weights equal.",
          config_.data.source);
    parts_.weights.push_back(config_.weights == ClientWeights::equal ? 1 : static_cast<double>(*records));
  }
}

/// Models are added up at rank 0: clients have no neighbours.
void FedAvgMethod::choose_pairs() {
  if (!config_.privacy.trusts_pairs) return;
  pairs_ = std::make_shared<RunPairs>(run_.agreement, config_.privacy,
                                      PairClients::all_of(run_.inputs.layout->clients()), nullptr, config_.data.seed);
  require_known_ends(run_.agreement, run_.reads_pipes);
  run_.agreement.together([&] {
    check(std::ranges::find(parts_.weights, 0.0) == parts_.weights.end(),
          "--trust pairs with a client without records: it counts for nothing in the mean, and its pairs would not "
          "cancel. Give it records, or leave it out.");
  });
}

std::optional<double> FedAvgMethod::hiding_of_pairs() const {
  const bool may = run_.first_rank() && may_share_noise(config_.privacy) && config_.weights != ClientWeights::equal;
  if (!may) return std::nullopt;
  return starling::hiding_of_pairs(config_.privacy, run_.inputs.layout->clients(), nullptr, config_.data.seed);
}

void FedAvgMethod::choose_settings() {
  if (config_.tunes()) {
    all_records_ = run_.inputs.records_of_clients();
    run_.tuning = SettingsByRule(tuned_method(), tuning_terms(parts_.loss.get(), pairs_)).choose();
  }
  run_.agreement.together([&] { check_score_share(config_, run_.inputs.dataset, ""); });
}

/// The mean model is θ_0 − Σ_s η_s Σ_k p_k ĝ_ks with p_k = n_k/Σ n and means ĝ over each client's own batches.
RuleFacts FedAvgMethod::facts_of_rule(std::optional<std::int64_t> most_records, std::size_t parameters) const {
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
  RuleFacts facts = rule_facts(config_, *parts_.loss, shares, most_records, parameters);
  if (pairs_) facts.price = pairs_->price_of_mean(facts.price);
  if (!most_records && !facts.rounds) facts.rounds = rounds_of_endless_streams;
  if (facts.rounds) *facts.rounds *= config_.fedavg.local_steps;
  facts.l2 = config_.fedavg.l2.lambda;
  if (config_.given("step")) facts.step = config_.fedavg.step;
  return facts;
}

TunedMethod FedAvgMethod::tuned_method() {
  return {.config = config_,
          .configuration = configuration_,
          .first_step = config_.fedavg.step,
          .why_not = why_no_rule(config_),
          .why_own_units = "",
          .why_own_scores = "",
          .steps = config_.fedavg.local_steps == 1 ? "rounds" : "local steps",
          .plays_once = false,
          .may_penalise = true,
          .own_means = config_.weights == ClientWeights::equal || config_.fedavg.local_steps > 1,
          .norms = ReleasePath::fedavg_norm,
          .features = ReleasePath::fedavg_feature,
          .facts = [this](auto most_records, auto parameters) { return facts_of_rule(most_records, parameters); },
          .records_of_clients = [this] { return all_records_; },
          .hiding_of_pairs = hiding_of_pairs(),
          .own_choices = [](const LearningRule&) { return std::vector<TunedValue>(); },
          .check_before_release = [this](Round releases) { check_before_release(releases); }};
}

void FedAvgMethod::check_before_release(Round releases) {
  static_cast<void>(make_noise_keys(config_.privacy.noise_key, config_.data.seed, run_.inputs.first_client(),
                                    run_.inputs.client_count()));
  static_cast<void>(run_.inputs.rounds_of(rounds_for(releases)));
  const std::unique_ptr<Model> model = make_model(config_.model, *parts_.loss, run_.inputs.dataset.shape);
  dimension_ = model->dimension();
  static_cast<void>(
      start_of_all(config_, dimension_, own_start(config_.start, *model, parts_.loss.get(), config_.data.seed)));
}

void FedAvgMethod::open_model() {
  run_.protect_rows(config_.model.own);
  parts_.model = make_model(config_.model, *parts_.loss, run_.inputs.dataset.shape);
  dimension_ = parts_.model->dimension();
  config_.fedavg.l2.run = config_.model.run_of_constant(run_.inputs.dataset.shape.features);
  parts_.start =
      start_of_all(config_, dimension_, own_start(config_.start, *parts_.model, parts_.loss.get(), config_.data.seed));
  choose_rounds();
}

/// The last round may have fewer local steps than the others.
Round FedAvgMethod::rounds_for(Round releases) const {
  const Round steps = config_.fedavg.local_steps;
  return releases / steps + (releases % steps > 0 ? 1 : 0);
}

void FedAvgMethod::choose_rounds() {
  FedAvgSettings& settings = config_.fedavg;
  std::optional<Round> available = run_.inputs.dataset.shape.rounds;
  if (available) available = rounds_for(*available);
  settings.rounds = run_.inputs.rounds_of(available);
  parts_.releases = settings.rounds * settings.local_steps;
  if (run_.inputs.dataset.shape.rounds) parts_.releases = std::min(parts_.releases, *run_.inputs.dataset.shape.rounds);
  if (config_.linear_decay) settings.zero_at = parts_.releases;
  if (settings.local_steps == 1) return;
  run_.notes.push_back(fmt::format("{} rounds of {} local steps: each client makes up to {} releases", settings.rounds,
                                   settings.local_steps, parts_.releases));
}

RunFacts FedAvgMethod::privacy_facts() {
  RunFacts facts = common_facts(parts_.releases);
  facts.trust = pairs_ ? TrustModel::pairs : config_.privacy.protects() ? TrustModel::local : TrustModel::none;
  facts.pairs = pairs_;
  facts.sends_models = true;
  facts.histograms = histograms_of(config_, parts_.loss.get());
  return facts;
}

}  // namespace starling
