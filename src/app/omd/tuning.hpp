/// `--tuning auto`: settings of a private run that its user left open, from public numbers.
#pragma once

#include "omd_config.hpp"
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "starling/graph/graph.hpp"
#include "starling/loss/loss.hpp"
#include "starling/mirror/mirror.hpp"
#include "starling/net/agreement.hpp"
#include "starling/protocol/decentralized/learning_rule.hpp"
#include "starling/report/summary.hpp"

namespace starling {

/// Clients of the largest graph whose eigenvalues a run finds before it starts.
inline constexpr Client most_clients_analysed = 200;

/// Why no rule is known for this run; empty if there is one. Throws UsageError for an unknown loss or mechanism.
[[nodiscard]] std::string why_not_tuned(const OmdConfig& config);
/// The defaults that decide most where there is no rule, of those that the user left open: " (--clip 1)"; empty
/// without.
[[nodiscard]] std::string open_defaults(const OmdConfig& config);
/// Whether the rule chooses what the user left open.
[[nodiscard]] bool has_rule(const OmdConfig& config);

/// Whether the rule asks how large labels are.
[[nodiscard]] bool needs_label_size(const OmdConfig& config, const Loss& loss);

/// The facts of the rule. `most_records` is that of all clients, `parameters` the model's.
[[nodiscard]] RuleFacts rule_facts(const OmdConfig& config, const Loss& loss, const MirrorMap& mirror,
                                   const Domain& domain, Client clients, std::optional<std::int64_t> most_records,
                                   std::size_t parameters);

/// What the rule chooses of the options that are not given.
[[nodiscard]] std::vector<TunedValue> tuned_values(const OmdConfig& config, const RuleFacts& facts,
                                                   const LearningRule& rule);

/// Passes over the data: sixteen where a total price is given, noise is Gaussian and records can be read again.
[[nodiscard]] std::int64_t tuned_passes(const OmdConfig& config, std::optional<std::int64_t> most_records);

/// Exchanges in each round: as many, four at most, as halve the disagreement; four under independent noise, which they
/// average, and on bounded domains, where it may come to that.
[[nodiscard]] int tuned_gossip_steps(const OmdConfig& config, const Graph& graph);

/// What the noise of a tuned run will cost and what would help, in a sentence or two.
[[nodiscard]] std::string outlook(const RuleFacts& facts, const LearningRule& rule);

}  // namespace starling
