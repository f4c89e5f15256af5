#include "aggregated_run.hpp"

#include "start_models.hpp"
#include <algorithm>

namespace starling {

void AggregatedRun::open_model_records(Model& model, Round rounds) {
  TestScore test;
  if (test_) test = [this, &model](View theta) { return test_score(model, theta); };
  open_records({rounds,
                who_is_recorded(layout_->clients(), common().record_clients.value_or(of_one_model), dimension_),
                model.classifies() ? Scores::losses_and_accuracies : Scores::losses,
                test,
                Models::one_for_all,
                {{"aggregated", "yes"}}});
}

Score AggregatedRun::test_score(Model& model, View theta) {
  if (scored_.empty() || !std::equal(theta.begin(), theta.end(), scored_.begin(), scored_.end())) {
    scored_.assign(theta.begin(), theta.end());
    score_ = model.score(theta, *test_).of_all();
  }
  return score_;
}

void AggregatedRun::gather(const AggregatedRounds& protocol, const Released<Columns>& models, Model& model,
                           Summary& summary) {
  summary.rounds = protocol.done();
  summary.learned = true;
  summary.classifies = model.classifies();
  const std::size_t count = models.value().size();
  LocalResults local{models,
                     Vector(protocol.masses().begin(), protocol.masses().end()),
                     Vector(count, 0.0),
                     protocol.tallies(),
                     root_->edge_traffic(),
                     root_->wire_traffic(),
                     protocol.time_shares(),
                     std::nullopt,
                     0,
                     count > 0 ? std::optional(protocol.done()) : std::nullopt};
  if (test_) local.test.emplace();
  if (test_ && count > 0) local.test->assign(count, test_score(model, models.value()[0]));
  gather_results(agreement_, local, metrics_policy(), common().json_models, summary);
  if (first_rank()) set_one_model(summary, models.value()[0]);
}

Released<Vector> AggregatedRun::start_model(const std::optional<Vector>& own) const {
  const std::unique_ptr<Domain> everywhere = domain_table().make("free");
  const StartModels rows = start_models(common().start, *everywhere, dimension_, 1, 0, 1, own);
  return post_process([](const Columns& models) { return Vector(models[0].begin(), models[0].end()); }, rows.models);
}

}  // namespace starling
