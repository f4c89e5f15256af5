/// The best fixed networks in hindsight, for the static regret of online vertical federated learning (Wang and Xu 2023,
/// eq. 2).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "starling/data/vertical/vertical.hpp"
#include "starling/net/root/root.hpp"
#include "starling/privacy/mechanism.hpp"
#include "starling/privacy/metrics_policy.hpp"
#include "starling/protocol/vertical/vertical_networks.hpp"

namespace starling {

struct HindsightSettings {
  Round rounds = 1;       ///< T that were played
  std::size_t batch = 1;  ///< m
  std::int64_t passes = 20;
  /// Asked between rounds of the search; false ends it with what has been found so far.
  std::function<bool()> go_on = [] { return true; };
  double step = 1e-3;  ///< of Adam in the first pass; it falls evenly to a tenth in the last
};

/// The loss is not convex: the search ends somewhere, and nobody knows how much better the best is.
struct Hindsight {
  double loss = 0;     ///< least Σ_t F_t(Θ) that was found; 0 on ranks other than 0
  std::string method;  ///< where it was found, in words
};

/// Brings all records to rank 0 and searches there: passes of Adam over the rounds in their order, once from the
/// networks that the run ended with (`last`: rank 0's, the head and all parties' blocks) and once from the start
/// values. `stream` is one that has not been read. Un-noised: throws UsageError unless metrics are shared.
/// **Collective.**
[[nodiscard]] Hindsight find_hindsight(Root& evaluation, VerticalStream& stream, const MetricsPolicy& policy,
                                       VerticalArchitecture architecture, const TargetLoss& loss,
                                       const std::vector<Vector>& last, const HindsightSettings& settings);

}  // namespace starling
