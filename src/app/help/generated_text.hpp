/// Texts that are made from the declarations of commands and options: manual pages and completions of shells.
#pragma once

#include <string>
#include <vector>

#include "console/command.hpp"

namespace starling {

/// The text that the words after `starling help` name. Throws UsageError for others, FailureError if a file cannot be
/// written.
///
/// - `man [COMMAND …]`: the manual page of the program, or of a command, in roff
/// - `completion bash|zsh|fish`: completion for a shell
/// - `install DIR`: writes all pages and completions below DIR, where a share folder has them; the text lists the files
[[nodiscard]] std::string generated_text(const std::vector<Command>& table, const std::vector<std::string>& words);

/// The page starling(1), which lists the commands.
[[nodiscard]] std::string man_page(const std::vector<Command>& table);
/// The page of a command. `path` is its name with those above it.
[[nodiscard]] std::string man_page(const Command& command, const std::string& path);

/// Completion of commands, options and values by shells.
[[nodiscard]] std::string bash_completion(const std::vector<Command>& table);
[[nodiscard]] std::string zsh_completion(const std::vector<Command>& table);
[[nodiscard]] std::string fish_completion(const std::vector<Command>& table);

}  // namespace starling
