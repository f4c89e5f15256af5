// `starling privacy …`.
#include "data_commands.hpp"
#include "privacy_audit.hpp"
#include "privacy_ledger.hpp"
#include <algorithm>
#include <array>

#include "starling/app/commands.hpp"
#include "starling/core/check.hpp"

namespace starling {

namespace {

struct Command {
  const char* name;
  const char* summary;
  std::string (*help)();
  int (*run)(const std::vector<std::string>& words);
};

constexpr std::array commands = {
    Command{"audit", "lower bounds on the loss of releases as they are made", privacy_audit_help, run_privacy_audit},
    Command{"ledger", "FILE: what was released, and whether that record of it is whole", privacy_ledger_help,
            run_privacy_ledger},
};

std::string names() {
  std::string text;
  for (const Command& command : commands) text += (text.empty() ? "" : ", ") + std::string(command.name);
  return text;
}

std::string overview() {
  std::string text = "usage: starling privacy COMMAND ...\n\nCommands (each has --help)\n";
  for (const Command& command : commands) text += fmt::format("  {:<10}{}\n", command.name, command.summary);
  return text;
}

}  // namespace

int run_privacy(const std::vector<std::string>& words, bool speaks) {
  if (!speaks) return 0;  // one process is enough, however many were started
  check(!words.empty(), "`privacy` lacks a command (known: {}) see starling privacy --help", names());
  const auto* const command =
      std::find_if(commands.begin(), commands.end(), [&](const Command& c) { return words[0] == c.name; });
  if (command == commands.end()) {
    check(words[0] == "--help" || words[0] == "-h" || words[0] == "help",
          "unknown privacy command '{}' (known: {}) see starling privacy --help", words[0], names());
    print(overview());
    return 0;
  }
  const Words rest(words.begin() + 1, words.end());
  if (std::find(rest.begin(), rest.end(), "--help") == rest.end()) return command->run(rest);
  print(command->help());
  return 0;
}

}  // namespace starling
