/// `--score-share`: the price of sums of scores, by which probabilities of the final model are made right
/// (docs/methods/learning-rule.md, "Probabilities").
#pragma once

#include <string>

#include "core/links.hpp"
#include "data/serving/dataset.hpp"
#include "run/settings/tuned_config.hpp"

namespace starling {

/// Why the scores of this run's final model cannot be measured and multiplied; empty if they can. `of_method` is the
/// reason of its method.
[[nodiscard]] std::string why_no_score_share(const TunedConfig& config, const Dataset& dataset,
                                             const std::string& of_method);
/// Throws UsageError if that was asked for and cannot be. Rank-local.
void check_score_share(const TunedConfig& config, const Dataset& dataset, const std::string& of_method);

/// The share with which the sums show the factor of scores to 0.15, from 0.02 to 0.05; 0 where they would not show it
/// to 0.5 either. `records` are those of all clients.
[[nodiscard]] double tuned_score_share(const TunedConfig& config, View records);

}  // namespace starling
