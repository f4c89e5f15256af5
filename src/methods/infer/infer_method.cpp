#include "infer_method.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "column_check.hpp"
#include "data/generators/synthetic.hpp"
#include "engine/infer_engine.hpp"
#include "engine/warm_up.hpp"
#include "graph/schedule.hpp"
#include "inference/path_intervals.hpp"
#include "interval_results.hpp"
#include "methods/omd/step_cap_choice.hpp"
#include "model/mallows_model.hpp"
#include "run/inputs/start_models.hpp"
#include "run/settings/source_options.hpp"
#include "run/stages/run_context.hpp"
#include "run/tuning/column_constants.hpp"

namespace starling {

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

void InferMethod::open_data() {
  parts_.loss = make_curved_loss(config_.loss);
  check_class_labels(config_.data, *parts_.loss, config_.loss);
  read_labels_of(*parts_.loss, config_.data);
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

}  // namespace starling
