// The graph, data, model and privacy of `starling omd`.
#include "app/run/privacy/norm_release.hpp"
#include "app/run/start_models.hpp"
#include "app/settings/tuned_settings.hpp"
#include "norm_counts.hpp"
#include "omd_run.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "starling/graph/analysis/analysis.hpp"
#include "starling/model/network/noise_norm.hpp"

namespace starling {

namespace {

constexpr double usual_scale_share = 0.01;
constexpr std::size_t records_at_once = 1024;  ///< that are read for a histogram; persons one by one
constexpr double step_cap_of_queues = 100;  ///< least that is chosen with --dual queue: steps are short and do not fall

/// The bias of plain mixing on this graph (docs/methods/decentralized.md).
std::string describe_bias(const Graph& graph, bool troubled) {
  if (troubled) {
    return "plain mixing counts clients unequally where they are absent unequally or links lose messages, beside what "
           "the graph itself does; push-sum does not";
  }
  if (graph.clients() > most_clients_analysed || graph.period() == 0) {
    return "plain mixing counts clients unequally on an unbalanced graph; starling topology check says by how much";
  }
  const std::vector<double> perron = analyse(GraphSample(graph)).perron;
  if (perron.empty()) return "plain mixing has no single limit on this graph; see starling topology check";
  const auto [least, most] = std::minmax_element(perron.begin(), perron.end());
  const auto n = static_cast<double>(perron.size());
  return fmt::format("plain mixing counts client {} {:.3g} times and client {} {:.3g} times (1 is fair; push-sum is)",
                     most - perron.begin(), n * *most, least - perron.begin(), n * *least);
}

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

std::string OmdRun::why_no_client_is_lost() const {
  const auto because = [](const char* why) {
    return fmt::format("{}. Bring its private folder back, or start a run of its own with fewer --clients", why);
  };
  if (!config_.learns()) return because("--loss none averages the starts of all clients");
  if (config_.constraints.any()) return because("budgets and duals of constraints are those of all clients");
  if (config_.regret != RegretChoice::none) return because("--regret reads the records of all clients again");
  if (config_.correlation == CorrelationChoice::two_buffers) {
    return because("--noise-correlation needs every round, and rounds that may have been released are left out");
  }
  if (config_.privacy.ledger) return because("--ledger names ledgers of all clients");
  return "";
}

std::unique_ptr<Graph> OmdRun::base_graph() const {
  if (config_.topology) return read_graph(*config_.topology);
  return make_graph("directed-ring", layout_->clients(), WeightRule::sender);
}

OverlayTerms OmdRun::overlay_terms(const Graph& graph) const {
  OverlayTerms terms;
  terms.missing =
      missing_weight(graph, config_.mixing.mixing == Mixing::push_sum ? MixingSums::sender : MixingSums::receiver);
  terms.steps_per_round = config_.mixing.gossip_steps;
  terms.seed = config_.data.seed;
  return terms;
}

/// The graph of the clients that are left, with all else that befalls it. Throws UsageError if it does not connect
/// them.
std::unique_ptr<Schedule> OmdRun::schedule_without_lost() {
  const Client n = layout_->clients();
  std::unique_ptr<Graph> graph = base_graph();
  if (rewired_.empty()) {
    const OverlayTerms terms = overlay_terms(*graph);
    require_connected_without(*graph, lost_);
    Departures departures(static_cast<std::size_t>(n));
    for (const Client u : lost_.all()) departures[static_cast<std::size_t>(u)] = 0;
    auto left = std::make_unique<AttendedSchedule>(std::move(graph), nullptr, std::move(departures), terms.missing,
                                                   terms.steps_per_round);
    return overlaid(std::move(left), config_.schedule, terms);
  }
  std::vector<Client> left;
  for (Client u = 0; u < n; ++u) {
    if (!lost_.has(u)) left.push_back(u);
  }
  const WeightRule rule = config_.mixing.mixing == Mixing::push_sum ? WeightRule::sender : WeightRule::receiver;
  graph = make_graph(rewired_, static_cast<Client>(left.size()), rule);
  check(graph->ever_connects(),
        "--rewire {}: it never connects the {} clients that are left (models could not agree) "
        "name another family",
        rewired_, left.size());
  const OverlayTerms terms = overlay_terms(*graph);
  return overlaid(std::make_unique<GraphOfSome>(std::move(graph), std::move(left), n), config_.schedule, terms);
}

void OmdRun::open_graph() {
  std::unique_ptr<Graph> graph;
  if (config_.topology) graph = read_graph(*config_.topology);
  place_clients(graph ? std::optional(graph->clients()) : std::nullopt);
  if (!graph) graph = base_graph();
  check_graph(*graph);
  if (config_.mixing.running_sums && graph->period() == 0) {
    notes_.emplace_back(
        "unacknowledged losses on a graph that never repeats: what is lost on an edge stays under way until that edge "
        "comes again, and both its ends keep a model's worth of sums for every edge that has ever come");
  }
  if (has_rule(config_) && !config_.given("gossip-steps"))
    config_.mixing.gossip_steps = tuned_gossip_steps(config_, *graph);
  const OverlayTerms terms = overlay_terms(*graph);
  even_masses_ = !config_.schedule.any() && keeps_masses_even(*graph);
  const std::vector<std::string> departures =
      departure_notes(*graph, config_.schedule, config_.rounds.value_or(std::numeric_limits<Round>::max()));
  notes_.insert(notes_.end(), departures.begin(), departures.end());
  schedule_ = overlaid(std::move(graph), config_.schedule, terms);
  digest_at_first_ = schedule_->digest();
  if (!lost_.any()) return;
  config_.data.lost = lost_.all();
  schedule_at_first_ = std::exchange(schedule_, schedule_without_lost());
}

void OmdRun::check_graph(const Graph& graph) {
  check(graph.ever_connects(),
        "the topology never connects: some client cannot reach some other however long the run is (models could not "
        "agree) "
        "see starling topology check {}",
        config_.topology.value_or("FILE"));
  if (config_.mixing.mixing == Mixing::push_sum) {
    graph.require_sender_sums();
    return;
  }
  try {
    graph.require_receiver_sums();
  } catch (const UsageError& error) {
    notes_.push_back(fmt::format("plain mixing: {}; models may shrink, grow or leave the domain", error.what()));
  }
  notes_.push_back(describe_bias(graph, config_.schedule.any()));
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
  config_.data.label_map = [this](double raw) { return loss_->label(raw); };
  config_.data.batches = DataSettings::Batches::shared;  // one client at a time learns
  open_streams(config_.data);
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
    RuleFacts facts = rule_facts(config_, *loss_, layout_->clients(), most_records, parameters);
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
  const bool settled = !config_.norm.empty() || (config_.privacy.clip && config_.given("step"));
  const bool wanted = share > 0 && config_.privacy.protects() && !settled && dataset_.replayable &&
                      most_records.value_or(0) > 0 && *most_records <= NormHistogram::most_records;
  config_.scale_share = 0;
  if (agreement_.all(declare_public(wanted))) release_norms(share, *most_records);
}

/// Finds what would end the run later on, before anything is released and a directory is made.
void OmdRun::check_before_release(std::int64_t most_records) {
  static_cast<void>(make_noise_keys(config_.privacy.noise_key, config_.data.seed, first_client(), client_count()));
  const LearningRule rule = learning_rule(rule_facts(config_, *loss_, layout_->clients(), most_records, 1));
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
    facts.rounds_of_pass = most_rounds_of_pass(rule_facts(config_, *loss_, layout_->clients(), most_records, 1));
    dataset_.plan(config_.data.person.empty() ? records_at_once : 1, 1, most_records);  // the rounds are planned later
    const NormHistogram histogram(config_.privacy.mechanism_row().charge, 1, 0);
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

/// All ranks have the same bits. Four digits can be typed.
void OmdRun::take_norms(double share, const TypicalNorms& norms) {
  config_.scale_share = share;
  std::string text;
  if (norms.l2) text = fmt::format("{:.4g}", *norms.l2);
  if (norms.l2 && norms.l1) text += fmt::format(",{:.4g}", *norms.l1);
  for (const std::optional<double>& norm : {norms.l2, norms.l1}) {
    if (norm && norms.l2) config_.norm.push_back(std::stod(fmt::format("{:.4g}", *norm)));
  }
  const std::string cost = config_.privacy.mechanism_row().gaussian()
                               ? fmt::format("{:.3g} of the square of its mu", share)
                               : fmt::format("{:.3g} of its epsilon", std::sqrt(share));
  tuned_.push_back({"norm", text.empty() ? "unknown" : text,
                    fmt::format("{} released histograms, which cost each {} {} once",
                                text.empty() ? "no bin stands out of the noise in" : "the median bin of the sum of",
                                name_of(config_.privacy.unit), cost)});
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
  if (config_.scale_share.value_or(0) > 0 && !config_.norm.empty()) {
    words.insert(words.end(), {"--norm", fmt::format("{}", fmt::join(config_.norm, ","))});
  }
  for (const TunedValue& each : values) {
    words.push_back("--" + each.option);
    words.push_back(each.value);
  }
  OmdConfig chosen = parse_omd_config(words);
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
  const std::optional<Vector> own = model_ ? model_->initial(config_.data.seed) : std::nullopt;
  StartModels start =
      start_models(config_.start, *domain_, dimension_, layout_->clients(), first_client(), client_count(), own);
  dimension_ = start.models.value().rows();
  start_ = std::move(start.models);
  notes_.insert(notes_.end(), start.notes.begin(), start.notes.end());
  config_.omd.rounds = rounds_of(config_.learns() ? dataset_.shape.rounds : std::nullopt);
  if (config_.linear_decay) config_.omd.zero_at = config_.omd.rounds;
  check_canaries(config_.omd.rounds);
  check_regret();
  open_constraints();
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
  for (const auto& stream : dataset_.streams) {
    if (const Round pass = stream->rounds_of_pass().value_or(0); pass > 0) shortest = std::min(shortest, pass);
  }
  shortest = agreement_.min(declare_public(shortest));
  const bool passes = shortest != never && config_.data.epochs > 1;
  std::string text;
  agreement_.together([&] {
    const NoiseCorrelation best =
        passes ? best_correlation(shortest, config_.data.epochs) : best_correlation(config_.omd.rounds, 1);
    text = best.text();
  });
  correlation_ = NoiseCorrelation::parse(agreement_.broadcast(declare_public(text)));
}

void OmdRun::choose_step_cap() {
  if (config_.step_cap) {
    cap_at_first_ = config_.omd.step_cap = *config_.step_cap;
    return;
  }
  cap_at_first_ = config_.omd.step_cap;
  if (!config_.learns()) return;
  const double least = config_.constraints.dual == DualMethod::queue ? step_cap_of_queues : 1;
  const auto chosen = [&](const Schedule& schedule, bool even) {
    return chosen_step_cap({agreement_, first_rank(), schedule, even, config_.mixing, config_.omd,
                            first_rounds(config_.omd.rounds), least});
  };
  cap_at_first_ = config_.omd.step_cap = chosen(lost_.any() ? *schedule_at_first_ : *schedule_, even_masses_);
  if (lost_.any()) config_.omd.step_cap = std::max(cap_at_first_, chosen(*schedule_, false));
  schedule_at_first_.reset();
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
  if (lost_.any()) facts.public_inputs += schedule_->digest() + digest_of(config_.omd.step_cap);
  facts.correlation = correlation_;
  if (config_.privacy.protects()) facts.norm_share = config_.scale_share.value_or(0);
  facts.norm_uses = config_.data.epochs;
  if (constraints_) {
    facts.public_inputs += constraints_->text();
    facts.second = constraints_->second_part();
  }
  return facts;
}

}  // namespace starling
