// The rounds and results of `starling renewable`.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "methods/methods.hpp"
#include "methods/renewable/renewable_method.hpp"
#include "output/intervals/interval.hpp"
#include "output/model_file/saved_model.hpp"
#include "protocol/curvature/block_curvature.hpp"
#include "report/summary.hpp"
#include "run/life_cycle.hpp"
#include "run/play_at_root.hpp"
#include "run/stages/run_context.hpp"
#include "sums_of_run.hpp"
#include "variant.hpp"

namespace starling {

namespace {

class RenewablePlay final : public PlayAtRoot {
 public:
  RenewablePlay(const BegunRun& begun, const Method& method, RenewableParts& parts)
      : PlayAtRoot(begun, method, *parts.model, parts.config.settings.rounds, steps_of(parts.config)),
        begun_(begun),
        parts_(parts),
        sums_(begun_, parts, root_, learned()) {
    MadeVariant made = make_variant(begun_, parts, root_, sums_);
    protocol_ = std::move(made.protocol);
    variant_ = std::move(made.results);
  }

  void run(const std::vector<Observer*>& observers) override;
  [[nodiscard]] RoundsEnd end() override;
  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override;
  void complete_summary(Summary& summary) override { sums_.name_keys(summary); }
  [[nodiscard]] std::optional<SavedModel> saved_model() const override;
  [[nodiscard]] ExitCode exit_code(const Summary& summary, const RoundsEnd& end) override;

 private:
  /// A curvature that is stated grows with the batches, so that batch b has a step of the length 1/b.
  static std::optional<StepSchedule> steps_of(const RenewableConfig& config) {
    if (config.variant != RenewableVariant::private_sums) return std::nullopt;
    return StepSchedule{.step = 1, .step_power = 1};
  }
  [[nodiscard]] std::vector<std::string> coefficient_names() const;
  [[nodiscard]] std::vector<Interval> intervals() const;
  [[nodiscard]] std::optional<ParameterSpread> spread() const;

  const BegunRun begun_;
  RenewableParts& parts_;
  const RenewableConfig& config_ = parts_.config;
  SumsOfRun sums_;
  std::unique_ptr<VariantResults> variant_;
};

RoundsEnd RenewablePlay::end() {
  RoundsEnd end = PlayAtRoot::end();
  if (variant_->is_done_early()) end.stopped = false;
  return end;
}

ExitCode RenewablePlay::exit_code(const Summary& summary, const RoundsEnd& end) {
  variant_->require_success(end);
  return PlayAtRoot::exit_code(summary, end);
}

void RenewablePlay::run(const std::vector<Observer*>& observers) {
  try {
    PlayAtRoot::run(observers);
  } catch (const UndeterminedFeature& error) {
    throw error.named(run_.inputs.dataset.shape.names);
  }
}

/// "x1", "intercept"; with several classes "2:x1".
std::vector<std::string> RenewablePlay::coefficient_names() const {
  const std::vector<std::string>& features = run_.inputs.dataset.shape.names;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < parts_.model->classes(); ++k) {
    const std::string prefix = parts_.model->classes() > 1 ? fmt::format("{}:", k) : "";
    for (std::size_t j = 0; j + 1 < parts_.model->order(); ++j) {
      names.push_back(prefix + (features.empty() ? fmt::format("x{}", j) : features[j]));
    }
    names.push_back(prefix + "intercept");
  }
  return names;
}

/// Rank 0's, of the estimate if standard errors are asked for.
std::vector<Interval> RenewablePlay::intervals() const {
  if (config_.standard_errors == StandardErrors::none || !run_.first_rank()) return {};
  const auto found = variant_->variances();
  if (!found) return {};
  const std::vector<std::string> names = coefficient_names();
  std::vector<Interval> intervals;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::binary_search(parts_.left_out, i % parts_.model->order())) {
      constexpr double none = std::numeric_limits<double>::quiet_NaN();
      intervals.push_back({names[i], none, none, none, none, config_.level, "dropped"});
      continue;
    }
    const double estimate = protocol_->theta().value()[i];
    const double error = std::sqrt(found->values[i]);
    const double reach = found->critical * error;
    intervals.push_back({names[i], estimate, error, estimate - reach, estimate + reach, config_.level, found->method});
  }
  return intervals;
}

void RenewablePlay::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) {
  for (std::string& note : variant_->notes()) run_.notes.push_back(std::move(note));
  PlayAtRoot::summarise(summary, std::move(models), end);
  variant_->add_to(summary);
  try {
    const RunIntervals& all = summary.add(RunIntervals{intervals()});
    if (!all.intervals.empty() && config_.settings.l2 > 0) {
      run_.notes.push_back(
          fmt::format("the intervals are of the coefficients under the penalty, which --l2 {} shrinks towards 0: they "
                      "hold those of a model without penalty less often than in {:.6g} % of runs",
                      config_.settings.l2, 100 * config_.level));
    }
  } catch (const DataError& error) {  // rank 0's: the model stands without them
    run_.notes.emplace_back(error.what());
  }
}

std::optional<SavedModel> RenewablePlay::saved_model() const {
  SavedModel model;
  model.loss = config_.loss;
  model.scores = parts_.model->classes();
  model.features = run_.inputs.dataset.shape.features;
  model.form = LinearForm{true, parts_.model->row_bound(), spread()};
  return model;
}

/// The covariance of the estimate, for bands of survival curves: rank 0's, where standard errors are those of the
/// information.
std::optional<ParameterSpread> RenewablePlay::spread() const {
  if (parts_.loss->link() != Link::hazard || parts_.model->classes() > 1) return std::nullopt;
  try {
    if (intervals().empty()) return std::nullopt;
    std::optional<Vector> covariance = variant_->covariance();
    if (!covariance) return std::nullopt;
    return ParameterSpread{"plug-in", std::move(*covariance)};
  } catch (const DataError&) {  // rank 0's: the model stands without them
    return std::nullopt;
  }
}

}  // namespace

std::unique_ptr<Play> RenewableMethod::make(const BegunRun& begun) {
  return std::make_unique<RenewablePlay>(begun, *this, parts_);
}

Command renewable_command() {
  return learning_command<RenewableMethod, RenewableConfig, renewable_options, complete_renewable_config>(
      "renewable", "streaming second-order classification with rank 0 as aggregator", renewable_manual);
}

}  // namespace starling
