/// Checkpoints in the private folders of a run that goes on.
#pragma once

#include <string>
#include <vector>

#include "core/links.hpp"
#include "net/agreement.hpp"
#include "output/checkpoints/checkpoint.hpp"
#include "output/directory/run_directory.hpp"

namespace starling {

/// The checkpoints of a rank by this build, in its private folder. `run` is the run's id.
[[nodiscard]] CheckpointFolder checkpoint_folder(const std::string& folder, const std::string& run,
                                                 const Layout& layout, int rank);

/// For each rank before, the rounds of whole checkpoints in its private folder, ascending; none of a folder that is
/// gone.
using WholeCheckpoints = std::vector<std::vector<Round>>;

struct FoundCheckpoints {
  WholeCheckpoints whole;
  std::vector<std::vector<std::string>> complaints;  ///< by rank: unusable files and their problems
};

/// Looks into the private folders, whose layout is `before`, on whatever host they are. **Collective.**
[[nodiscard]] FoundCheckpoints look_at_checkpoints(Agreement& agreement, const RunDirectory& directory,
                                                   const Layout& before);

/// Rounds of which the folders of all these ranks have whole checkpoints, ascending.
[[nodiscard]] std::vector<Round> common_rounds(const WholeCheckpoints& checkpoints, const std::vector<int>& ranks);

}  // namespace starling
