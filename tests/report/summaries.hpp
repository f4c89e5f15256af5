/// Summaries that tests of what is said of runs begin with.
#pragma once

#include <cmath>

#include "report/summary.hpp"

namespace starling::testing_support {

/// The summary of a private run that a signal stopped, without scores.
inline Summary stopped_run(Client clients) {
  Summary summary;
  summary.command = "omd";
  summary.command_line = "starling omd --source a.csv";
  summary.clients = clients;
  summary.rounds = 40;
  summary.rounds_planned = 50;
  summary.classifies = true;
  summary.learned = true;
  summary.consensus_error = 1e-4;
  summary.mass = clients;
  summary.wire = {50, 1400};
  summary.shares = {1, 0.5, 0.25, 0.25};
  summary.run_directory = "runs/7";
  summary.notes = {"stopped by a signal after round 40"};
  summary.privacy.mechanism = "laplace";
  summary.privacy.description = "Discrete Laplace noise is added.";
  summary.privacy.neighbours = "one record is replaced";
  summary.privacy.release.epsilon = 0.5;
  summary.privacy.losses.participations = 4;
  summary.privacy.losses.record.epsilon = summary.privacy.losses.component.epsilon = 2;
  summary.privacy.losses.one_per_batch.epsilon = 20;
  summary.privacy.losses.client.epsilon = 60;
  summary.privacy.losses.releases = 40;
  summary.privacy.clients = clients;
  summary.privacy.run_id = "run-7";
  return summary;
}

/// Metrics of (label, margin) of two classes, by a loss without probabilities.
inline TestMetrics metrics_of_margins(const std::vector<std::pair<double, double>>& records) {
  PredictionTally tally({1, true, Link::none});
  for (const auto& [label, margin] : records) tally.add(Vector{margin}, label);
  return tally.metrics();
}

/// Makes it one with rank 0 as the aggregator, tested and with intervals.
inline Summary aggregated(Summary summary, const std::vector<EdgeTraffic>& edges) {
  summary.command = "renewable";
  summary.aggregated = true;
  summary.test = Score{10, 40, 50};
  summary.test_metrics = metrics_of_margins({{1, 1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}});
  summary.intervals = {{"x1", 0.5, 0.1, 0.25, 0.75, 0.95, "model"},
                       {"intercept", -2, std::nan(""), std::nan(""), std::nan(""), std::nan(""), ""}};
  summary.edges = edges;
  return summary;
}

}  // namespace starling::testing_support
