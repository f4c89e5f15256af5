/// A change of a run's clients between two starts: some are lost for good (`--lost`), or others join (`--join`).
#pragma once

#include <string>
#include <vector>

#include "core/clients/membership.hpp"
#include "core/links.hpp"
#include "found_checkpoints.hpp"
#include "run/settings/learning_config.hpp"

namespace starling {

/// The clients with which a run goes on, and the private folders that it cannot use.
struct MemberChange {
  Membership members;          ///< after the change
  std::string rewired = "";    ///< spec of the graph of those that are there (RunIdentity::rewired)
  std::vector<int> gone = {};  ///< ranks before whose folders are of no use, ascending
  bool moves = false;          ///< folders must be made anew: clients are lost or join, or some folder is gone
  std::vector<std::string> notes = {};
};

/// The change that --lost or --join asks for, by what the run's identity and its folders say. Throws UsageError if it
/// cannot be made, and DataError if no checkpoint is left to go on from.
[[nodiscard]] MemberChange change_members(const LearningConfig& config, const RunIdentity& before,
                                          const WholeCheckpoints& checkpoints);

/// A note on each change of a run's clients.
[[nodiscard]] std::vector<std::string> notes_on_changes(const Membership& members);

}  // namespace starling
