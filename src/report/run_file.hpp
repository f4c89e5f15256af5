/// The results in run.h5.
#pragma once

#include <optional>
#include <vector>

#include "output/directory/history.hpp"
#include "output/directory/run_directory.hpp"
#include "report/summary.hpp"

namespace starling {

/// Adds /traffic (edges × from, to, messages, bytes) and /privacy (attributes) to run.h5. Throws FailureError.
void finish_run_file(const RunDirectory& directory, const Summary& summary);

/// Mean progressive loss over the last tenth of the rounds, from a run's history; none where it is unknown.
[[nodiscard]] std::optional<double> last_loss(const std::vector<NetworkFigures>& history, Round rounds);

}  // namespace starling
