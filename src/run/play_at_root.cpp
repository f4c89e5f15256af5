#include "play_at_root.hpp"

#include <algorithm>

#include "output/checkpoints/kept_parts.hpp"
#include "protocol/aggregated/aggregated_clients.hpp"
#include "report/summary.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/results/run_results.hpp"
#include "run/settings/learning_config.hpp"
#include "run/settings/model_choice.hpp"

namespace starling {

PlayAtRoot::PlayAtRoot(const BegunRun& begun, const Method& method, Model& model, Round planned,
                       const std::optional<StepSchedule>& steps)
    : run_(begun.context), method_(method), model_(model), root_(run_.world, *run_.inputs.layout), planned_(planned) {
  if (steps) path_.emplace(*steps, planned, run_.inputs.first_client());
  static_cast<void>(learned_model(model_, run_.common().privacy, persons_));
}

Recording PlayAtRoot::recording() {
  TestScore test;
  if (run_.inputs.test) test = [this](View theta) { return test_score(theta); };
  Recording recording{planned_,
                      who_is_recorded(run_.inputs.layout->clients(),
                                      run_.common().record_clients.value_or(of_one_model), method_.dimension()),
                      scores_of(model_.classifies()),
                      test,
                      Models::one_for_all,
                      {{"aggregated", "yes"}}};
  recording.model = &model_;
  return recording;
}

void PlayAtRoot::add_observers(std::vector<Observer*>& observers, KeptParts& parts) {
  parts.add("rounds", *protocol_);
  if (!path_) return;
  observers.push_back(&*path_);
  parts.add("marks of the path", *path_);
}

AggregatedClients PlayAtRoot::clients_of_rank(const BegunRun& begun) {
  return {learned(), begun.privacy->accounts(), begun.privacy->keys(), std::move(run_.inputs.dataset.streams),
          run_.common().data.batch};
}

Score PlayAtRoot::test_score(View theta) {
  if (scored_.empty() || !std::equal(theta.begin(), theta.end(), scored_.begin(), scored_.end())) {
    scored_.assign(theta.begin(), theta.end());
    score_ = model_.score(theta, *run_.inputs.test).of_all();
  }
  return score_;
}

void PlayAtRoot::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& /*end*/) {
  summary.learned = true;
  summary.classifies = model_.classifies();
  const std::size_t count = models.value().size();
  LocalResults local = local_results(run_, method_, *this, std::move(models), nullptr);
  local.edges = root_.edge_traffic();
  local.wire = root_.wire_traffic();
  if (run_.inputs.test) local.test.emplace();
  if (run_.inputs.test && count > 0) local.test->assign(count, test_score(local.models.value()[0]));
  gather_results(run_.agreement, local, run_.metrics_policy(), run_.common().json_models, summary);
  if (path_) summary.add(path_->figures(run_.agreement));
  if (run_.first_rank()) set_one_model(summary, local.models.value()[0]);
}

}  // namespace starling
