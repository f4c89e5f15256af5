/// Schedules on which clients stay away and leave, and links lose messages.
#pragma once

#include <memory>

#include "graph/graph.hpp"
#include "graph/overlays/overlays.hpp"

namespace starling::testing_support {

/// A graph of at least two clients with absences and losses; client 1 leaves after 20 rounds.
inline std::unique_ptr<Schedule> troubled(std::unique_ptr<Graph> graph, LossModel loss, Round steps_per_round = 1) {
  const MissingWeight missing =
      graph->rule() == WeightRule::sender ? MissingWeight::split_anew : MissingWeight::sender_keeps;
  Departures departures(static_cast<std::size_t>(graph->clients()));
  departures[1] = 20;
  auto attended = std::make_unique<AttendedSchedule>(
      std::move(graph),
      absence_table().make("markov:length=3", Dropout{std::vector<double>(departures.size(), 0.3), 5}), departures,
      missing, steps_per_round);
  return std::make_unique<LossySchedule>(std::move(attended), LinkLossSettings{0.2, loss, 6},
                                         MissingWeight::sender_keeps);
}

/// The same on an endless random graph of n clients.
inline std::unique_ptr<Schedule> troubled(Client n, Round steps_per_round = 1) {
  return troubled(make_graph("erdos-renyi:rounds=endless,p=0.4", n, WeightRule::sender), LossModel::acknowledged,
                  steps_per_round);
}

}  // namespace starling::testing_support
