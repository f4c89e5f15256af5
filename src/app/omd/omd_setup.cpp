// The data, model and privacy of `starling omd`.
#include "app/run/privacy/norm_release.hpp"
#include "app/run/start_models.hpp"
#include "app/settings/tuned_settings.hpp"
#include "norm_counts.hpp"
#include "omd_run.hpp"
#include <algorithm>
#include <cmath>
#include <limits>

#include "starling/model/network/noise_norm.hpp"

namespace starling {

namespace {

constexpr double usual_scale_share = 0.01;
constexpr std::size_t records_at_once = 1024;  ///< that are read for a histogram; persons one by one

}  // namespace

std::string OmdRun::why_not_resumable() const {
  if (config_.mixing.deadline) return "its rounds are not in step, and cannot be played again";
  if (config_.privacy.audit) return "it audits itself by coins that nobody may keep";
  return LearningRun::why_not_resumable();
}

std::string OmdRun::why_no_more_rounds() const {
  if (config_.linear_decay) return "steps fall to zero at the end";
  if (config_.average == Averaging::tail) return "the mean over the last half of the rounds has begun";
  if (config_.regret != RegretChoice::none) return "regret is counted";
  return config_.constraints.any() ? "steps and budgets of constraints are made" : "";
}

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
  config_.data.label_map = [this](double raw) { return loss_->label(raw); };
  config_.data.batches = DataSettings::Batches::shared;  // one client at a time learns
  open_streams(config_.data);
}

RuleFacts OmdRun::facts_of_rule(std::optional<std::int64_t> most_records, std::size_t parameters) const {
  return rule_facts(config_, *loss_, *mirror_, *domain_, layout_->clients(), most_records, parameters);
}

/// Takes from the rule what the user left open. The values come from rank 0: processors may round differently.
void OmdRun::choose_settings() {
  if (!config_.tunes()) return;
  if (const std::string why_not = why_not_tuned(config_); !why_not.empty()) {
    if (first_rank()) {
      fmt::print(stderr, "note: no rule is known for {}: what is not given keeps its default{}\n", why_not,
                 open_defaults(config_));
    }
    config_.scale_share = 0;
    return;
  }
  const std::int64_t here = dataset_.most_records().value_or(std::numeric_limits<std::int64_t>::max());
  const std::int64_t most = agreement_.max(declare_public(here));
  const bool endless = most == std::numeric_limits<std::int64_t>::max();
  const std::optional<std::int64_t> most_records = endless ? std::nullopt : std::optional(most);
  config_.data.epochs = tuned_passes(config_, most_records);
  config_.privacy.passes = config_.data.uses_of_unit();
  choose_norms(most_records);
  std::vector<TunedValue> values;
  agreement_.together([&] {
    const std::size_t parameters = make_model(config_.model, *loss_, dataset_.shape)->dimension();
    RuleFacts facts = facts_of_rule(most_records, parameters);
    if (config_.model.is_network()) {
      facts.noise_norm = noise_norm(saved_model(config_.model, config_.loss, *loss_, dataset_.shape).architecture,
                                    facts.norm.value_or(usual_norm), useful_shift(facts.scores), config_.data.seed);
    }
    if (endless && !facts.rounds) facts.rounds = rounds_of_endless_streams;
    const LearningRule rule = learning_rule(facts);
    values = tuned_values(config_, facts, rule);
    for (TunedValue& each : values) keep_in_range(each);
    signal_to_noise_ = signal_to_noise(facts, rule);
    if (first_rank()) print_tuning(values, outlook(facts, rule));
  });
  for (TunedValue& each : values) each.value = agreement_.broadcast(declare_public(each.value));
  agreement_.together([&] {
    take(values);
    dataset_.plan(config_.data.batch, config_.data.epochs, most_records);
  });
  tuned_.insert(tuned_.end(), values.begin(), values.end());
}

