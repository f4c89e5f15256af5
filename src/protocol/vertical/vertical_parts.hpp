/// The parts of a round's release in online vertical federated learning.
#pragma once

#include <vector>

#include "privacy/mechanism/multipart_mechanism.hpp"
#include "protocol/vertical/vertical_networks.hpp"

namespace starling {

struct VerticalPlan;

/// Numbers of the parts in a MultipartMechanism.
struct VerticalParts {
  std::vector<std::size_t> sent;       ///< of each party: embeddings, or under `central` its columns
  std::vector<std::size_t> gradients;  ///< of each party's network
  std::size_t head = 0;                ///< gradient of the head, if labels are rank 0's secret, and under `central`
  std::size_t derivatives = 0;         ///< derivatives by embeddings, if labels are rank 0's secret
};

/// Adds the parts of a run to the mechanism, in the same order on all ranks; existing parts are not added again. Throws
/// UsageError if the sensitivity of a part cannot be proved.
VerticalParts add_vertical_parts(MultipartMechanism& mechanism, const VerticalArchitecture& architecture,
                                 const VerticalPlan& plan);

}  // namespace starling
