#include "tuning.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "graph/analysis/analysis.hpp"
#include "mirror/mirror.hpp"
#include "run/tuning/rule_settings.hpp"

namespace starling {

namespace {

constexpr int most_gossip_steps = 4;

bool is_unbounded(const OmdConfig& config) {
  return domain_table().make(config.domain.value_or(default_domain(config.mirror)))->is_everything();
}

/// Whether clients are further apart than exchanges of which each halves the disagreement leave them.
bool leaves_clients_apart(const OmdConfig& config) {
  if (config.privacy.trusts_pairs) return true;
  return config.privacy.protects() && !(may_correlate(config) && is_unbounded(config));
}

}  // namespace

std::string why_not_tuned(const OmdConfig& config) {
  if (std::string why_not = why_no_rule(config); !why_not.empty()) return why_not;
  if (config.model.is_network() && !is_unbounded(config)) return "networks in bounded domains";
  return config.constraints.any() ? "runs with constraints" : "";
}

bool has_rule(const OmdConfig& config) {
  return config.tunes() && why_not_tuned(config).empty();
}

int tuned_gossip_steps(const OmdConfig& config, const Graph& graph) {
  if (graph.clients() == 1) return 1;
  if (leaves_clients_apart(config)) return most_gossip_steps;
  if (graph.clients() > most_clients_analysed || graph.period() == 0) return most_gossip_steps;
  const double contraction = analyse(GraphSample(graph)).contraction;
  int steps = 1;
  for (double left = contraction; steps < most_gossip_steps && !(left <= 0.5); left *= contraction) ++steps;
  return steps;
}

std::vector<TunedValue> tuned_mixing(const OmdConfig& config, const LearningRule& rule) {
  const bool far_apart = leaves_clients_apart(config) ||
                         (config.privacy.protects() && config.mixing.gossip_steps > 1 && !rule.correlation);
  const int steps = far_apart ? most_gossip_steps : config.mixing.gossip_steps;
  return {{"step-cap", fmt::format("{:.4g}", step_cap_of_rule), "clients of little mass repay their steps early"},
          {"gossip-steps", fmt::format("{}", steps),
           steps == 1                    ? "one exchange halves the disagreement of clients"
           : config.privacy.trusts_pairs ? "noise between pairs cancels in the mean of the clients"
           : far_apart                   ? "independent noise leaves clients far apart"
                                         : "as many as halve the disagreement of clients, 4 at most"}};
}

Round closing_rounds(const PairTerms& pairs, Client clients, std::optional<double> contraction, int gossip_steps) {
  constexpr double negligible = 1e-3;
  constexpr Round unknown = 8;
  if (!contraction) return unknown;
  const double apart = std::sqrt(static_cast<double>(clients)) * pairs.whole() / negligible;
  const double round = -std::log(std::max(*contraction, 1e-3)) * gossip_steps;
  return static_cast<Round>(std::ceil(std::min(std::log(apart) / round, 1e6)));
}

}  // namespace starling
