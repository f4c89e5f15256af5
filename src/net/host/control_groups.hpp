// Limits that Linux control groups (versions 1 and 2) set for a process. Internal to the net module.
#pragma once

#include <filesystem>
#include <functional>
#include <istream>

namespace starling {

/// The least value that `allowed` returns for the folders, under `mount`, of the groups in `membership` (lines of
/// /proc/self/cgroup) and of their enclosing groups. Infinite if there are none. A container may not see its own group;
/// then the outermost folder is its own.
[[nodiscard]] double least_of_groups(std::istream& membership, const std::filesystem::path& mount,
                                     const std::function<double(const std::filesystem::path& group)>& allowed);

}  // namespace starling
