/// The best fixed networks in hindsight, for the static regret of online vertical federated learning (Wang and Xu 2023,
/// eq. 2).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/vertical/vertical.hpp"
#include "net/root/root.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/metrics_policy.hpp"
#include "protocol/vertical/vertical_networks.hpp"

namespace starling {

struct HindsightSettings {
  Round rounds = 1;       ///< T, rounds played
  std::size_t batch = 1;  ///< m
  std::int64_t passes = 20;
  /// Asked between rounds of the search; false ends the search with the best networks so far.
  std::function<bool()> go_on = [] { return true; };
  double step = 1e-3;  ///< step of Adam in the first pass; it falls evenly to a tenth in the last
};

/// Result of the search. The loss is not convex, so a better result may exist.
struct Hindsight {
  double loss = 0;     ///< least Σ_t F_t(Θ) found; 0 on ranks other than 0
  std::string method;  ///< where it was found, in words
};

/// Brings all records to rank 0 and searches there: passes of Adam over the rounds in their order, once from the run's
/// last networks (`last` on rank 0: the head, then all parties' blocks) and once from the start values. `stream` must
/// not have been read. Throws UsageError unless metrics are shared, since no noise is added. **Collective.**
[[nodiscard]] Hindsight find_hindsight(Root& evaluation, VerticalStream& stream, const MetricsPolicy& policy,
                                       VerticalArchitecture architecture, const TargetLoss& loss,
                                       const std::vector<Vector>& last, const HindsightSettings& settings);

}  // namespace starling
