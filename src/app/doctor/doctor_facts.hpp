/// Collection of the facts for `starling doctor`. Internal to the app module.
#pragma once

#include "doctor_checks.hpp"
#include <optional>
#include <string>

#include "starling/net/agreement.hpp"

namespace starling {

/// The directory `output`, or the directory in which `output` is to be made.
[[nodiscard]] std::string directory_of(const std::string& output);

/// **Collective.** Facts of every rank, in rank order, the same on all ranks. Each rank tests `directory`, and leaves
/// nothing there.
[[nodiscard]] std::vector<RankFacts> gather_facts(Agreement& agreement, const std::string& directory);

}  // namespace starling
