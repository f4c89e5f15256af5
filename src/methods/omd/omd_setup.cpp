// The data, model and privacy of `starling omd`.
#include <algorithm>

#include "core/numerics/kernels.hpp"
#include "omd_run.hpp"
#include "run/settings/source_options.hpp"
#include "run/tuning/rule_settings.hpp"

namespace starling {

void OmdRun::open_data() {
  domain_ = domain_table().make(config_.domain.value_or(default_domain(config_.mirror)));
  mirror_ = mirror_table().make(config_.mirror, *domain_);
  if (!config_.learns()) {
    check(!config_.privacy.mechanism && !config_.test && !config_.save_partition,
          "--loss none learns nothing: --mechanism, --test and --save-partition have no meaning with it");
    check(config_.start != "uniform" && config_.start != "zero",
          "--loss none averages starts (there is no data to learn from) give them: --start FILE");
    return;
  }
  loss_ = make_loss(config_.model, config_.loss);
  check(!config_.label_size || needs_label_size(config_, *loss_),
        "--label-size with a loss whose labels are classes (no rule asks how large they are) leave it out");
  check_class_labels(config_.data, loss_->classifies() && loss_->scores() == 1 && !config_.model.own, config_.loss);
  config_.data.label_map = [this](double raw) { return loss_->label(raw); };
  config_.data.batches = DataSettings::Batches::shared;  // one client at a time learns
  inputs_.open_streams(config_.data);
}

RuleFacts OmdRun::facts_of_rule(std::optional<std::int64_t> most_records, std::size_t parameters) const {
  const auto n = static_cast<double>(all_records_.size());
  const bool own_means = config_.weights == ClientWeights::equal;
  Vector shares = own_means ? over_own_batches(all_records_) : Vector(all_records_.size(), 1.0);
  scale(1 / n, shares);
  RuleFacts facts = rule_facts(config_, *loss_, shares, most_records, parameters);
  if (most_records && !own_means) facts.mean_records = sum(all_records_) / n;
  if (!most_records && !facts.rounds) facts.rounds = rounds_of_endless_streams;
  if (config_.given("step")) facts.step = config_.omd.step;
  facts.map = mirror_->scale_of_steps(parameters);
  if (config_.correlation != CorrelationChoice::two_buffers) {
    facts.room = facts.map.in_exponents ? 0 : domain_->room(parameters);
  }
  return facts;
}

TunedMethod OmdRun::tuned_method() {
  return {.config = config_,
          .configuration = configuration_,
          .first_step = config_.omd.step,
          .why_not = why_not_tuned(config_),
          .why_own_units = domain_->is_everything() ? "" : "the domain speaks of their own units",
          .steps = "rounds",
          .norms = ReleasePath::omd_norm,
          .features = ReleasePath::omd_feature,
          .facts = [this](auto most_records, auto parameters) { return facts_of_rule(most_records, parameters); },
          .own_choices = [this](const LearningRule& rule) { return tuned_mixing(config_, rule); },
          .check_before_release = [this](Round releases) { check_before_release(releases); }};
}

/// The rule may want other exchanges than the graph was made for.
void OmdRun::choose_settings() {
  if (!config_.learns()) return;
  SettingsByRule settings(tuned_method(), tuning_terms());
  if (!config_.tunes()) return settings.add_intercept();
  const int gossip_steps = config_.mixing.gossip_steps;
  all_records_ = inputs_.records_of_clients();
  tuning_ = settings.choose();
  agreement_.together([&] {
    if (config_.mixing.gossip_steps != gossip_steps) graph_->make_schedule();
  });
}

void OmdRun::check_before_release(Round releases) {
  static_cast<void>(
      make_noise_keys(config_.privacy.noise_key, config_.data.seed, inputs_.first_client(), inputs_.client_count()));
  check_canaries(inputs_.rounds_of(releases));
  const std::unique_ptr<Model> model = make_model(config_.model, *loss_, inputs_.dataset.shape);
  static_cast<void>(start_models(config_.start, *domain_, model->dimension(), inputs_.layout->clients(),
                                 inputs_.first_client(), inputs_.client_count(), model->initial(config_.data.seed)));
  check_regret();
}

void OmdRun::open_model() {
  if (config_.learns()) {
    protect_rows(config_.model.own);
    model_ = make_model(config_.model, *loss_, inputs_.dataset.shape);
    if (config_.model.kind == ModelChoice::Kind::location && config_.data.label.empty() && !inputs_.dataset.is_public) {
      notes_.emplace_back(
          "--model location: the label's column (y or label, else the last one) is no coordinate of the points; "
          "--label names another");
    }
    dimension_ = model_->dimension();
  }
  StartModels start = read_start();
  dimension_ = start.models.value().rows();
  start_ = std::move(start.models);
  notes_.insert(notes_.end(), start.notes.begin(), start.notes.end());
  config_.omd.rounds = inputs_.rounds_of(config_.learns() ? inputs_.dataset.shape.rounds : std::nullopt);
  if (config_.linear_decay) config_.omd.zero_at = config_.omd.rounds;
  check_canaries(config_.omd.rounds);
  check_regret();
  open_constraints();
}

/// The starts of clients that were there at first. Others have the centre of the domain until they get a model.
StartModels OmdRun::read_start() {
  const std::optional<Vector> own = model_ ? model_->initial(config_.data.seed) : std::nullopt;
  const Client first = std::min(inputs_.first_client(), inputs_.clients_at_first());
  const Client end = std::min(inputs_.first_client() + inputs_.client_count(), inputs_.clients_at_first());
  StartModels start =
      start_models(config_.start, *domain_, dimension_, inputs_.clients_at_first(), first, end - first, own);
  if (end - first == inputs_.client_count()) return start;
  start.models.update([this](Columns& models) {
    Columns all(models.rows(), static_cast<std::size_t>(inputs_.client_count()));
    std::ranges::copy(models.flat(), all.flat().begin());
    for (std::size_t k = models.size(); k < all.size(); ++k) domain_->centre(all[k]);
    models = std::move(all);
  });
  return start;
}

void OmdRun::check_canaries(Round rounds) const {
  check(!config_.privacy.audit || rounds * inputs_.layout->clients() >= least_canaries,
        "--audit with {} rounds of {} clients ({} canaries are needed to say anything) play more rounds", rounds,
        inputs_.layout->clients(), least_canaries);
}

void OmdRun::agree_on_model() {
  if (config_.learns()) {
    const std::string note = graph_->note_on_length(config_.omd.rounds * config_.mixing.gossip_steps);
    if (!note.empty()) notes_.push_back(note);
  }
  choose_step_cap();
  correlate_noise(config_.learns() && config_.correlation == CorrelationChoice::two_buffers, config_.omd.rounds);
  if (constraints_) agreement_.same("constraints", declare_public(constraints_->text()));
}

void OmdRun::open_constraints() {
  if (!config_.constraints.any()) return;
  ConstraintFacts facts;
  facts.dimension = dimension_;
  if (config_.learns()) {
    facts.features = inputs_.dataset.shape.features;
    facts.scores = loss_->scores();
    facts.names = inputs_.dataset.shape.names;
  }
  constraints_.emplace(config_.constraints, facts, config_.omd.rounds, config_.privacy.protects());
  constraints_->set_steps(config_.omd);
  if (config_.constraints.shared) {
    check(!constraints_->set().fixed.empty() && constraints_->set().data.empty(),
          "--dual-scope shared with other constraints than public ones on models: their duals are each client's own. "
          "Leave it out.");
    check(inputs_.layout->clients() >= static_cast<Client>(world_.size()),
          "--dual-scope shared with ranks that host no client, where all ranks add up in each round. Start fewer.");
    notes_.emplace_back(
        "--dual-scope shared is an experiment: in each round the constraints' values are added up over all ranks, as a "
        "server would, and the traffic of that is not counted");
  }
  check(!config_.benchmark_window || constraints_->set().on_models() > 0,
        "--benchmark-window with an energy budget alone (no model keeps or breaks it) leave it out");
  check(
      !constraints_->set().energy || config_.mixing.mixing == Mixing::push_sum,
      "--constraint energy with --mixing plain (receivers' weights would not sum to one where a sender is silent) use "
      "push-sum");
  check(
      constraints_->set().data.empty() || !config_.model.is_network(),
      "--constraint data with a network (it bounds a sum of features times their weights, and a network has no weight "
      "for each) use --model linear");
  check(constraints_->set().data.empty() || config_.privacy.unit != PrivacyUnit::person,
        "--constraint data with --unit person (it bounds what single records add) leave out one of them");
  check(constraints_->set().data.empty() || !config_.privacy.audit,
        "--audit with a constraint on data (canaries are in gradients alone) audit a run without it");
}

void OmdRun::check_regret() const {
  if (config_.regret == RegretChoice::none) return;
  check(config_.learns(), "--regret has no meaning with --loss none (there are no losses to regret)");
  check(
      !config_.mixing.deadline,
      "--regret with --{} (it compares what clients play in the same round, and these are in different ones) leave out "
      "one of them",
      config_.async ? "async" : "deadline");
  check(inputs_.dataset.replayable,
        "--regret on '{}' (its records come once, and regret reads them again after the last round) use a file",
        config_.data.source);
  check(metrics_policy().shared(),
        "--regret needs shared metrics (what it compares with is fitted to everybody's records without noise) add "
        "--metrics shared if the records may be known to others");
  if (constraints_ && config_.regret != RegretChoice::dynamic) {
    check_constrained_regret(constraints_->set(), config_.omd.rounds, dimension_);
  }
}

RunFacts OmdRun::privacy_facts() {
  RunFacts facts = common_facts(config_.omd.rounds);
  // Canaries have signs of their own in each run; a pipe's records come once; and models that depend on late clients
  // have other gradients.
  facts.replayable = facts.replayable && !config_.privacy.audit && !config_.mixing.deadline;
  facts.public_inputs = graph_->digest_at_first() + facts.public_inputs + digest_of(cap_at_first_);
  if (inputs_.members.has_changed()) facts.public_inputs += graph_->digest() + digest_of(config_.omd.step_cap);
  facts.histograms = histograms_of(config_, loss_.get());
  if (constraints_) {
    facts.public_inputs += constraints_->text();
    facts.second = constraints_->second_part();
  }
  return facts;
}

}  // namespace starling
