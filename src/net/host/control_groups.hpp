// What control groups of Linux, in both versions of their files, allow a process. Internal to the net room.
#pragma once

#include <filesystem>
#include <functional>
#include <istream>

namespace starling {

/// The least that `allowed` finds in the folders of the groups in `membership` (lines of /proc/self/cgroup) and of
/// those around them, which are under `mount`; infinite where there are none. A container may not see where it is: then
/// the outermost folder is its own.
[[nodiscard]] double least_of_groups(std::istream& membership, const std::filesystem::path& mount,
                                     const std::function<double(const std::filesystem::path& group)>& allowed);

}  // namespace starling
