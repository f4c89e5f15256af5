/// What is released in a round of online vertical federated learning, part by part.
#pragma once

#include <vector>

#include "starling/privacy/mechanism/multipart_mechanism.hpp"
#include "starling/protocol/vertical/vertical_networks.hpp"

namespace starling {

struct VerticalPlan;

/// Numbers of the parts in the mechanism.
struct VerticalParts {
  std::vector<std::size_t> sent;       ///< of each party: embeddings, or under `central` its columns
  std::vector<std::size_t> gradients;  ///< of each party's network
  /// Of the head and of the derivatives by embeddings, which are released where labels are rank 0's secret (the first
  /// under `central` too).
  std::size_t head = 0;
  std::size_t derivatives = 0;
};

/// Adds them, in the same order on all ranks; what is there already is not added again. Throws UsageError where a
/// part's sensitivity cannot be proved.
VerticalParts add_vertical_parts(MultipartMechanism& mechanism, const VerticalArchitecture& architecture,
                                 const VerticalPlan& plan);

}  // namespace starling
