// The steps and results of `starling infer`.
#include <cmath>

#include "column_check.hpp"
#include "engine/infer_engine.hpp"
#include "infer_method.hpp"
#include "interval_results.hpp"
#include "methods/methods.hpp"
#include "model/mallows_model.hpp"
#include "output/checkpoints/kept_parts.hpp"
#include "output/directory/run_directory.hpp"
#include "output/figures/effective_weights.hpp"
#include "output/model_file/saved_model.hpp"
#include "report/pictures/pictures.hpp"
#include "report/summary.hpp"
#include "run/life_cycle.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/results/run_results.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

namespace {

class InferPlay final : public Play {
 public:
  InferPlay(const BegunRun& begun, const Method& method, InferParts& parts);

  [[nodiscard]] Recording recording() override;
  void add_observers(std::vector<Observer*>& observers, KeptParts& parts) override;
  void run(const std::vector<Observer*>& observers) override { engine_->run(observers); }
  [[nodiscard]] RoundsEnd end() override;
  [[nodiscard]] const RoundView& view() const override { return engine_->view(); }
  [[nodiscard]] TimeShares time_shares() const override { return engine_->time_shares(); }
  [[nodiscard]] Released<Columns> final_models() override { return intervals_->estimates(); }
  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override;
  [[nodiscard]] std::optional<SavedModel> saved_model() const override;
  [[nodiscard]] OwnResults own_results(const Summary& summary) override;

 private:
  const BegunRun begun_;
  RunContext& run_ = begun_.context;
  const Method& method_;
  InferParts& parts_;
  const InferConfig& config_ = parts_.config;
  Recorded recorded_;
  std::unique_ptr<InferEngine> engine_;
  std::unique_ptr<IntervalResults> intervals_;  ///< of the engine
};

InferPlay::InferPlay(const BegunRun& begun, const Method& method, InferParts& parts)
    : begun_(begun),
      method_(method),
      parts_(parts),
      recorded_(who_is_recorded(run_.inputs.layout->clients(),
                                config_.record_clients.value_or(parts.schedule ? RecordedChoice() : of_one_model),
                                method.dimension())),
      engine_(make_engine(begun, parts, std::move(run_.inputs.dataset.streams), begun.privacy->accounts())),
      intervals_(make_interval_results(*parts.interval_facts, *engine_)) {
  parts.note_hidden(run_);
  if (recorded_.figures == Figures::of_some) engine_->count_edges_of(recorded_.listed);
  if (!engine_->note().empty()) run_.notes.push_back(engine_->note());
}

Recording InferPlay::recording() {
  return {config_.sgd.steps,
          recorded_,
          scores_of(parts_.model->classifies()),
          run_.test_score_of(*parts_.model),
          parts_.schedule ? Models::one_each : Models::one_for_all,
          {{"aggregated", parts_.schedule ? "no" : "yes"}},
          "step",
          parts_.schedule ? std::optional(Mixing::push_sum) : std::nullopt};
}

void InferPlay::add_observers(std::vector<Observer*>& observers, KeptParts& parts) {
  for (Observer* each : intervals_->observers()) observers.push_back(each);
  parts.add("steps", *engine_);
  intervals_->add_parts(parts);
}

RoundsEnd InferPlay::end() {
  return RoundsEnd::in_step(rounds_done(run_.agreement, *engine_), config_.sgd.steps);
}

void InferPlay::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) {
  summary.average = "all";
  summary.learned = true;
  summary.classifies = parts_.model->classifies();
  summary.aggregated = !parts_.schedule;
  LocalResults local = local_results(run_, method_, *this, std::move(models), parts_.model.get());
  const EngineFigures figures = engine_->figures(run_.inputs.first_client());
  local.debts = figures.debts;
  local.edges = figures.edges;
  local.wire = figures.wire;
  gather_results(run_.agreement, local, run_.metrics_policy(), config_.json_models, summary);
  if (figures.steps) {
    summary.part<Steps>().cap = config_.step_cap;
    summary.add(gather_weights(run_.agreement, recorded_, *figures.steps, tolerated_debt));
  }
  if (parts_.contraction) {
    summary.part<Consensus>().left =
        std::pow(*parts_.contraction, static_cast<double>(end.done * config_.mixing.gossip_steps));
  }
  if (!parts_.schedule && run_.first_rank()) set_one_model(summary, local.models.value()[0]);
  summary.add(intervals_->summarise(run_.notes));
  run_.on_first_rank([&] {
    const std::string note = parts_.columns->write_proposal(
        begun_.directory.path(), run_.inputs.dataset.constants ? run_.inputs.dataset.constants->label : "");
    if (!note.empty()) run_.notes.push_back(note);
  });
}

std::optional<SavedModel> InferPlay::saved_model() const {
  SavedModel model;
  model.loss = config_.loss;
  model.features = run_.inputs.dataset.shape.features;
  LinearForm form{config_.intercept};
  if (!parts_.model->classifies() || parts_.loss->link() == Link::hazard)
    form.spread = intervals_->spread_of_parameters();
  model.form = std::move(form);
  return model;
}

OwnResults InferPlay::own_results(const Summary& summary) {
  const std::vector<IntervalsAt> path = intervals_->path_to(summary.get<RunIntervals>().intervals);
  OwnResults own;
  own.model = "the estimate";
  const std::string& folder = begun_.directory.path();
  const bool has_path = !path.empty() && !path.back().intervals.empty();
  own.write = [folder, path, has_path, in_own_units = summary.get<RunIntervals>().own_units, this] {
    if (has_path) write_interval_path(folder, path);
    if (!in_own_units.empty()) write_coefficients(begun_.directory, in_own_units, "coefficients-own-units.csv");
  };
  if (!has_path) return own;
  own.draw = [folder, path](const auto& /*history*/) {
    return std::vector<std::string>{draw_intervals(folder, path, {})};
  };
  return own;
}

}  // namespace

std::unique_ptr<Play> InferMethod::make(const BegunRun& begun) {
  return std::make_unique<InferPlay>(begun, *this, parts_);
}

Command infer_command() {
  return learning_command<InferMethod, InferConfig, infer_options, complete_infer_config>(
      "infer", "regression under local differential privacy, with confidence intervals", infer_manual);
}

}  // namespace starling
