#include "tuning.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "mirror/mirror.hpp"
#include "run/tuning/rule_settings.hpp"

namespace starling {

namespace {

constexpr int usual_gossip_steps = 4;
constexpr int most_gossip_steps = 64;
/// Share of a disagreement that the exchanges of a round leave at most: of clients that are close, and of others.
constexpr double half = 0.5;
constexpr double quarter = 0.25;

bool is_unbounded(const OmdConfig& config) {
  return domain_table().make(config.domain.value_or(default_domain(config.mirror)))->is_everything();
}

/// Whether clients are further apart than exchanges of which each halves the disagreement leave them.
bool leaves_clients_apart(const OmdConfig& config) {
  if (config.privacy.trusts_pairs) return true;
  return config.privacy.protects() && !(may_correlate(config) && is_unbounded(config));
}

int gossip_steps(bool far_apart, std::optional<double> contraction) {
  if (!contraction) return usual_gossip_steps;
  const double most_left = far_apart ? quarter : half;
  int steps = 1;
  for (double left = *contraction; steps < most_gossip_steps && !(left <= most_left); left *= *contraction) ++steps;
  return far_apart ? std::max(steps, usual_gossip_steps) : steps;
}

std::string reason_of_gossip_steps(const OmdConfig& config, bool far_apart, bool known) {
  if (!known) return "nobody knows how fast so large a graph mixes";
  if (!far_apart) return "as many as halve the disagreement of clients, 64 at most";
  return fmt::format("{}: as many as leave a quarter of their disagreement, from 4 to 64",
                     config.privacy.trusts_pairs ? "noise between pairs cancels in the mean of the clients"
                                                 : "independent noise leaves clients far apart");
}

}  // namespace

std::string why_own_scores(const OmdConfig& config) {
  if (!is_unbounded(config)) return "models that are multiplied may leave the domain";
  if (config.constraints.any()) return "models that are multiplied may break constraints";
  if (config.mixing.deadline) return "rounds are not in step, and no second run has the same models";
  return "";
}

std::string why_not_tuned(const OmdConfig& config) {
  if (std::string why_not = why_no_rule(config); !why_not.empty()) return why_not;
  if (config.model.is_network() && !is_unbounded(config)) return "networks in bounded domains";
  return config.constraints.any() ? "runs with constraints" : "";
}

bool has_rule(const OmdConfig& config) {
  return config.tunes() && why_not_tuned(config).empty();
}

int tuned_gossip_steps(const OmdConfig& config, Client clients, std::optional<double> contraction) {
  return clients == 1 ? 1 : gossip_steps(leaves_clients_apart(config), contraction);
}

std::vector<TunedValue> tuned_mixing(const OmdConfig& config, std::optional<double> contraction,
                                     const LearningRule& rule) {
  const bool far_apart = leaves_clients_apart(config) ||
                         (config.privacy.protects() && config.mixing.gossip_steps > 1 && !rule.correlation);
  const int steps = far_apart ? gossip_steps(true, contraction) : config.mixing.gossip_steps;
  const bool pairs = config.privacy.trusts_pairs;
  return {{"step-cap", fmt::format("{:.4g}", pairs ? step_cap_of_pairs : step_cap_of_rule),
           pairs ? "noise between pairs cancels where no step is cut off"
                 : "clients of little mass repay their steps early"},
          {"gossip-steps", fmt::format("{}", steps),
           steps == 1 ? "one exchange halves the disagreement of clients"
                      : reason_of_gossip_steps(config, far_apart, contraction.has_value())}};
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
