/// The aggregator's door, for the modes in which rank 0 combines what clients release.
#pragma once

#include "starling/core/boundary.hpp"
#include "starling/core/links.hpp"
#include "starling/net/world.hpp"

namespace starling {

class Root {
 public:
  Root(World& world, const Layout& layout) : world_(world), layout_(layout) {}

  /// **Collective.** Columns of all clients in client order on rank 0 (an empty matrix elsewhere), from each rank's
  /// block.
  [[nodiscard]] Columns gather(const Released<Columns>& block);
  /// **Collective.** Overwrites `value` with rank 0's.
  void broadcast(Released<Vector>& value);

 private:
  World& world_;
  Layout layout_;
};

}  // namespace starling
