/// `--tuning auto` of `starling omd`: what its graph and its domain add to the rule.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/links.hpp"
#include "omd_config.hpp"
#include "privacy/pairs/pair_noise.hpp"
#include "protocol/decentralized/learning_rule.hpp"
#include "report/tuning.hpp"

namespace starling {

/// Why no rule is known for this run; empty if there is one. Throws UsageError for an unknown loss or mechanism.
[[nodiscard]] std::string why_not_tuned(const OmdConfig& config);
/// Whether the rule chooses what the user left open.
[[nodiscard]] bool has_rule(const OmdConfig& config);

/// Why scores of the final models must be what they are; empty if they may be multiplied.
[[nodiscard]] std::string why_own_scores(const OmdConfig& config);

/// Exchanges in each round: as many as halve the disagreement of the clients, where an exchange shrinks it by
/// `contraction`; as many as leave a quarter of it, and no fewer than four, under independent noise, which they
/// average, and on bounded domains, where it may come to that. 64 at most; four where nobody knows the contraction.
[[nodiscard]] int tuned_gossip_steps(const OmdConfig& config, Client clients, std::optional<double> contraction);

/// The options that the rule chooses for this command alone. It may leave noise independent after the graph was made
/// for correlated noise.
[[nodiscard]] std::vector<TunedValue> tuned_mixing(const OmdConfig& config, std::optional<double> contraction,
                                                   const LearningRule& rule);

/// Rounds of mixing alone after the last one that leave clients apart by 10^-3 of the noise of their mean, where
/// an exchange shrinks a disagreement by `contraction`; 8 where nobody knows. Each client has the noise of its pairs
/// beside its own.
[[nodiscard]] Round closing_rounds(const PairTerms& pairs, Client clients, std::optional<double> contraction,
                                   int gossip_steps);

}  // namespace starling
