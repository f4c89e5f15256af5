/// Pictures of the network itself: where the mass is, and who was there.
#pragma once

#include <string>
#include <vector>

#include "starling/core/columns.hpp"
#include "starling/record/history.hpp"

namespace starling {

/// What run.h5 holds of clients at recorded rounds. Both figures depend on the graph alone.
struct NetworkRecords {
  std::vector<Round> rounds;
  std::size_t clients = 0;     ///< of the run
  std::vector<Client> listed;  ///< of these, whose figures are kept one by one: all, unless there are very many
  Vector masses;               ///< records × listed clients: push-sum mass
  Vector
      presences;  ///< likewise: share of the rounds since the record before that a client took part in; NaN: no round
};

/// Records that every rank has written, while a run goes on. Empty where an older run has none. Throws DataError.
[[nodiscard]] NetworkRecords read_network(const std::string& run);

/// Draws into the folder, with `with_png` also as PNG: mass.svg, total mass and that of up to ten clients over rounds,
/// unless every client's was 1 all along; and presence.svg, which clients took part when, unless all always did.
/// Removes nothing. Returns a sentence saying why not, if gnuplot is missing or fails, else an empty string.
[[nodiscard]] std::string draw_network(const std::string& folder, const NetworkRecords& records,
                                       const std::vector<NetworkFigures>& history, bool with_png);

}  // namespace starling
