/// The kind of progressive scores that a run has.
#pragma once

namespace starling {

/// `none`: nothing is learned. `losses`: labels are numbers. `losses_and_accuracies`: labels are classes.
enum class Scores { none, losses, losses_and_accuracies };
/// The task: "averaging", "regression" or "classification".
[[nodiscard]] const char* name_of(Scores scores);

}  // namespace starling
