// Settings of `starling infer` by its rule.
#include <utility>

#include "core/numerics/kernels.hpp"
#include "data/serving/dataset.hpp"
#include "infer_method.hpp"
#include "privacy/pairs/pair_terms.hpp"
#include "run/privacy/pairs/run_pairs.hpp"
#include "run/stages/run_context.hpp"
#include "run/tuning/column_constants.hpp"
#include "run/tuning/rule_settings.hpp"
#include "run/tuning/tuned_settings.hpp"
#include "setting/infer_rule.hpp"

namespace starling {

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

}  // namespace starling
