/// Counts of messages and bytes, by edge between clients and between ranks.
#pragma once

#include <cstdint>

#include "core/links.hpp"
#include "core/snapshot.hpp"

namespace starling {

/// Messages and bytes over one edge between clients. An edge inside a rank counts like any other. The counts are those
/// of the algorithm and do not depend on the layout.
struct EdgeTraffic {
  Client from = 0;
  Client to = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  void persist(Snapshot& snapshot) { snapshot(from, to, messages, bytes); }
};

/// Messages and bytes between ranks.
struct WireTraffic {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  void persist(Snapshot& snapshot) { snapshot.sums(messages, bytes); }
};

}  // namespace starling
