#include "aggregated_run.hpp"

#include <algorithm>

#include "run/inputs/start_models.hpp"

namespace starling {

Recording AggregatedRun::recording() {
  TestScore test;
  if (inputs_.test) test = [this](View theta) { return test_score(theta); };
  return {planned_rounds(),
          who_is_recorded(inputs_.layout->clients(), common().record_clients.value_or(of_one_model), dimension_),
          scores_of(model().classifies()),
          test,
          Models::one_for_all,
          {{"aggregated", "yes"}}};
}

void AggregatedRun::add_observers(std::vector<Observer*>& observers, KeptParts& parts) {
  parts.add("rounds", protocol());
  const std::optional<StepSchedule> steps = this->steps();
  if (!steps) return;
  observers.push_back(&path_.emplace(*steps, planned_rounds(), inputs_.first_client()));
  parts.add("marks of the path", *path_);
}

Score AggregatedRun::test_score(View theta) {
  if (scored_.empty() || !std::equal(theta.begin(), theta.end(), scored_.begin(), scored_.end())) {
    scored_.assign(theta.begin(), theta.end());
    score_ = model().score(theta, *inputs_.test).of_all();
  }
  return score_;
}

void AggregatedRun::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& /*end*/) {
  summary.learned = true;
  summary.classifies = model().classifies();
  const std::size_t count = models.value().size();
  LocalResults local = local_results(std::move(models), nullptr);
  local.edges = root_->edge_traffic();
  local.wire = root_->wire_traffic();
  if (inputs_.test) local.test.emplace();
  if (inputs_.test && count > 0) local.test->assign(count, test_score(local.models.value()[0]));
  gather_results(agreement_, local, metrics_policy(), common().json_models, summary);
  if (path_) summary.add(path_->figures(agreement_));
  if (first_rank()) set_one_model(summary, local.models.value()[0]);
}

Released<Vector> AggregatedRun::start_model(const std::optional<Vector>& own) const {
  const std::unique_ptr<Domain> everywhere = domain_table().make("free");
  const StartModels rows = start_models(common().start, *everywhere, dimension_, 1, 0, 1, own);
  return post_process([](const Columns& models) { return Vector(models[0].begin(), models[0].end()); }, rows.models);
}

}  // namespace starling
