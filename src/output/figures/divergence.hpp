/// Detection of divergence: a run that ends worse than its start, or whose models grow without bound.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/columns.hpp"
#include "output/directory/history.hpp"

namespace starling {

/// The public figures at the end of a run. Withheld losses are NaN in `history` and in `last_loss`.
struct RunEnd {
  const std::vector<NetworkFigures>& history;
  double last_loss = 0;                        ///< mean over the last tenth of the rounds
  double test_loss = NetworkFigures::unknown;  ///< of the final models; NaN: those of the last round
  bool classifies = false;   ///< labels are classes: at a start of zeros all records have the same loss
  double round_records = 0;  ///< records in a round, over all clients
  double test_records = 0;   ///< records of --test; 0 without --test
  View final_model;          ///< mean over clients; released
  std::string remedies;      ///< a sentence that names the command's own options
};

/// A sentence with remedies; none where the run ends no worse than its start, within chance. Chance is four standard
/// errors, if a record's loss deviates by as much as its mean. The loss on --test is compared with the loss at the
/// start. Without --test the loss at the start is that of the first round. A loss of classes is compared in the same
/// way; any other loss must be four times as much above, since later records may be harder. The norm of the model is
/// judged where losses are withheld.
[[nodiscard]] std::optional<std::string> note_of_divergence(const RunEnd& end);

}  // namespace starling
