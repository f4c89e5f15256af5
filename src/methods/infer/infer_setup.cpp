// The graph, data, settings, model and privacy of `starling infer`.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

#include "core/numerics/kernels.hpp"
#include "core/text/spec.hpp"
#include "data/generators/synthetic.hpp"
#include "graph/analysis/analysis.hpp"
#include "infer_rule.hpp"
#include "infer_run.hpp"
#include "run/inputs/start_models.hpp"
#include "run/settings/model_choice.hpp"
#include "run/settings/schedule_options.hpp"
#include "run/settings/source_options.hpp"
#include "run/tuning/rule_settings.hpp"
#include "run/tuning/settings_by_rule.hpp"
#include "run/tuning/tuned_settings.hpp"

namespace starling {

namespace {

/// A little more than Ψ can reach, so that roundings need no clipping (privacy/noise/grid.hpp keeps 2^-20).
constexpr double slack = 1 + 0x1p-16;

}  // namespace

void InferRun::open_graph() {
  std::unique_ptr<Graph> graph = inputs_.place_clients(config_.topology);
  if (!graph) return;
  require_connected(*graph, *config_.topology);
  contraction_ = contraction_of(*graph);
  if (const std::string why = why_no_agreement(*graph); !why.empty()) notes_.push_back("the topology: " + why);
  if (config_.mixing.mixing == Mixing::push_sum) {
    graph->require_sender_sums();
  } else {
    graph->require_receiver_sums();
    notes_.emplace_back(
        "plain mixing counts clients unequally on an unbalanced graph, and their estimates with them; starling "
        "topology check says by how much");
  }
  const OverlayTerms terms = overlay_terms(*graph, config_.mixing, config_.data.seed);
  even_masses_ = keeps_masses_even(*graph);
  schedule_ = overlaid(std::move(graph), ScheduleOptions(), terms);
}

void InferRun::open_data() {
  curved_ = make_curved_loss(config_.loss);
  loss_ = make_curved_loss(config_.loss);
  check_class_labels(config_.data, curved_->classifies(), config_.loss);
  config_.data.label_map = [this](double raw) { return curved_->label(raw); };
  inputs_.open_streams(config_.data);
}

void InferRun::choose_settings() {
  if (!config_.tune && !config_.resume && config_.privacy.protects() && config_.decentralized()) {
    notes_.emplace_back("no rule is known for steps over a graph: settings that are not given keep their defaults");
  }
  if (!config_.tunes()) return;
  const std::optional<std::int64_t> records = most_records_of_clients(agreement_, inputs_.dataset);
  const Vector all_records = inputs_.records_of_clients();
  const bool equal = config_.weights == ClientWeights::equal;
  Vector shares = equal ? over_own_batches(all_records) : Vector(all_records.size(), 1.0);
  scale(1 / static_cast<double>(shares.size()), shares);
  std::vector<TunedValue> values;
  agreement_.together([&] {
    values = values_by_rule({config_, *curved_, inputs_.dataset.shape, inputs_.dataset.replayable,
                             inputs_.layout->clients(), shares, records, rounds_of_endless_streams});
    for (TunedValue& each : values) keep_in_range(each);
    if (first_rank()) print_tuning(values, "");
  });
  for (TunedValue& each : values) each.value = agreement_.broadcast(declare_public(each.value));
  agreement_.together([&] {
    std::vector<TunedValue> chosen{{"tuning", "off", ""}};
    std::ranges::copy(values, std::back_inserter(chosen));
    configuration_.choose(chosen);
    if (inputs_.dataset.replayable) inputs_.dataset.plan(config_.data.batching(), records);
  });
  tuning_.chosen = std::move(values);
}

void InferRun::open_model() {
  const RowWeights weights = std::isinf(curved_->most_slope()) ? RowWeights::none : RowWeights::mallows;
  model_ = std::make_unique<MallowsModel>(*curved_, inputs_.dataset.shape.features, config_.intercept, weights);
  dimension_ = model_->dimension();
  choose_steps();
  constexpr std::size_t most_joint = 50;
  check(!config_.joint || inputs_.dataset.shape.features <= most_joint,
        "--joint with {} coefficients (its quantile is simulated, which takes a minute for {} and grows with the third "
        "power) drop columns, or look at single intervals",
        inputs_.dataset.shape.features, most_joint);
  look_at_columns();
  if (config_.replications > 0) check_truth();
  const bool by_rule =
      std::ranges::any_of(tuning_.chosen, [](const TunedValue& each) { return each.option == "step"; });
  if (!unprotected() && !curved_->is_symmetric() && !config_.curvature_by_step() && !by_rule) {
    notes_.emplace_back(
        "noise gives the average a curvature bias of order gamma n^-alpha / mu^2 under this loss, which is not known "
        "here; --bias remove estimates it and takes it off, more records a step (--batch) or clients make it small");
  }
  if (config_.privacy.unit == PrivacyUnit::person) {
    notes_.emplace_back(
        "persons count alike: the estimate solves an equation with one term for each person, the mean over the "
        "person's records; the intervals hold for independent persons, whose own records may be alike");
  }
  const std::unique_ptr<Domain> everywhere = domain_table().make("free");
  const StartModels models = start_models(config_.start, *everywhere, dimension_, 1, 0, 1);
  start_ = declare_public(Vector(models.models.value()[0].begin(), models.models.value()[0].end()));
}

/// Reads the records of all steps once, where that is allowed: without protection there is nobody to ask.
void InferRun::look_at_columns() {
  const bool may_look =
      unprotected() && metrics_policy().shared() && inputs_.dataset.replayable && !inputs_.dataset.is_public;
  columns_.emplace(config_.data, inputs_.dataset.shape, may_look);
  if (!may_look || inputs_.client_count() == 0) return;
  const Dataset again = inputs_.opened_again(config_.data);
  refuse_constant_columns(columns_->look(again.streams, config_.sgd.steps, metrics_policy()));
}

/// Whoever fits a line to a column that never varies, beside an intercept, gets two coefficients of which only the sum
/// means anything.
void InferRun::refuse_constant_columns(const std::vector<std::size_t>& constant) {
  if (constant.size() + (config_.intercept ? 1 : 0) < 2) return;
  const std::string listed = quoted_names(constant, coefficient_names());
  const bool described = config_.data.features == ReadSettings::Features::hog;  // not by columns of the file
  check<DataError>(world_.size() > 1,
                   "{}: column {} never varies{} (its coefficient cannot be told from that of another constant) {}",
                   config_.data.source, listed, config_.intercept ? ", and there is an intercept" : "",
                   described ? "use --features raw" : "drop it (--drop), or --intercept no");
  notes_.push_back(
      fmt::format("column {} never varies on rank {}: if so everywhere, its coefficient cannot be told from that of "
                  "another constant",
                  listed, world_.rank()));
}

void InferRun::agree_on_model() {
  if (schedule_ && !config_.asked_step_cap) {
    config_.step_cap = chosen_step_cap(
        {agreement_, *schedule_, even_masses_, config_.mixing, omd_settings(config_), first_rounds(config_.sgd.steps)});
  }
  // The noise of the warm-up is independent.
  correlate_noise(config_.correlation == CorrelationChoice::two_buffers,
                  config_.sgd.steps - (warm_up_ ? warm_up_->rounds() : 0));
  Vector records = count_records();
  columns_->propose(agreement_, !curved_->classifies());
  const bool standardised = inputs_.dataset.constants && !inputs_.dataset.constants->standardisation.empty();
  const bool all_standardised = !agreement_.all(declare_public(!standardised)) &&
                                agreement_.all(declare_public(standardised || inputs_.client_count() == 0));
  interval_facts_.emplace(IntervalFacts{agreement_, *inputs_.layout, config_, dimension_, coefficient_names(),
                                        std::move(records), correlation_.has_value(), all_standardised,
                                        inputs_.dataset.constants, path_tells_scales()});
}

/// Whether public constants say the scales of the features, or the path shows whether they suit its steps: noise that
/// later steps take back hides the directions in which it has not moved.
bool InferRun::path_tells_scales() const {
  return !correlation_ || config_.data.scales_columns() || inputs_.dataset.is_public ||
         config_.data.features != ReadSettings::Features::raw;
}

/// Numbers of records of all clients; infinite where nobody knows beforehand.
Vector InferRun::count_records() {
  Vector own;
  for (const auto& stream : inputs_.dataset.streams) {
    const auto records = stream->records();
    own.push_back(records ? static_cast<double>(*records) * static_cast<double>(config_.data.epochs)
                          : std::numeric_limits<double>::infinity());
  }
  return joined(agreement_.all_gather(declare_public(std::move(own))));
}

void InferRun::choose_steps() {
  config_.sgd.steps = inputs_.rounds_of(inputs_.dataset.shape.rounds);
  if (config_.warmup_share > 0) {
    const Round rounds =
        std::max<Round>(1, std::llround(config_.warmup_share * static_cast<double>(config_.sgd.steps)));
    warm_up_.emplace(config_, inputs_.dataset, !curved_->classifies(), rounds);
    config_.burn_in += rounds;  // their models do not count: there are none
  }
  const Round counted = config_.sgd.steps - config_.burn_in;
  check(counted >= 2 || config_.intervals_text == "none",
        "--burn-in {} of {} steps (an average and its intervals need two steps or more) take fewer, or more records",
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

SecondPart InferRun::plug_in_part() const {
  if (!config_.plug_in) return PlugInSums::part(*model_, CurvatureParts::curvature, config_.bias_share);
  SecondPart part = PlugInSums::part(*model_, CurvatureParts::both, PlugInSums::share_of_both);
  if (config_.trust == PlugInTrust::central) {
    const double records = static_cast<double>(config_.sgd.steps) * static_cast<double>(config_.data.batch) *
                           static_cast<double>(inputs_.layout->clients());
    check(unprotected() || records <= most_records_of_sum,
          "--trust central with {} records in all (the sensitivity of sums over more than {} cannot be proved) use "
          "--trust local, or fewer --rounds",
          records, most_records_of_sum);
    part.once_of = static_cast<std::size_t>(std::min(records, most_records_of_sum));
    part.clip *= room_of_sum;
  }
  return part;
}

std::unique_ptr<Protection> InferRun::make_protection(ReleaseSettings settings) const {
  const std::string& name = config_.privacy.mechanism_row().name;
  if (!unprotected() && !config_.privacy.clip) settings.clip = model_->most_influence() * slack;
  if (warm_up_) {
    auto pair = std::make_unique<PairedMechanism>(name, settings, warm_up_->part());
    check(unprotected() || pair->second_clip().bound >= 1 + 1e-12,
          "--warmup-share {} (the sensitivity of sums over so many records cannot be proved) take a smaller one",
          config_.warmup_share);
    return pair;
  }
  if (two_parts()) {
    auto pair = std::make_unique<PairedMechanism>(name, settings, plug_in_part());
    // Nothing clips the second part: its bound must leave room for what rounding it to integers takes.
    const double norm = config_.plug_in ? std::numbers::sqrt2 : 1;
    check(unprotected() || pair->second_clip().bound >= norm * (1 + 1e-12),
          "--batch {} with curvatures (the sensitivity of their sums over so many records cannot be proved) take a "
          "smaller one",
          config_.data.batch);
    return pair;
  }
  return mechanism_table().make(name, settings);
}

RunFacts InferRun::privacy_facts() {
  RunFacts facts = common_facts(config_.sgd.steps);
  if (schedule_) facts.public_inputs = schedule_->digest() + facts.public_inputs + digest_of(config_.step_cap);
  if (two_parts()) facts.second = plug_in_part();
  if (warm_up_) facts.second = warm_up_->part();
  if (config_.plug_in) facts.price_factor = PlugInSums::price_factor;
  if (!schedule_) {
    const bool central = config_.plug_in && config_.trust == PlugInTrust::central;
    facts.trust = unprotected() ? TrustModel::none : central ? TrustModel::curvature : TrustModel::local;
  }
  facts.protection = [this](const ReleaseSettings& settings) { return make_protection(settings); };
  return facts;
}

std::unique_ptr<InferEngine> InferRun::engine(std::vector<std::unique_ptr<Stream>> streams, Accounts& accounts) {
  EngineParts parts{world_,
                    *inputs_.layout,
                    config_,
                    schedule_.get(),
                    *model_,
                    &learned_model(*model_, config_.privacy, persons_),
                    &privacy_->mechanism(),
                    accounts,
                    privacy_->keys(),
                    std::move(streams),
                    &*start_,
                    privacy_->price_at(0, 0)};
  if (config_.weights == ClientWeights::equal) parts.factors = inputs_.factors_of_own_means(parts.streams);
  if (warm_up_) {
    const std::vector<std::size_t> hidden = warm_up_->play(parts, agreement_);
    hidden_.insert(hidden.begin(), hidden.end());
    interval_facts_->knows_scales = warm_up_->found_scales();
  }
  parts.mechanism->begin_chains();  // replications share it
  return make_engine(std::move(parts));
}

/// Says which features the warm-up could not tell from noise, if there are any.
void InferRun::note_hidden() {
  if (hidden_.empty()) return;
  notes_.push_back(fmt::format(
      "warm-up: features vary by less than {} shows in directions mostly of {}: steps there are short. A "
      "column may be a combination of others; drop it (--drop), or give all one scale (--standardise)",
      unprotected() ? "rounding" : "noise", quoted_names({hidden_.begin(), hidden_.end()}, coefficient_names())));
}

}  // namespace starling
