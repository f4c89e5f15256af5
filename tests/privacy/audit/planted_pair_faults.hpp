/// Noise between pairs with one fault each, for tests of audits: not private, and in no table.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "privacy/mechanism.hpp"
#include "privacy/pairs/pair_graph.hpp"
#include "privacy/pairs/pair_noise.hpp"

namespace starling {

/// For tests of audits; not private.
enum class PlantedPairFault {
  none,
  one_sign,           ///< both ends of a pair add its noise
  met_twice,          ///< two rounds have the same noise between pairs
  left_out,           ///< a pair has no noise
  colluders_edges,    ///< the exposure counts pairs with colluding clients as if they hid somebody
  collusion_ignored,  ///< the exposure is that against outsiders
};

struct PlantedPairFaultRow {
  PlantedPairFault fault;
  std::string name;
  bool shows_in_sum = false;  ///< it costs nobody anything but accuracy: noise of pairs does not cancel
};
[[nodiscard]] const std::vector<PlantedPairFaultRow>& planted_pair_faults();

/// Gaussian noise with noise between pairs of `ratio` times that, priced against `colluding` clients, with a fault.
/// `settings` are those without pairs; `met_twice` has independent rounds only. For tests of audits; not private.
[[nodiscard]] std::unique_ptr<Mechanism> plant(PlantedPairFault fault, ReleaseSettings settings, const PairGraph& graph,
                                               double ratio, Client colluding, PairNoise::Ends ends);

}  // namespace starling
