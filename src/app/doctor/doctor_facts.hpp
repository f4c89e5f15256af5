/// How `starling doctor` comes by its facts. Internal to the app room.
#pragma once

#include "doctor_checks.hpp"
#include <string>

#include "starling/net/agreement.hpp"

namespace starling {

/// The directory that `output` is, or is to be made in.
[[nodiscard]] std::string directory_of(const std::string& output);

/// **Collective.** Facts of every rank, in rank order, the same on all ranks; each tries `directory`, and leaves
/// nothing there.
[[nodiscard]] std::vector<RankFacts> gather_facts(Agreement& agreement, const std::string& directory);

}  // namespace starling
