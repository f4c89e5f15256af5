#include "omd_learning.hpp"

#include <utility>

#include "methods/omd/omd_config.hpp"
#include "methods/omd/omd_parts.hpp"
#include "methods/omd/run_constraints.hpp"
#include "privacy/statement/statement.hpp"
#include "protocol/constraints/long_term_constraints.hpp"
#include "report/summary.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/stages/method.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

OmdLearning::OmdLearning(const BegunRun& begun, OmdParts& parts) : begun_(begun), parts_(parts) {
  const OmdConfig& config = parts.config;
  if (!config.learns()) return;
  Model& learned = starling::learned_model(*parts.model, config.privacy, persons_);
  if (config.privacy.audit) canaries_.emplace(learned, begun.privacy->mechanism());
  if (parts.constraints) start_constraints();
  const RunInputs& inputs = begun.context.inputs;
  if (config.weights == ClientWeights::equal) factors_ = inputs.factors_of_own_means(inputs.dataset.streams);
}

/// **Collective.**
void OmdLearning::start_constraints() {
  const RunContext& run = begun_.context;
  parts_.constraints->start(static_cast<std::size_t>(run.inputs.client_count()), begun_.privacy->pair(),
                            parts_.config.data.batch);
  if (!parts_.config.constraints.shared) return;
  parts_.constraints->duals_of_clients()->share(begun_.context.agreement, run.inputs.layout->clients());
}

Model& OmdLearning::learned_model() {
  Model& learned = canaries_ ? canaries_->model() : persons_ ? *persons_ : *parts_.model;
  return parts_.constraints ? parts_.constraints->model(learned) : learned;
}

std::optional<Learning> OmdLearning::hand_over() {
  if (!parts_.config.learns()) return std::nullopt;
  return Learning{learned_model(),
                  canaries_ ? canaries_->mechanism() : begun_.privacy->mechanism(),
                  begun_.privacy->accounts(),
                  begun_.privacy->take_keys(),
                  std::move(begun_.context.inputs.dataset.streams),
                  parts_.constraints ? parts_.constraints->duals_of_clients() : nullptr,
                  factors_};
}

void OmdLearning::add_audit(Summary& summary) const {
  if (!canaries_) return;
  summary.part<PrivacyReport>().audit =
      canaries_->finish(begun_.context.agreement, begun_.privacy->dearest_charge(), begun_.privacy->delta_of_claims());
}

bool OmdLearning::is_refuted(const Summary& summary) {
  const auto& audit = summary.get<PrivacyReport>().audit;
  return audit && audit->refuted;
}

}  // namespace starling
