/// Summaries that tests of what is said of runs begin with.
#pragma once

#include <cmath>

#include "output/figures/test_metrics.hpp"
#include "output/intervals/interval.hpp"
#include "privacy/statement/statement.hpp"
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
  summary.part<Consensus>().error = 1e-4;
  summary.part<Consensus>().mass = clients;
  summary.part<RunTraffic>().wire = {50, 1400};
  summary.part<RunTimes>().shares = {1, 0.5, 0.25, 0.25};
  summary.run_directory = "runs/7";
  summary.notes = {"stopped by a signal after round 40"};
  PrivacyReport& privacy = summary.part<PrivacyReport>();
  privacy.mechanism = "laplace";
  privacy.description = "Discrete Laplace noise is added.";
  privacy.neighbours = "one record is replaced";
  privacy.release.epsilon = 0.5;
  privacy.losses.participations = 4;
  privacy.losses.record.epsilon = privacy.losses.component.epsilon = 2;
  privacy.losses.one_per_batch.epsilon = 20;
  privacy.losses.client.epsilon = 60;
  privacy.losses.releases = 40;
  privacy.clients = clients;
  privacy.run_id = "run-7";
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
  summary.part<RunScores>().test = Score{10, 40, 50};
  summary.add(metrics_of_margins({{1, 1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}}));
  summary.part<RunIntervals>().intervals = {
      {"x1", 0.5, 0.1, 0.25, 0.75, 0.95, "model"},
      {"intercept", -2, std::nan(""), std::nan(""), std::nan(""), std::nan(""), ""}};
  summary.part<RunTraffic>().edges = edges;
  return summary;
}

}  // namespace starling::testing_support
