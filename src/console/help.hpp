/// Texts of --help.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "console/command.hpp"

namespace starling {

/// Lines of a short help, which one screen shows.
constexpr std::size_t help_lines = 40;

/// Topic of the first word that asks for help: "common" for --help and -h, else what follows --help=. None if no word
/// asks.
[[nodiscard]] std::optional<std::string> help_topic(const std::vector<std::string>& words);

/// The help on a topic: "common" (all of it where that fits a screen, else an example and the common options), "all",
/// or the name of an option. `path` is the command's name with those above it. Throws UsageError for other topics.
[[nodiscard]] std::string help_text(const Command& command, const std::string& path, const std::string& topic);

/// Lines `starling PATH USAGE`, under mpirun where the command runs on all ranks.
[[nodiscard]] std::vector<std::string> usage_of(const Command& command, const std::string& path);

}  // namespace starling
