/// Departures after which the clients that remain are not strongly connected.
#pragma once

#include <optional>
#include <vector>

#include "graph/analysis/analysis.hpp"
#include "graph/overlays/attendance.hpp"

namespace starling {

/// The clients that remain after some have left, by the strongly connected components of their graph.
struct Separation {
  Round round = 0;              ///< first round without the leaving clients
  std::vector<Client> leaving;  ///< clients that leave in this round, ascending
  /// Two or more components, each ascending, in the order of their first clients. In a component every client reaches
  /// every other one over the union of all phases; between two components messages go one way at most.
  std::vector<std::vector<Client>> components;
};

struct SeparationCheck {
  std::optional<Separation> first;    ///< the earliest separation
  std::optional<Round> unknown_from;  ///< first round whose departures were not checked, because there are too many
};

/// Finds the earliest departure that separates the remaining clients, over the union of all phases of the sample.
/// Departures that leave one client or none separate nobody. Cost: clients + edges for each round with departures; the
/// search stops beyond 10^9 of them.
[[nodiscard]] SeparationCheck check_departures(const GraphSample& sample, const Departures& departures);

}  // namespace starling
