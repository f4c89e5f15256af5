// The results of `starling renewable`.
#include <cmath>

#include "methods/methods.hpp"
#include "renewable_run.hpp"

namespace starling {

/// The search of the variant `offline`, else null.
const OfflineRenewable* RenewableRun::search() const {
  if (config_.variant != RenewableVariant::offline) return nullptr;
  return dynamic_cast<const OfflineRenewable*>(protocol_.get());
}

RoundsEnd RenewableRun::end_rounds() {
  RoundsEnd end = AggregatedRun::end_rounds();
  const OfflineRenewable* const offline = search();
  if (offline != nullptr && (offline->converged() || offline->without_minimum())) end.stopped = false;
  return end;
}

ExitCode RenewableRun::exit_code(const Summary& summary, const RoundsEnd& end) {
  const OfflineRenewable* const offline = search();
  check<DataError>(
      offline == nullptr || !offline->without_minimum(),
      "there is no minimum: a class has no records, and under --penalty slopes its intercept grows without end. Take "
      "records of all classes, or --penalty full; what was reached is in {}",
      directory_->path());
  check<DataError>(
      offline == nullptr || offline->converged() || end.stopped || config_.rounds,
      "no minimum was found in {} passes (the objective still falls: --l2 hardly bounds the model) add a penalty; what "
      "was reached is in {}",
      config_.settings.rounds, directory_->path());
  return AggregatedRun::exit_code(summary, end);
}

void RenewableRun::play_rounds(const std::vector<Observer*>& observers) {
  try {
    AggregatedRun::play_rounds(observers);
  } catch (const UndeterminedFeature& error) {
    throw error.named(inputs_.dataset.shape.names);
  }
}

/// "x1", "intercept"; with several classes "2:x1".
std::vector<std::string> RenewableRun::coefficient_names() const {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < model_->classes(); ++k) {
    const std::string prefix = model_->classes() > 1 ? fmt::format("{}:", k) : "";
    for (std::size_t j = 0; j + 1 < model_->order(); ++j) {
      names.push_back(prefix +
                      (inputs_.dataset.shape.names.empty() ? fmt::format("x{}", j) : inputs_.dataset.shape.names[j]));
    }
    names.push_back(prefix + "intercept");
  }
  return names;
}

/// Rank 0's, of the online estimate if standard errors are asked for; none of an estimate that is lost.
std::vector<Interval> RenewableRun::intervals() const {
  const auto* const online = dynamic_cast<const OnlineRenewable*>(protocol_.get());
  if (config_.standard_errors == StandardErrors::none || online == nullptr || !first_rank() || online->is_lost()) {
    return {};
  }
  const Vector variances = online->variances(dispersion());
  const std::vector<std::string> names = coefficient_names();
  const std::string method = config_.settings.with_slopes ? "wald-sandwich" : "wald";
  std::vector<Interval> intervals;
  for (std::size_t i = 0; i < variances.size(); ++i) {
    intervals.push_back(
        wald_interval(names[i], online->theta().value()[i], std::sqrt(variances[i]), config_.level, method));
  }
  return intervals;
}

/// The dispersion φ behind the standard errors of a likelihood.
OnlineRenewable::Dispersion RenewableRun::dispersion() const {
  return curved_->likelihood() == Likelihood::up_to_scale ? OnlineRenewable::Dispersion::squared
                                                          : OnlineRenewable::Dispersion::one;
}

/// Rank 0's, of the online estimate, where the variance of scores is known; none where old batches are to be forgotten.
std::optional<BatchScores> RenewableRun::batch_scores() const {
  const auto* const online = dynamic_cast<const OnlineRenewable*>(protocol_.get());
  const bool known = curved_->likelihood() != Likelihood::none || config_.settings.with_slopes;
  return online != nullptr && known && config_.settings.forget == 1 ? online->batch_scores(dispersion()) : std::nullopt;
}

void RenewableRun::add_notes() {
  const auto* const online = dynamic_cast<const OnlineRenewable*>(protocol_.get());
  if (online != nullptr && online->start_was_shrunk()) {
    notes_.emplace_back(
        "the first batch alone has no minimum with --penalty slopes (it may hold one class only): the start, and it "
        "alone, shrinks the intercept too");
  }
  if (online != nullptr && online->is_lost()) {
    notes_.push_back(
        fmt::format("the batches after the start were predicted worse than by a model of zeros: the curvature was too "
                    "flat, and the steps too long. The run gives no intervals. Take {}larger batches or --l2.",
                    config_.settings.safe_start ? "" : "--start safe, "));
  }
  if (online != nullptr && online->searches() > 0) {
    notes_.push_back(fmt::format(
        "in {} {} the step promised a loss below 0: the batches before had hardly any curvature there, as if their "
        "classes could nearly be separated. The model was searched over the batch instead. Larger batches need no "
        "search.",
        online->searches(), online->searches() == 1 ? "batch" : "batches"));
  }
  const OfflineRenewable* const offline = search();
  if (offline != nullptr && offline->converged()) {
    notes_.push_back(fmt::format("converged after {} passes", offline->done()));
  } else if (offline != nullptr && (offline->without_minimum() || offline->done() == config_.settings.rounds)) {
    notes_.push_back(fmt::format("NOT converged after {} passes", offline->done()));
  }
}

void RenewableRun::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) {
  add_notes();
  AggregatedRun::summarise(summary, std::move(models), end);
  if (auto batches = batch_scores()) summary.add(*batches);
  try {
    const RunIntervals& all = summary.add(RunIntervals{intervals()});
    if (!all.intervals.empty() && config_.settings.l2 > 0) {
      notes_.push_back(
          fmt::format("the intervals are of the coefficients under the penalty, which --l2 {} shrinks towards 0: they "
                      "hold those of a model without penalty less often than in {:.6g} % of runs",
                      config_.settings.l2, 100 * config_.level));
    }
  } catch (const DataError& error) {  // rank 0's: the model stands without them
    notes_.emplace_back(error.what());
  }
  if (const auto* const offline = dynamic_cast<const OfflineRenewable*>(protocol_.get())) {
    summary.part<RunScores>().objective = offline->objective();
  }
}

std::optional<SavedModel> RenewableRun::model_of_results() const {
  SavedModel model;
  model.loss = config_.loss;
  model.scores = model_->classes();
  model.features = inputs_.dataset.shape.features;
  model.form = LinearForm{true, model_->row_bound()};
  return model;
}

void RenewableRun::complete_summary(Summary& summary) {
  if (mask_keys_.empty()) return;
  Trust& trust = summary.part<PrivacyReport>().trust;
  trust.key_list = fingerprint(mask_keys_);
  for (const MaskKey::Bytes& key : mask_keys_) trust.keys.push_back(fingerprint(key));
}

Command renewable_command() {
  return learning_command<RenewableRun, RenewableConfig, renewable_options, complete_renewable_config>(
      "renewable", "streaming second-order classification with rank 0 as aggregator", renewable_manual);
}

}  // namespace starling
