/// What is added to run.h5 after the last round.
#pragma once

#include "starling/record/directory/run_directory.hpp"
#include "starling/report/summary.hpp"

namespace starling {

/// /traffic (edges × from, to, messages, bytes) and /privacy (attributes).
void finish_run_file(const RunDirectory& directory, const Summary& summary);

/// Mean progressive loss over the last tenth of the rounds, from a run's history; none where it is unknown.
[[nodiscard]] std::optional<double> last_loss(const std::vector<NetworkFigures>& history, Round rounds);

}  // namespace starling
