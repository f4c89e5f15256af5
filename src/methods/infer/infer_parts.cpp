#include "infer_parts.hpp"

#include "column_check.hpp"
#include "core/clients/membership.hpp"
#include "data/serving/dataset.hpp"
#include "engine/infer_engine.hpp"
#include "engine/warm_up.hpp"
#include "graph/schedule.hpp"
#include "interval_results.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/stages/method.hpp"
#include "run/stages/run_context.hpp"
#include "setting/infer_config.hpp"

namespace starling {

InferParts::InferParts(InferConfig& of_run) : config(of_run) {}
InferParts::~InferParts() = default;

std::vector<std::string> InferParts::coefficient_names(const DataShape& shape) const {
  std::vector<std::string> names = shape.names;
  for (std::size_t j = names.size(); j < shape.features; ++j) names.push_back(fmt::format("x{}", j));
  if (config.intercept) names.emplace_back("intercept");
  return names;
}

void InferParts::note_hidden(RunContext& run) const {
  if (hidden.empty()) return;
  run.notes.push_back(
      fmt::format("warm-up: features vary by less than {} shows in directions mostly of {}: steps there are short. A "
                  "column may be a combination of others; drop it (--drop){}",
                  config.privacy.protects() ? "noise" : "rounding",
                  quoted_names({hidden.begin(), hidden.end()}, coefficient_names(run.inputs.dataset.shape)),
                  interval_facts->standardised ? "" : ", or give all one scale (--standardise, --ranges)"));
}

std::unique_ptr<InferEngine> make_engine(const BegunRun& begun, InferParts& of_run,
                                         std::vector<std::unique_ptr<Stream>> streams, Accounts& accounts) {
  RunContext& run = begun.context;
  EngineParts parts{run.world,
                    *run.inputs.layout,
                    of_run.config,
                    of_run.schedule.get(),
                    *of_run.model,
                    &learned_model(*of_run.model, of_run.config.privacy, of_run.persons),
                    &begun.privacy->mechanism(),
                    accounts,
                    begun.privacy->keys(),
                    std::move(streams),
                    &of_run.start,
                    begun.privacy->price_at(0, 0)};
  parts.left_out = of_run.interval_facts->left_out;
  if (of_run.config.weights == ClientWeights::equal) parts.factors = run.inputs.factors_of_own_means(parts.streams);
  if (of_run.warm_up) {
    const std::vector<std::size_t> hidden = of_run.warm_up->play(parts, run.agreement);
    of_run.hidden.insert(hidden.begin(), hidden.end());
    of_run.interval_facts->knows_scales = of_run.warm_up->found_scales();
  }
  parts.mechanism->begin_chains();  // replications share it
  return make_engine(std::move(parts));
}

}  // namespace starling
