#include "omd_method.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/kernels.hpp"
#include "loss/loss.hpp"
#include "regret/regret.hpp"
#include "run/inputs/inputs.hpp"
#include "run/inputs/start_models.hpp"
#include "run/privacy/noise_keys.hpp"
#include "run/privacy/pairs/run_pairs.hpp"
#include "run/settings/source_options.hpp"
#include "run/stages/run_context.hpp"
#include "run/tuning/releases/tuned_method.hpp"
#include "run/tuning/rule_settings.hpp"
#include "run/tuning/score_share.hpp"
#include "run/tuning/settings_by_rule.hpp"
#include "run_canaries.hpp"
#include "run_constraints.hpp"
#include "run_graph.hpp"
#include "step_cap_choice.hpp"
#include "tuning.hpp"

namespace starling {

OmdParts::OmdParts(OmdConfig& of_run) : config(of_run) {}
OmdParts::~OmdParts() = default;

OmdMethod::OmdMethod(RunContext& run, RunHome& home, Configured<OmdConfig>& configuration)
    : Method(run, home), configuration_(configuration) {
  run_.agreement.together([&] { open_graph(); });
  run_.inputs.introduce();
  run_.agreement.same("topology", declare_public(parts_.graph->digest_at_first()));
  run_.agreement.together([&] { open_data(); });
  if (config_.learns()) run_.inputs.open_streams(config_.data);
  run_.agree_on_records();
  run_.agree_on_own_model(config_.model.own);
  choose_settings();
  run_.settle();
  run_.open_model([this] { open_model(); });
  run_.agree_on_own_start(parts_.model.get());
  agree_on_model();
}

std::string OmdMethod::digest_of_inputs(const std::string& of_all_methods) const {
  return of_all_methods + parts_.graph->digest_at_first() + digest_of(cap_at_first_);
}

void OmdMethod::open_data() {
  parts_.domain = domain_table().make(config_.domain.value_or(default_domain(config_.mirror)));
  parts_.mirror = mirror_table().make(config_.mirror, *parts_.domain);
  if (!config_.learns()) {
    check(!config_.privacy.mechanism && !config_.test && !config_.save_partition,
          "--loss none learns nothing: --mechanism, --test and --save-partition have no meaning with it");
    check(config_.start != "uniform" && config_.start != "zero",
          "--loss none averages starts: there is no data to learn from. Give them: --start FILE.");
    return;
  }
  parts_.loss = make_loss(config_.model, config_.loss);
  check(!config_.label_size || parts_.loss->depends_on_label_size(),
        "--label-size with a loss whose labels are classes: no rule asks how large they are. Leave it out.");
  check_person_gradient(config_.privacy, *parts_.loss);
  check_class_labels(config_.data, *parts_.loss, config_.loss, config_.model.own != nullptr);
  read_labels_of(*parts_.loss, config_.data);
  config_.data.batches = DataSettings::Batches::shared;  // one client at a time learns
}

RuleFacts OmdMethod::facts_of_rule(std::optional<std::int64_t> most_records, std::size_t parameters) const {
  const auto n = static_cast<double>(all_records_.size());
  const bool own_means = config_.weights == ClientWeights::equal;
  Vector shares = own_means ? over_own_batches(all_records_) : Vector(all_records_.size(), 1.0);
  scale(1 / n, shares);
  RuleFacts facts = rule_facts(config_, *parts_.loss, shares, most_records, parameters);
  if (most_records && !own_means) facts.mean_records = sum(all_records_) / n;
  if (!most_records && !facts.rounds) facts.rounds = rounds_of_endless_streams;
  if (config_.given("step")) facts.step = config_.omd.step;
  if (pairs_) facts.price = pairs_->price_of_mean(facts.price);
  facts.l2 = config_.omd.l2.lambda;
  facts.map = parts_.mirror->scale_of_steps(parameters);
  if (config_.correlation != CorrelationChoice::two_buffers) {
    facts.room = facts.map.in_exponents ? 0 : parts_.domain->room(parameters);
  }
  return facts;
}

TunedMethod OmdMethod::tuned_method() {
  return {.config = config_,
          .configuration = configuration_,
          .first_step = config_.omd.step,
          .why_not = why_not_tuned(config_),
          .why_own_units = parts_.domain->is_everything() ? "" : "the domain speaks of their own units",
          .why_own_scores = why_own_scores(config_),
          .steps = "rounds",
          .plays_once = config_.regret != RegretChoice::none,
          .may_penalise = parts_.domain->is_everything() && parts_.mirror->is_linear(),
          .own_means = config_.weights == ClientWeights::equal,
          .norms = ReleasePath::omd_norm,
          .features = ReleasePath::omd_feature,
          .facts = [this](auto most_records, auto parameters) { return facts_of_rule(most_records, parameters); },
          .records_of_clients = [this] { return all_records_; },
          .hiding_of_pairs = hiding_of_pairs(),
          .own_choices =
              [this](const LearningRule& rule) {
                return tuned_mixing(config_, parts_.graph->contraction_at_first(), rule);
              },
          .check_before_release = [this](Round releases) { check_before_release(releases); }};
}

/// The rule may want other exchanges than the graph was made for.
void OmdMethod::choose_settings() {
  if (!config_.learns()) return;
  choose_pairs();
  if (config_.tunes()) tune();
  run_.agreement.together([&] { check_score_share(config_, run_.inputs.dataset, why_own_scores(config_)); });
  weigh_penalty();
  if (config_.start_records) records_of_run_ = records_within_rounds();
}

/// Records of all clients in the rounds that are played, each once; 0 for a source without end. **Collective.**
double OmdMethod::records_within_rounds() {
  Vector own;
  for (const auto& stream : run_.inputs.dataset.streams) {
    const auto rounds = static_cast<double>(stream->rounds_of_pass().value_or(0));
    const double played = config_.rounds ? std::min(static_cast<double>(*config_.rounds), rounds) : rounds;
    own.push_back(rounds > 0 ? static_cast<double>(stream->records().value_or(0)) * played / rounds : 0);
  }
  return sum(joined(run_.agreement.all_gather(declare_public(own))));
}

void OmdMethod::tune() {
  const int gossip_steps = config_.mixing.gossip_steps;
  all_records_ = run_.inputs.records_of_clients();
  run_.tuning = SettingsByRule(tuned_method(), tuning_terms(parts_.loss.get(), pairs_)).choose();
  run_.agreement.together([&] {
    if (config_.mixing.gossip_steps != gossip_steps) parts_.graph->make_schedule();
  });
}

/// Sets the share of λ: the mean share of a batch that records fill. A client's batches are not all full, and those of
/// smaller clients less so.
void OmdMethod::weigh_penalty() {
  if ((config_.omd.l2.lambda == 0 && !parts_.mirror->has_penalty()) || config_.weights == ClientWeights::equal) return;
  const Vector records = run_.inputs.records_of_clients();
  const auto batch = static_cast<double>(config_.data.batch);
  const double room = batch * std::ceil(*std::ranges::max_element(records) / batch);
  if (room > 0) config_.omd.l2_share = sum(records) / (room * static_cast<double>(records.size()));
  parts_.mirror->weigh_penalty(config_.omd.l2_share);
}

void OmdMethod::check_before_release(Round releases) {
  static_cast<void>(make_noise_keys(config_.privacy.noise_key, config_.data.seed, run_.inputs.first_client(),
                                    run_.inputs.client_count()));
  check_canaries(run_.inputs.rounds_of(releases));
  const std::unique_ptr<Model> model = make_model(config_.model, *parts_.loss, run_.inputs.dataset.shape);
  static_cast<void>(start_models(config_.start, *parts_.domain, model->dimension(), run_.inputs.layout->clients(),
                                 run_.inputs.first_client(), run_.inputs.client_count(),
                                 own_start(config_.start, *model, parts_.loss.get(), config_.data.seed)));
  check_regret();
}

void OmdMethod::open_model() {
  if (config_.learns()) {
    run_.protect_rows(config_.model.own);
    parts_.model = make_model(config_.model, *parts_.loss, run_.inputs.dataset.shape);
    if (config_.model.kind == ModelChoice::Kind::location && config_.data.label.empty() &&
        !run_.inputs.dataset.is_public) {
      run_.notes.emplace_back(
          "--model location: the column of labels, which is y, label or the last one, is no coordinate of the points. "
          "--label names another");
    }
    dimension_ = parts_.model->dimension();
    config_.omd.l2.run = config_.model.run_of_constant(run_.inputs.dataset.shape.features);
  }
  StartModels start = read_start();
  dimension_ = start.models.value().rows();
  parts_.start = std::move(start.models);
  run_.notes.insert(run_.notes.end(), start.notes.begin(), start.notes.end());
  keep_start();
  config_.omd.rounds = run_.inputs.rounds_of(config_.learns() ? run_.inputs.dataset.shape.rounds : std::nullopt);
  if (config_.linear_decay) config_.omd.zero_at = config_.omd.rounds;
  check_canaries(config_.omd.rounds);
  check_regret();
  open_constraints();
}

/// Keeps the start for --start-records, by which it counts in the final models. A client that has joined has the mean
/// of the starts of those that were there at first, from whose models it begins.
void OmdMethod::keep_start() {
  if (!config_.start_records) return;
  check(records_of_run_ > 0,
        "--start-records with a source without end: nobody knows how much the run's own records weigh. "
        "Leave it out, or give files.");
  parts_.share_of_start = *config_.start_records / (*config_.start_records + records_of_run_);
  parts_.kept_start = parts_.start;
  const Client first = run_.inputs.first_client();
  const Client at_first = run_.inputs.clients_at_first();
  if (first + run_.inputs.client_count() <= at_first) return;
  const StartModels of_all = starts_of(0, at_first);
  parts_.kept_start->update(
      [&](Columns& kept, const Columns& starts) {
        Vector mean(starts.rows());
        for (std::size_t k = 0; k < starts.size(); ++k) axpy(1 / static_cast<double>(starts.size()), starts[k], mean);
        for (std::size_t k = 0; k < kept.size(); ++k) {
          if (first + static_cast<Client>(k) >= at_first) kept.set(k, mean);
        }
      },
      of_all.models);
}

/// The start models of `count` clients from `first` on, all of which were there at first.
StartModels OmdMethod::starts_of(Client first, Client count) const {
  const std::optional<Vector> own =
      parts_.model ? own_start(config_.start, *parts_.model, parts_.loss.get(), config_.data.seed) : std::nullopt;
  return start_models(config_.start, *parts_.domain, dimension_, run_.inputs.clients_at_first(), first, count, own);
}

/// The starts of clients that were there at first. Others have the centre of the domain until they get a model.
StartModels OmdMethod::read_start() {
  const Client first = std::min(run_.inputs.first_client(), run_.inputs.clients_at_first());
  const Client end = std::min(run_.inputs.first_client() + run_.inputs.client_count(), run_.inputs.clients_at_first());
  StartModels start = starts_of(first, end - first);
  if (end - first == run_.inputs.client_count()) return start;
  start.models.update([this](Columns& models) {
    Columns all(models.rows(), static_cast<std::size_t>(run_.inputs.client_count()));
    std::ranges::copy(models.flat(), all.flat().begin());
    for (std::size_t k = models.size(); k < all.size(); ++k) parts_.domain->centre(all[k]);
    models = std::move(all);
  });
  return start;
}

void OmdMethod::check_canaries(Round rounds) const {
  check(!config_.privacy.audit || rounds * run_.inputs.layout->clients() >= least_canaries,
        "--audit with {} rounds of {} clients: {} canaries are needed to say anything. Play more rounds.", rounds,
        run_.inputs.layout->clients(), least_canaries);
}

void OmdMethod::agree_on_model() {
  if (config_.learns()) {
    const std::string note = parts_.graph->note_on_length(config_.omd.rounds * config_.mixing.gossip_steps);
    if (!note.empty()) run_.notes.push_back(note);
  }
  choose_closing_rounds();
  choose_step_cap();
  correlate_noise(config_.learns() && config_.correlation == CorrelationChoice::two_buffers, config_.omd.rounds);
  if (parts_.constraints) run_.agreement.same("constraints", declare_public(parts_.constraints->text()));
}

void OmdMethod::open_constraints() {
  if (!config_.constraints.any()) return;
  ConstraintFacts facts;
  facts.dimension = dimension_;
  if (config_.learns()) {
    facts.features = run_.inputs.dataset.shape.features;
    facts.scores = parts_.loss->scores();
    facts.names = run_.inputs.dataset.shape.names;
  }
  parts_.constraints =
      std::make_unique<RunConstraints>(config_.constraints, facts, config_.omd.rounds, config_.privacy.protects());
  parts_.constraints->set_steps(config_.omd);
  check_constraints();
  if (config_.constraints.shared) {
    run_.notes.emplace_back(
        "--dual-scope shared is an experiment: in each round the constraints' values are added up over all ranks, as a "
        "server would, and the traffic of that is not counted");
  }
}

void OmdMethod::check_constraints() const {
  const ConstraintSet& set = parts_.constraints->set();
  if (config_.constraints.shared) {
    check(!set.fixed.empty() && set.data.empty(),
          "--dual-scope shared with other constraints than public ones on models: their duals are each client's own. "
          "Leave it out.");
    check(run_.inputs.layout->clients() >= static_cast<Client>(run_.world.size()),
          "--dual-scope shared with ranks that host no client, where all ranks add up in each round. Start fewer.");
  }
  check(!config_.benchmark_window || set.on_models() > 0,
        "--benchmark-window with an energy budget alone: no model keeps or breaks it. Leave it out.");
  check(!set.energy || config_.mixing.mixing == Mixing::push_sum,
        "--constraint energy with --mixing plain: receivers' weights would not sum to one where a sender is silent. "
        "Use push-sum.");
  check(set.data.empty() || !config_.model.is_network(),
        "--constraint data with a network: it bounds a sum of features times their weights, and a network has no "
        "weight for each. Use --model linear.");
  check(set.data.empty() || config_.privacy.unit != PrivacyUnit::person,
        "--constraint data with --unit person: it bounds what single records add. Leave out one of them.");
  check(set.data.empty() || !config_.privacy.audit,
        "--audit with a constraint on data: canaries are in gradients alone. Audit a run without it.");
}

void OmdMethod::check_regret() const {
  if (config_.regret == RegretChoice::none) return;
  check(config_.learns(), "--regret has no meaning with --loss none: there are no losses to regret.");
  check(!config_.mixing.deadline,
        "--regret with --{}: it compares what clients play in the same round, and these are in different ones. Leave "
        "out one of them.",
        config_.async ? "async" : "deadline");
  check(run_.inputs.dataset.replayable,
        "--regret on '{}': its records come once, and regret reads them again after the last round. Use a file.",
        config_.data.source);
  check(!parts_.mirror->has_penalty(),
        "--regret with --mirror {}: the best model in hindsight is found where losses are smooth, and this penalty is "
        "not. Leave out one of them.",
        config_.mirror);
  check(run_.metrics_policy().shared(),
        "--regret needs shared metrics: what it compares with is fitted to everybody's records without noise. Add "
        "--metrics shared if the records may be known to others.");
  if (parts_.constraints && config_.regret != RegretChoice::dynamic) {
    check_constrained_regret(parts_.constraints->set(), config_.omd.rounds, dimension_);
  }
}

RunFacts OmdMethod::privacy_facts() {
  RunFacts facts = common_facts(config_.omd.rounds);
  // Canaries have signs of their own in each run; a pipe's records come once; and models that depend on late clients
  // have other gradients.
  facts.replayable = facts.replayable && !config_.privacy.audit && !config_.mixing.deadline;
  facts.public_inputs = parts_.graph->digest_at_first() + facts.public_inputs + digest_of(cap_at_first_);
  if (run_.inputs.members.has_changed())
    facts.public_inputs += parts_.graph->digest() + digest_of(config_.omd.step_cap);
  facts.histograms = histograms_of(config_, parts_.loss.get());
  facts.pairs = pairs_;
  if (parts_.constraints) {
    facts.public_inputs += parts_.constraints->text();
    facts.second = parts_.constraints->second_part();
  }
  return facts;
}

}  // namespace starling
