/// Departures after which the clients that remain are not strongly connected.
#pragma once

#include <optional>
#include <vector>

#include "starling/graph/analysis/analysis.hpp"
#include "starling/graph/overlays/attendance.hpp"

namespace starling {

/// The clients that remain after some have left, by the strongly connected components of their graph.
struct Separation {
  Round round = 0;              ///< from which on
  std::vector<Client> leaving;  ///< who leaves in that round, ascending
  /// Two or more, each ascending, in the order of their first clients. Within one every client reaches every other over
  /// the union of all phases; between two of them messages go one way at most.
  std::vector<std::vector<Client>> components;
};

struct SeparationCheck {
  std::optional<Separation> first;    ///< the earliest separation; none if there is none
  std::optional<Round> unknown_from;  ///< departures from this round on were not looked at: there are too many
};

/// Looks for the earliest departure that separates the remaining clients, over the union of all phases of the sample.
/// Departures that leave a single client or none separate nobody. Costs clients + edges per round with departures, and
/// stops beyond 10^9 of them.
[[nodiscard]] SeparationCheck check_departures(const GraphSample& sample, const Departures& departures);

}  // namespace starling