/// Releases histograms of norms where somebody is protected, nobody said norms, and something depends on them.
void OmdRun::choose_norms(const std::optional<std::int64_t>& most_records) {
  const double share = config_.scale_share.value_or(usual_scale_share);
  const bool known = !config_.norm.empty() && (config_.label_size || !needs_label_size(config_, *loss_));
  const bool settled = known || (config_.privacy.clip && config_.given("step"));
  const bool wanted = share > 0 && config_.privacy.protects() && !settled && dataset_.replayable &&
                      most_records.value_or(0) > 0 && *most_records <= NormHistogram::most_records;
  config_.scale_share = 0;
  if (agreement_.all(declare_public(wanted))) release_norms(share, *most_records);
}

/// Finds what would end the run later on, before anything is released and a directory is made.
void OmdRun::check_before_release(std::int64_t most_records) {
  static_cast<void>(make_noise_keys(config_.privacy.noise_key, config_.data.seed, first_client(), client_count()));
  const LearningRule rule = learning_rule(facts_of_rule(most_records, 1));
  check_canaries(rounds_of(rule.rounds_of_pass * config_.data.epochs));
  const std::unique_ptr<Model> model = make_model(config_.model, *loss_, dataset_.shape);
  if (config_.test) test_ = read_test_set(*config_.test, config_.data, dataset_.shape);
  static_cast<void>(start_models(config_.start, *domain_, model->dimension(), layout_->clients(), first_client(),
                                 client_count(), model->initial(config_.data.seed)));
  check_regret();
}

void OmdRun::release_norms(double share, std::int64_t most_records) {
  NormFacts facts;
  std::vector<Secret<NormCounts>> counts;
  agreement_.together([&] {
    check_before_release(most_records);
    RunFacts of_run = common_facts(1);
    facts = {share,
             config_.data.epochs,
             of_run.seed,
             of_run.configuration,
             of_run.public_inputs,
             of_run.data,
             of_run.replayable,
             {},
             1};
    facts.rounds_of_pass = most_rounds_of_pass(facts_of_rule(most_records, 1));
    dataset_.plan(config_.data.person.empty() ? records_at_once : 1, 1, most_records);  // the rounds are planned later
    facts.labels = needs_label_size(config_, *loss_);
    const NormHistogram histogram(config_.privacy.mechanism_row().charge, 1, 0, facts.labels);
    for (const auto& stream : dataset_.streams) {
      facts.records.push_back(stream->records().value_or(0));
      counts.push_back(count_norms(*stream, histogram, config_.model.intercept, config_.privacy.person_mean));
    }
  });
  const std::string folder = private_folder_before_rounds();
  NormRelease release(agreement_, *layout_, world_.rank(), config_.privacy, std::move(facts), folder);
  if (!release.affordable()) {
    notes_.emplace_back("norms of records are not released: the --budget does not allow it. --norm says them");
    return;
  }
  take_norms(share, release.release(ReleasePath::omd_norm, counts));
}

/// All ranks have the same bits. Four digits can be typed. What the user gave stands.
void OmdRun::take_norms(double share, const TypicalNorms& norms) {
  config_.scale_share = share;
  const std::string cost = config_.privacy.mechanism_row().gaussian()
                               ? fmt::format("{:.3g} of the square of its mu", share)
                               : fmt::format("{:.3g} of its epsilon", std::sqrt(share));
  const auto tell = [&](const char* option, const std::string& value, const char* which) {
    tuned_.push_back({option, value.empty() ? "unknown" : value,
                      fmt::format("{} released histograms, which cost each {} {} once",
                                  value.empty() ? "no bin stands out of the noise in" : which,
                                  name_of(config_.privacy.unit), cost)});
  };
  if (config_.norm.empty()) {
    std::string text;
    if (norms.l2) text = fmt::format("{:.4g}", *norms.l2);
    if (norms.l2 && norms.l1) text += fmt::format(",{:.4g}", *norms.l1);
    for (const std::optional<double>& norm : {norms.l2, norms.l1}) {
      if (norm && norms.l2) config_.norm.push_back(std::stod(fmt::format("{:.4g}", *norm)));
    }
    tell("norm", text, "the median bin of the sum of");
  }
  if (needs_label_size(config_, *loss_) && !config_.label_size) {
    const std::string text = norms.label ? fmt::format("{:.4g}", *norms.label) : "";
    if (!text.empty()) config_.label_size = std::stod(text);
    tell("label-size", text, "the upper end of the median bin of the sum of");
  }
  if (first_rank()) print_tuning(tuned_, "");
}

