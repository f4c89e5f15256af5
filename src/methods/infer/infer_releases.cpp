// The releases of `starling infer`: their parts, sensitivities and mechanisms.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/infer_engine.hpp"
#include "engine/warm_up.hpp"
#include "graph/schedule.hpp"
#include "infer_method.hpp"
#include "methods/omd/step_cap_choice.hpp"
#include "model/mallows_model.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "privacy/parts.hpp"
#include "protocol/aggregated/newton.hpp"
#include "protocol/aggregated/plug_in_sums.hpp"
#include "run/privacy/run_facts.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

namespace {

/// A little more than Ψ can reach, so that roundings need no clipping (privacy/noise/grid.hpp keeps 2^-20).
constexpr double slack = 1 + 0x1p-16;

}  // namespace

SecondPart InferMethod::plug_in_part() const {
  if (!config_.plug_in) return PlugInSums::part(*parts_.model, CurvatureParts::curvature, config_.bias_share);
  SecondPart part = PlugInSums::part(*parts_.model, CurvatureParts::both, PlugInSums::share_of_both);
  if (config_.trust == PlugInTrust::central) {
    const double records = static_cast<double>(config_.sgd.steps) * static_cast<double>(config_.data.batch) *
                           static_cast<double>(run_.inputs.layout->clients());
    check(unprotected() || records <= most_records_of_sum,
          "--trust central with {} records in all: the sensitivity of sums over more than {} cannot be proved. Use "
          "--trust local, or fewer --rounds.",
          records, most_records_of_sum);
    part.once_of = static_cast<std::size_t>(std::min(records, most_records_of_sum));
    part.clip *= room_of_sum;
  }
  return part;
}

std::optional<SecondPart> InferMethod::second_part() const {
  if (parts_.warm_up) return parts_.warm_up->part();
  if (config_.newton()) return NewtonRounds::second_part(*parts_.model, newton_settings(config_));
  if (two_parts()) return plug_in_part();
  return std::nullopt;
}

std::unique_ptr<Protection> InferMethod::make_protection(ReleaseSettings settings) const {
  const std::string& name = config_.privacy.mechanism_row().name;
  if (!unprotected() && !config_.privacy.clip) settings.clip = parts_.model->most_influence() * slack;
  if (parts_.warm_up) {
    auto pair = std::make_unique<PairedMechanism>(name, settings, parts_.warm_up->part());
    check(unprotected() || pair->second_clip().bound >= 1 + 1e-12,
          "--warmup-share {}: the sensitivity of sums over so many records cannot be proved. Take a smaller one.",
          config_.warmup_share);
    return pair;
  }
  if (const std::optional<SecondPart> second = second_part()) {
    auto pair = std::make_unique<PairedMechanism>(name, settings, *second);
    // Nothing clips the second part: its bound must leave room for what rounding it to integers takes.
    const double norm = config_.plug_in || config_.newton() ? std::numbers::sqrt2 : 1;
    check(unprotected() || pair->second_clip().bound >= norm * (1 + 1e-12),
          "sums of curvatures over {} records of a client: their sensitivity cannot be proved. {}.", config_.data.batch,
          config_.newton() ? "Use --estimator path" : "Take a smaller --batch");
    return pair;
  }
  return mechanism_table().make(name, settings);
}

RunFacts InferMethod::privacy_facts() {
  RunFacts facts = common_facts(config_.sgd.steps);
  if (parts_.schedule)
    facts.public_inputs = parts_.schedule->digest() + facts.public_inputs + digest_of(config_.step_cap);
  facts.second = second_part();
  facts.histograms = shares_of_constants();
  if (config_.plug_in) facts.price_factor = PlugInSums::price_factor;
  // A record is in each round's release: together they cost what was asked for.
  if (config_.newton()) facts.price_factor = short_of_one / std::sqrt(static_cast<double>(config_.sgd.steps));
  if (!parts_.schedule) {
    const bool central = config_.plug_in && config_.trust == PlugInTrust::central;
    facts.trust = unprotected() ? TrustModel::none
                  : central     ? TrustModel::curvature
                  : pairs_      ? TrustModel::pairs
                                : TrustModel::local;
  }
  facts.pairs = pairs_;
  facts.protection = [this](const ReleaseSettings& settings) { return make_protection(settings); };
  return facts;
}

}  // namespace starling
