/// Pictures of a run, drawn by gnuplot from tables that are kept beside them.
#pragma once

#include <string>
#include <vector>

#include "starling/record/network_reporter.hpp"
#include "starling/record/run_directory.hpp"

namespace starling {

/// history.csv: a line per report (rounds, loss, accuracy, test_loss, test_accuracy, consensus_error, mass; an empty
/// field is unknown).
void write_history(const RunDirectory& directory, const std::vector<NetworkFigures>& history);

/// convergence.csv: distance of up to ten recorded clients' models to the final mean model, by recorded round.
/// Returns whether any is away from it after the start.
bool write_convergence(const RunDirectory& directory, View final_model);

/// Draws loss.svg and convergence.svg from the two tables; `converges` is what write_convergence returned. Returns a
/// sentence saying why not, if gnuplot is missing or fails, else an empty string.
[[nodiscard]] std::string draw_pictures(const RunDirectory& directory, const std::vector<NetworkFigures>& history,
                                        bool converges);

}  // namespace starling