/// Reads the command line again with these values, and keeps what opening the data has put into the configuration. With
/// `tuning = off` beside them they are what a repeated or resumed run has, even where they are defaults.
void OmdRun::take(const std::vector<TunedValue>& values) {
  std::vector<std::string> words = without_option(without_option(words_, "--tuning"), "--scale-share");
  words.insert(words.end(), {"--tuning", "off"});
  if (config_.privacy.protects()) {
    words.insert(words.end(), {"--scale-share", fmt::format("{}", config_.scale_share.value_or(0))});
  }
  if (config_.scale_share.value_or(0) > 0) {
    words = without_option(without_option(words, "--norm"), "--label-size");
    if (!config_.norm.empty()) words.insert(words.end(), {"--norm", fmt::format("{}", fmt::join(config_.norm, ","))});
    if (config_.label_size) words.insert(words.end(), {"--label-size", fmt::format("{}", *config_.label_size)});
  }
  for (const TunedValue& each : values) {
    words.push_back("--" + each.option);
    words.push_back(each.value);
  }
  OmdConfig chosen = parse_omd_config(words, of_run_);
  DataSettings data = std::move(config_.data);
  data.batch = chosen.data.batch;
  data.epochs = chosen.data.epochs;
  chosen.data = std::move(data);
  config_ = std::move(chosen);
}

void OmdRun::open_model() {
  if (config_.learns()) {
    model_ = make_model(config_.model, *loss_, dataset_.shape);
    if (config_.model.kind == ModelChoice::Kind::location && config_.data.label.empty() && !dataset_.is_public) {
      notes_.emplace_back(
          "--model location: the label's column (y or label, else the last one) is no coordinate of the points; "
          "--label names another");
    }
    dimension_ = model_->dimension();
    if (config_.test && !test_) test_ = read_test_set(*config_.test, config_.data, dataset_.shape);
  }
  StartModels start = read_start();
  dimension_ = start.models.value().rows();
  start_ = std::move(start.models);
  notes_.insert(notes_.end(), start.notes.begin(), start.notes.end());
  config_.omd.rounds = rounds_of(config_.learns() ? dataset_.shape.rounds : std::nullopt);
  if (config_.linear_decay) config_.omd.zero_at = config_.omd.rounds;
  check_canaries(config_.omd.rounds);
  check_regret();
  open_constraints();
}

/// The starts of clients that were there at first. Others have the centre of the domain until they get a model.
StartModels OmdRun::read_start() {
  const std::optional<Vector> own = model_ ? model_->initial(config_.data.seed) : std::nullopt;
  const Client first = std::min(first_client(), clients_at_first());
  const Client end = std::min(first_client() + client_count(), clients_at_first());
  StartModels start = start_models(config_.start, *domain_, dimension_, clients_at_first(), first, end - first, own);
  if (end - first == client_count()) return start;
  start.models.update([this](Columns& models) {
    Columns all(models.rows(), static_cast<std::size_t>(client_count()));
    std::copy(models.flat().begin(), models.flat().end(), all.flat().begin());
    for (std::size_t k = models.size(); k < all.size(); ++k) domain_->centre(all[k]);
    models = std::move(all);
  });
  return start;
}

