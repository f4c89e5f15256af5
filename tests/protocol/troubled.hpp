/// A schedule on which clients stay away and leave, and links lose messages.
#pragma once

#include <memory>

#include "starling/graph/graph.hpp"
#include "starling/graph/overlays/overlays.hpp"

namespace starling::testing_support {

/// Of n clients, at least two; one leaves after 20 rounds.
inline std::unique_ptr<Schedule> troubled(Client n, Round steps_per_round = 1) {
  Departures departures(static_cast<std::size_t>(n));
  departures[1] = 20;
  auto attended = std::make_unique<AttendedSchedule>(
      make_graph("erdos-renyi:rounds=endless,p=0.4", n, WeightRule::sender),
      absence_table().make("markov:length=3", Dropout{std::vector<double>(departures.size(), 0.3), 5}), departures,
      MissingWeight::split_anew, steps_per_round);
  return std::make_unique<LossySchedule>(std::move(attended), LinkLossSettings{0.2, LossModel::acknowledged, 6},
                                         MissingWeight::sender_keeps);
}

}  // namespace starling::testing_support
