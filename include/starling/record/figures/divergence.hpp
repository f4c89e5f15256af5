/// Signs that a run has not learned: it ends worse than its start, or its models have grown without bound.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "starling/core/columns.hpp"
#include "starling/record/directory/history.hpp"

namespace starling {

/// Figures of a run that all may see: withheld losses are NaN in `history` and in `last_loss`, and are not asked for.
struct RunEnd {
  const std::vector<NetworkFigures>& history;
  double last_loss = 0;      ///< mean over the last tenth of the rounds
  bool classifies = false;   ///< at a start of zeros a loss of classes is the same for every record
  double round_records = 0;  ///< records of a round, of all clients
  double test_records = 0;   ///< of --test; 0 without
  View final_model;          ///< mean over clients; released
};

/// A sentence with the remedies; none where the run ends no worse than its start, within chance. Four standard errors
/// are chance, where a record's loss deviates by as much as its mean: on --test, whose loss at the start is known
/// exactly. The loss of a stream at its start is that of the first round; one of classes is compared likewise, and one
/// of any other kind has to grow a hundredfold, since later records may be harder ones.
[[nodiscard]] std::optional<std::string> note_of_divergence(const RunEnd& end);

}  // namespace starling
