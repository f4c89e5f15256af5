/// Completion of commands, options and values by shells.
#pragma once

#include "app/console/command.hpp"
#include <string>
#include <vector>

namespace starling {

[[nodiscard]] std::string bash_completion(const std::vector<Command>& table);
[[nodiscard]] std::string zsh_completion(const std::vector<Command>& table);
[[nodiscard]] std::string fish_completion(const std::vector<Command>& table);

}  // namespace starling
