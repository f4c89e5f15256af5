#include "infer_method.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

#include "column_check.hpp"
#include "core/numerics/kernels.hpp"
#include "data/generators/synthetic.hpp"
#include "graph/analysis/analysis.hpp"
#include "infer_engine.hpp"
#include "inference/path_intervals.hpp"
#include "interval_results.hpp"
#include "methods/omd/step_cap_choice.hpp"
#include "model/mallows_model.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "privacy/parts.hpp"
#include "protocol/aggregated/newton.hpp"
#include "protocol/aggregated/plug_in_sums.hpp"
#include "run/inputs/start_models.hpp"
#include "run/privacy/run_pairs.hpp"
#include "run/settings/schedule_options.hpp"
#include "run/settings/source_options.hpp"
#include "run/stages/run_context.hpp"
#include "run/tuning/column_constants.hpp"
#include "run/tuning/rule_settings.hpp"
#include "run/tuning/settings_by_rule.hpp"
#include "run/tuning/tuned_settings.hpp"
#include "setting/infer_rule.hpp"
#include "warm_up.hpp"

namespace starling {

namespace {

/// A little more than Ψ can reach, so that roundings need no clipping (privacy/noise/grid.hpp keeps 2^-20).
constexpr double slack = 1 + 0x1p-16;

}  // namespace

InferMethod::InferMethod(RunContext& run, RunHome& home, Configured<InferConfig>& configuration)
    : Method(run, home), configuration_(configuration) {
  run_.agreement.together([&] { open_graph(); });
  run_.inputs.introduce();
  all_ranks_play_ = parts_.schedule == nullptr;  // those without clients take part in an aggregator's rounds
  run_.agreement.same("topology", declare_public(parts_.schedule ? parts_.schedule->digest() : ""));
  run_.agreement.together([&] { open_data(); });
  run_.inputs.open_streams(config_.data);
  run_.agree_on_records();
  choose_pairs();
  choose_settings();
  run_.settle();
  run_.open_model([this] { open_model(); });
  agree_on_model();
}

std::string InferMethod::digest_of_inputs(const std::string& of_all_methods) const {
  return of_all_methods + digest_of(config_.step_cap);
}

void InferMethod::open_graph() {
  std::unique_ptr<Graph> graph = run_.inputs.place_clients(config_.topology);
  if (!graph) return;
  require_connected(*graph, *config_.topology);
  parts_.contraction = contraction_of(*graph);
  if (const std::string why = why_no_agreement(*graph); !why.empty()) run_.notes.push_back("the topology: " + why);
  if (config_.mixing.mixing == Mixing::push_sum) {
    graph->require_sender_sums();
  } else {
    graph->require_receiver_sums();
    run_.notes.emplace_back(
        "plain mixing counts clients unequally on an unbalanced graph, and their estimates with them; starling "
        "topology check says by how much");
  }
  const OverlayTerms terms = overlay_terms(*graph, config_.mixing, config_.data.seed);
  even_masses_ = keeps_masses_even(*graph);
  parts_.schedule = overlaid(std::move(graph), ScheduleOptions(), terms);
}

void InferMethod::open_data() {
  parts_.loss = make_curved_loss(config_.loss);
  check_class_labels(config_.data, *parts_.loss, config_.loss);
  read_labels_of(*parts_.loss, config_.data);
}

void InferMethod::choose_pairs() {
  if (!config_.privacy.trusts_pairs) return;
  std::unique_ptr<Graph> graph;
  if (config_.topology) run_.agreement.together([&] { graph = read_graph(*config_.topology); });
  pairs_ =
      std::make_shared<RunPairs>(run_.agreement, config_.privacy, PairClients::all_of(run_.inputs.layout->clients()),
                                 graph.get(), config_.data.seed);
}

void InferMethod::choose_settings() {
  if (!config_.tune && !config_.resume && config_.privacy.protects() && config_.decentralized()) {
    run_.notes.emplace_back("no rule is known for steps over a graph: settings that are not given keep their defaults");
  }
  const std::optional<std::int64_t> records = most_records_of_clients(run_.agreement, run_.inputs.dataset);
  if (config_.tunes()) tune(records);
  if (!config_.newton()) return;
  run_.agreement.together([&] {
    check(
        records && run_.inputs.dataset.replayable && !run_.inputs.dataset.shape.sparse,
        "--estimator newton with '{}': its rounds read all records, of a known number and dense, again and again. Use "
        "a file of these, or --estimator path.",
        config_.data.source);
    take_whole_rounds(*records);
  });
}

void InferMethod::tune(const std::optional<std::int64_t>& records) {
  const Vector all_records = run_.inputs.records_of_clients();
  const bool equal = config_.weights == ClientWeights::equal;
  Vector shares = equal ? over_own_batches(all_records) : Vector(all_records.size(), 1.0);
  scale(1 / static_cast<double>(shares.size()), shares);
  const InferRuleFacts facts{config_,
                             *parts_.loss,
                             run_.inputs.dataset.shape,
                             run_.inputs.dataset.replayable,
                             run_.inputs.layout->clients(),
                             shares,
                             records,
                             rounds_of_endless_streams,
                             pairs_ ? 1 / pairs_->terms().exposure : 1};
  std::vector<TunedValue> chosen = release_constants(why_a_path(facts), records);
  chosen.push_back({"tuning", "off", ""});
  const std::size_t dropped = features_left_out(run_.agreement, run_.inputs.dataset).size();
  std::vector<TunedValue> values;
  run_.agreement.together([&] {
    values = values_by_rule(facts);
    for (TunedValue& each : values) keep_in_range(each);
    if (run_.first_rank()) print_tuning(values, newton_outlook(facts, dropped));
  });
  for (TunedValue& each : values) each.value = run_.agreement.broadcast(declare_public(each.value));
  run_.agreement.together([&] {
    std::ranges::copy(values, std::back_inserter(chosen));
    configuration_.choose(chosen);
    if (run_.inputs.dataset.replayable) run_.inputs.dataset.plan(config_.data.batching(), records);
  });
  std::ranges::move(values, std::back_inserter(run_.tuning.chosen));
}

/// Every client's records are one batch.
void InferMethod::take_whole_rounds(std::int64_t records) {
  config_.data.batch = static_cast<std::size_t>(std::max<std::int64_t>(1, records));
  run_.inputs.dataset.plan(config_.data.batching(), records);
}

void InferMethod::open_model() {
  // Newton's method without noise needs no bound on a record's influence, and then has the usual estimate.
  const bool unweighted = std::isinf(parts_.loss->most_slope()) || (config_.newton() && unprotected());
  const RowWeights weights = unweighted ? RowWeights::none : RowWeights::mallows;
  parts_.model =
      std::make_unique<MallowsModel>(*parts_.loss, run_.inputs.dataset.shape.features, config_.intercept, weights);
  dimension_ = parts_.model->dimension();
  choose_steps();
  constexpr std::size_t most_joint = 50;
  check(!config_.joint || config_.newton() || run_.inputs.dataset.shape.features <= most_joint,
        "--joint with {} coefficients: its quantile is simulated, which takes a minute for {} and grows with the third "
        "power. Drop columns, or look at single intervals.",
        run_.inputs.dataset.shape.features, most_joint);
  look_at_columns();
  if (config_.replications > 0) check_truth();
  const bool by_rule =
      std::ranges::any_of(run_.tuning.chosen, [](const TunedValue& each) { return each.option == "step"; });
  if (!config_.newton() && !unprotected() && !parts_.loss->is_symmetric() && !config_.curvature_by_step() && !by_rule) {
    run_.notes.emplace_back(
        "noise gives the average a curvature bias of order gamma n^-alpha / mu^2 under this loss, which is not known "
        "here; --bias remove estimates it and takes it off, more records a step (--batch) or clients make it small");
  }
  const bool has_own_units = config_.data.keeps_units() && config_.data.scale == 1 &&
                             !is_synthetic(config_.data.source) && !run_.inputs.dataset.shape.sparse;
  if (!config_.newton() && !unprotected() && has_own_units) {
    run_.notes.emplace_back(
        "columns stay in the units of the table: where these differ much in size no length of a step suits all, and "
        "intervals do not settle. --standardise or --ranges says how large values are");
  }
  if (config_.privacy.unit == PrivacyUnit::person) {
    run_.notes.emplace_back(
        "persons count alike: the estimate solves an equation with one term for each person, the mean over the "
        "person's records; the intervals hold for independent persons, whose own records may be alike");
  }
  parts_.start = start_of_all(config_, dimension_);
}

/// Reads the records of all steps once, where that is allowed: without protection there is nobody to ask.
void InferMethod::look_at_columns() {
  const bool may_look = unprotected() && run_.metrics_policy().shared() && run_.inputs.dataset.replayable &&
                        !run_.inputs.dataset.is_public;
  // Newton's method without noise takes any scales.
  parts_.columns =
      std::make_unique<ColumnCheck>(config_.data, run_.inputs.dataset.shape, may_look && !config_.newton());
  if (!may_look || run_.inputs.client_count() == 0) return;
  const Dataset again = run_.inputs.opened_again(config_.data);
  refuse_constant_columns(
      parts_.columns->look(again.streams, config_.newton() ? 1 : config_.sgd.steps, run_.metrics_policy()));
}

/// A column that never varies and an intercept have two coefficients of which only the sum means anything.
void InferMethod::refuse_constant_columns(const std::vector<std::size_t>& constant) {
  if (constant.size() + (config_.intercept ? 1 : 0) < 2) return;
  const std::string listed = quoted_names(constant, parts_.coefficient_names(run_.inputs.dataset.shape));
  const bool described = config_.data.features == ReadSettings::Features::hog;  // not by columns of the file
  check<DataError>(run_.world.size() > 1,
                   "{}: column {} never varies{}: its coefficient cannot be told from that of another constant. {}.",
                   config_.data.source, listed, config_.intercept ? ", and there is an intercept" : "",
                   described ? "Use --features raw" : "Drop it (--drop), or give --intercept no");
  run_.notes.push_back(
      fmt::format("column {} never varies on rank {}: if so everywhere, its coefficient cannot be told from that of "
                  "another constant",
                  listed, run_.world.rank()));
}

void InferMethod::agree_on_model() {
  if (parts_.schedule && !config_.asked_step_cap) {
    config_.step_cap = chosen_step_cap({run_.agreement, *parts_.schedule, even_masses_, config_.mixing,
                                        omd_settings(config_), run_.first_rounds(config_.sgd.steps)});
  }
  if (pairs_) require_known_ends(run_.agreement, run_.reads_pipes);
  // The noise of the warm-up is independent.
  correlate_noise(config_.correlation == CorrelationChoice::two_buffers,
                  config_.sgd.steps - (parts_.warm_up ? parts_.warm_up->rounds() : 0));
  Vector records = count_records();
  parts_.columns->propose(run_.agreement, parts_.loss->link() == Link::identity);
  const bool standardised = run_.inputs.dataset.constants && !run_.inputs.dataset.constants->standardisation.empty();
  const bool all_standardised = !run_.agreement.all(declare_public(!standardised)) &&
                                run_.agreement.all(declare_public(standardised || run_.inputs.client_count() == 0));
  parts_.interval_facts = std::make_unique<IntervalFacts>(IntervalFacts{
      run_.agreement, *run_.inputs.layout, config_, dimension_, parts_.coefficient_names(run_.inputs.dataset.shape),
      std::move(records), correlation_.has_value(), all_standardised, run_.inputs.dataset.constants,
      path_tells_scales(), features_left_out(run_.agreement, run_.inputs.dataset)});
  check(parts_.interval_facts->left_out.empty() || config_.newton(),
        "--standardise drops columns, and an average of a path has coefficients for all: what noise makes of theirs "
        "would hide the others. Use --estimator newton, or --drop.");
}

/// Whether public constants say the scales of the features, or the path shows whether they suit its steps: noise that
/// later steps take back hides the directions in which it has not moved.
bool InferMethod::path_tells_scales() const {
  return !correlation_ || config_.data.scales_columns() || run_.inputs.dataset.is_public ||
         config_.data.features != ReadSettings::Features::raw;
}

/// Numbers of records of all clients; infinite where nobody knows beforehand.
Vector InferMethod::count_records() {
  Vector own;
  for (const auto& stream : run_.inputs.dataset.streams) {
    const auto records = stream->records();
    own.push_back(records ? static_cast<double>(*records) * static_cast<double>(config_.data.epochs)
                          : std::numeric_limits<double>::infinity());
  }
  return joined(run_.agreement.all_gather(declare_public(std::move(own))));
}

void InferMethod::choose_steps() {
  config_.sgd.steps = run_.inputs.rounds_of(run_.inputs.dataset.shape.rounds);
  if (config_.warmup_share > 0) {
    const Round rounds =
        std::max<Round>(1, std::llround(config_.warmup_share * static_cast<double>(config_.sgd.steps)));
    parts_.warm_up =
        std::make_unique<WarmUp>(config_, run_.inputs.dataset, parts_.loss->link() == Link::identity, rounds);
    config_.burn_in += rounds;  // their models do not count: there are none
  }
  if (config_.newton()) return;
  const Round counted = config_.sgd.steps - config_.burn_in;
  check(counted >= 2 || config_.intervals_text == "none",
        "--burn-in {} of {} steps: an average and its intervals need two steps or more. Take fewer, or more records.",
        config_.burn_in, config_.sgd.steps);
  check(config_.intervals_text == "none" || counted >= least_steps_each * static_cast<Round>(dimension_),
        "{} steps{} for {} coefficients{}: intervals from fewer than {} steps for each coefficient, {} in all, mean "
        "nothing. Bring more records, take fewer a step (--batch), drop columns (--drop), or leave the intervals out "
        "(--intervals none).",
        counted, config_.burn_in > 0 ? " after the burn-in" : "", dimension_,
        config_.intercept ? ", the intercept among them" : "", least_steps_each,
        least_steps_each * static_cast<Round>(dimension_));
  // For its message: so many batches must fit.
  if (config_.batch_means) {
    static_cast<void>(BatchMeans(1, *config_.batch_means, config_.sgd.step_power, counted));
  }
}

SecondPart InferMethod::plug_in_part() const {
  if (!config_.plug_in) return PlugInSums::part(*parts_.model, CurvatureParts::curvature, config_.bias_share);
  SecondPart part = PlugInSums::part(*parts_.model, CurvatureParts::both, PlugInSums::share_of_both);
  if (config_.trust == PlugInTrust::central) {
    const double records = static_cast<double>(config_.sgd.steps) * static_cast<double>(config_.data.batch) *
                           static_cast<double>(run_.inputs.layout->clients());
    check(unprotected() || records <= most_records_of_sum,
          "--trust central with {} records in all: the sensitivity of sums over more than {} cannot be proved. Use "
          "--trust local, or fewer --rounds.",
          records, most_records_of_sum);
    part.once_of = static_cast<std::size_t>(std::min(records, most_records_of_sum));
    part.clip *= room_of_sum;
  }
  return part;
}

std::optional<SecondPart> InferMethod::second_part() const {
  if (parts_.warm_up) return parts_.warm_up->part();
  if (config_.newton()) return NewtonRounds::second_part(*parts_.model, newton_settings(config_));
  if (two_parts()) return plug_in_part();
  return std::nullopt;
}

std::unique_ptr<Protection> InferMethod::make_protection(ReleaseSettings settings) const {
  const std::string& name = config_.privacy.mechanism_row().name;
  if (!unprotected() && !config_.privacy.clip) settings.clip = parts_.model->most_influence() * slack;
  if (parts_.warm_up) {
    auto pair = std::make_unique<PairedMechanism>(name, settings, parts_.warm_up->part());
    check(unprotected() || pair->second_clip().bound >= 1 + 1e-12,
          "--warmup-share {}: the sensitivity of sums over so many records cannot be proved. Take a smaller one.",
          config_.warmup_share);
    return pair;
  }
  if (const std::optional<SecondPart> second = second_part()) {
    auto pair = std::make_unique<PairedMechanism>(name, settings, *second);
    // Nothing clips the second part: its bound must leave room for what rounding it to integers takes.
    const double norm = config_.plug_in || config_.newton() ? std::numbers::sqrt2 : 1;
    check(unprotected() || pair->second_clip().bound >= norm * (1 + 1e-12),
          "sums of curvatures over {} records of a client: their sensitivity cannot be proved. {}.", config_.data.batch,
          config_.newton() ? "Use --estimator path" : "Take a smaller --batch");
    return pair;
  }
  return mechanism_table().make(name, settings);
}

RunFacts InferMethod::privacy_facts() {
  RunFacts facts = common_facts(config_.sgd.steps);
  if (parts_.schedule)
    facts.public_inputs = parts_.schedule->digest() + facts.public_inputs + digest_of(config_.step_cap);
  facts.second = second_part();
  facts.histograms = shares_of_constants();
  if (config_.plug_in) facts.price_factor = PlugInSums::price_factor;
  // A record is in each round's release: together they cost what was asked for.
  if (config_.newton()) facts.price_factor = short_of_one / std::sqrt(static_cast<double>(config_.sgd.steps));
  if (!parts_.schedule) {
    const bool central = config_.plug_in && config_.trust == PlugInTrust::central;
    facts.trust = unprotected() ? TrustModel::none
                  : central     ? TrustModel::curvature
                  : pairs_      ? TrustModel::pairs
                                : TrustModel::local;
  }
  facts.pairs = pairs_;
  facts.protection = [this](const ReleaseSettings& settings) { return make_protection(settings); };
  return facts;
}

}  // namespace starling