void OmdRun::check_canaries(Round rounds) const {
  check(!config_.privacy.audit || rounds * layout_->clients() >= least_canaries,
        "--audit with {} rounds of {} clients ({} canaries are needed to say anything) play more rounds", rounds,
        layout_->clients(), least_canaries);
}

void OmdRun::agree_on_model() {
  choose_step_cap();
  choose_correlation();
  if (constraints_) agreement_.same("constraints", declare_public(constraints_->text()));
}

void OmdRun::open_constraints() {
  if (!config_.constraints.any()) return;
  ConstraintFacts facts;
  facts.dimension = dimension_;
  if (config_.learns()) {
    facts.features = dataset_.shape.features;
    facts.scores = loss_->scores();
    facts.names = dataset_.shape.names;
  }
  constraints_.emplace(config_.constraints, facts, config_.omd.rounds, config_.privacy.protects());
  constraints_->set_steps(config_.omd);
  if (config_.constraints.shared) {
    check(!constraints_->set().fixed.empty() && constraints_->set().data.empty(),
          "--dual-scope shared with other constraints than public ones on models: their duals are each client's own. "
          "Leave it out.");
    check(layout_->clients() >= static_cast<Client>(world_.size()),
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

/// The correlation of noise over the rounds that the run has. A record's uses are as far apart as the shortest pass of
/// a client is long.
void OmdRun::choose_correlation() {
  if (config_.correlation != CorrelationChoice::two_buffers) return;
  check(config_.data.person_rounds.value_or(1) == 1,
        "--noise-correlation blt:2 with --person-rounds {}: what several uses at any distance cost is known of "
        "independent "
        "noise. Use --noise-correlation none.",
        config_.data.person_rounds.value_or(1));
  constexpr Round never = std::numeric_limits<Round>::max();
  Round shortest = never;
  Round of_joined = never;
  for (std::size_t k = 0; k < dataset_.streams.size(); ++k) {
    Round& least = members_.joined_with(first_client() + static_cast<Client>(k)) == nullptr ? shortest : of_joined;
    if (const Round pass = dataset_.streams[k]->rounds_of_pass().value_or(0); pass > 0) least = std::min(least, pass);
  }
  shortest = agreement_.min(declare_public(shortest));
  of_joined = agreement_.min(declare_public(of_joined));
  const bool passes = shortest != never && config_.data.epochs > 1;
  std::string text;
  agreement_.together([&] {
    check(
        !passes || of_joined >= shortest,
        "--join: a pass of a new client has {} rounds, and the correlation of noise was made for {} (a record would be "
        "used again too soon) give each new client {} records or more",
        of_joined, shortest, shortest * static_cast<Round>(config_.data.batch));
    const NoiseCorrelation best =
        passes ? best_correlation(shortest, config_.data.epochs) : best_correlation(config_.omd.rounds, 1);
    text = best.text();
  });
  correlation_ = NoiseCorrelation::parse(agreement_.broadcast(declare_public(text)));
}

void OmdRun::check_regret() const {
  if (config_.regret == RegretChoice::none) return;
  check(config_.learns(), "--regret has no meaning with --loss none (there are no losses to regret)");
  check(
      !config_.mixing.deadline,
      "--regret with --{} (it compares what clients play in the same round, and these are in different ones) leave out "
      "one of them",
      config_.async ? "async" : "deadline");
  check(dataset_.replayable,
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
  facts.public_inputs = digest_at_first_ + facts.public_inputs + digest_of(cap_at_first_);
  if (members_.has_changed()) facts.public_inputs += schedule_->digest() + digest_of(config_.omd.step_cap);
  facts.correlation = correlation_;
  if (config_.privacy.protects()) facts.norm_share = config_.scale_share.value_or(0);
  facts.norm_labels = loss_ && needs_label_size(config_, *loss_);
  facts.norm_uses = config_.data.epochs;
  if (constraints_) {
    facts.public_inputs += constraints_->text();
    facts.second = constraints_->second_part();
  }
  return facts;
}

}  // namespace starling
