// The steps and results of `starling infer`.
#include <cmath>

#include "infer_run.hpp"
#include "methods/methods.hpp"
#include "output/figures/effective_weights.hpp"
#include "report/pictures/pictures.hpp"

namespace starling {

std::vector<std::string> InferRun::coefficient_names() const {
  std::vector<std::string> names = inputs_.dataset.shape.names;
  for (std::size_t j = names.size(); j < inputs_.dataset.shape.features; ++j) names.push_back(fmt::format("x{}", j));
  if (config_.intercept) names.emplace_back("intercept");
  return names;
}

void InferRun::build_protocol() {
  recorded_ = who_is_recorded(inputs_.layout->clients(),
                              config_.record_clients.value_or(schedule_ ? RecordedChoice() : of_one_model), dimension_);
  engine_ = engine(std::move(inputs_.dataset.streams), privacy_->accounts());
  note_hidden();
  if (recorded_.figures == Figures::of_some) engine_->count_edges_of(recorded_.listed);
  if (!engine_->note().empty()) notes_.push_back(engine_->note());
  intervals_.emplace(*interval_facts_, *engine_);
}

Recording InferRun::recording() {
  return {config_.sgd.steps,
          recorded_,
          scores_of(model_->classifies()),
          test_score_of(*model_),
          schedule_ ? Models::one_each : Models::one_for_all,
          {{"aggregated", schedule_ ? "no" : "yes"}},
          "step",
          schedule_ ? std::optional(Mixing::push_sum) : std::nullopt};
}

void InferRun::add_observers(std::vector<Observer*>& observers, KeptParts& parts) {
  for (Observer* each : intervals_->observers()) observers.push_back(each);
  parts.add("steps", *engine_);
  parts.add("choices", kept_choices_);
  intervals_->add_parts(parts);
}

RoundsEnd InferRun::end_rounds() {
  return RoundsEnd::in_step(rounds_done(agreement_, *engine_), config_.sgd.steps);
}

void InferRun::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) {
  summary.average = "all";
  summary.learned = true;
  summary.add(tuning_);
  summary.classifies = model_->classifies();
  summary.aggregated = !schedule_;
  LocalResults local = local_results(std::move(models), model_.get());
  local.debts = engine_->debts();
  local.edges = engine_->edge_traffic();
  local.wire = engine_->wire_traffic();
  gather_results(agreement_, local, metrics_policy(), config_.json_models, summary);
  if (schedule_) add_weights(summary);
  if (contraction_) {
    summary.part<Consensus>().left =
        std::pow(*contraction_, static_cast<double>(end.done * config_.mixing.gossip_steps));
  }
  if (!schedule_ && first_rank()) set_one_model(summary, local.models.value()[0]);
  summary.add(intervals_->summarise(notes_));
  on_first_rank([&] {
    const std::string note =
        columns_->write_proposal(directory_->path(), inputs_.dataset.constants ? inputs_.dataset.constants->label : "");
    if (!note.empty()) notes_.push_back(note);
  });
}

/// **Collective.**
void InferRun::add_weights(Summary& summary) {
  summary.part<Steps>().cap = config_.step_cap;
  summary.add(gather_weights(agreement_, recorded_, *engine_->steps(inputs_.first_client()), tolerated_debt));
}

std::optional<SavedModel> InferRun::model_of_results() const {
  SavedModel model;
  model.loss = config_.loss;
  model.features = inputs_.dataset.shape.features;
  LinearForm form{config_.intercept};
  if (!model_->classifies()) form.spread = intervals_->spread_of_parameters();
  model.form = std::move(form);
  return model;
}

OwnResults InferRun::own_results(const Summary& summary) {
  const std::vector<IntervalsAt> path = intervals_->path_to(summary.get<RunIntervals>().intervals);
  OwnResults own;
  own.model = "the estimate";
  if (path.empty() || path.back().intervals.empty()) return own;
  const std::string& folder = directory_->path();
  own.write = [folder, path, in_own_units = summary.get<RunIntervals>().own_units, this] {
    write_interval_path(folder, path);
    if (!in_own_units.empty()) write_coefficients(*directory_, in_own_units, "coefficients-own-units.csv");
  };
  own.draw = [folder, path] { return std::vector<std::string>{draw_intervals(folder, path, {})}; };
  return own;
}

Command infer_command() {
  return learning_command<InferRun, InferConfig, infer_options, complete_infer_config>(
      "infer", "regression under local differential privacy, with confidence intervals", infer_manual);
}

}  // namespace starling
