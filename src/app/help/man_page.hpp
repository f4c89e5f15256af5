/// Manual pages.
#pragma once

#include "app/console/command.hpp"
#include <string>
#include <vector>

namespace starling {

/// The page starling(1), which lists the commands.
[[nodiscard]] std::string man_page(const std::vector<Command>& table);
/// The page of a command. `path` is its name with those above it.
[[nodiscard]] std::string man_page(const Command& command, const std::string& path);

}  // namespace starling
