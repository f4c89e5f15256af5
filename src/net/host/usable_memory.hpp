/// Memory that this host has left for this process.
#pragma once

#include <filesystem>

namespace starling {

/// Bytes that can be had before the kernel ends processes: what the host has available, or what a control group of
/// this process, or one around it, has left below its limit, whichever is less; infinite where nothing says. Memory
/// that only caches files counts as left. Files are looked for under `root`: proc/meminfo, proc/self/cgroup,
/// sys/fs/cgroup.
[[nodiscard]] double usable_memory(const std::filesystem::path& root = "/");

}  // namespace starling
