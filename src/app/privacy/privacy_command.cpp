// `starling privacy …`.
#include "app/commands.hpp"
#include "privacy_audit.hpp"
#include "privacy_commands.hpp"
#include "privacy_ledger.hpp"
#include <algorithm>
#include <array>

#include "starling/core/check.hpp"

namespace starling {

namespace {

constexpr std::array commands{
    PrivacyCommand{"spend", "what releases cost together, by the best accountant", spend_help, run_spend},
    PrivacyCommand{"calibrate", "the least noise whose releases stay within a loss", calibrate_help, run_calibrate},
    PrivacyCommand{"audit", "a lower bound on the loss of what is really released", privacy_audit_help,
                   run_privacy_audit},
    PrivacyCommand{"ledger", "what was released by whom, and whether that record of it is whole", privacy_ledger_help,
                   run_privacy_ledger},
};

std::string names() {
  std::string text;
  for (const PrivacyCommand& command : commands) text += (text.empty() ? "" : ", ") + std::string(command.name);
  return text;
}

std::string overview() {
  std::string text = "usage: starling privacy COMMAND ...\n\nCommands (each has --help)\n";
  for (const PrivacyCommand& command : commands) text += fmt::format("  {:<12} {}\n", command.name, command.synopsis);
  return text;
}

bool asks_for_help(const std::string& word) {
  return word == "--help" || word == "-h" || word == "help";
}

}  // namespace

int run_privacy(const std::vector<std::string>& words, bool speaks) {
  if (!speaks) return 0;  // one process is enough, however many were started
  check(!words.empty(), "`privacy` lacks a command (known: {}) see `starling privacy --help`", names());
  if (asks_for_help(words[0])) {
    print(overview());
    return 0;
  }
  const auto command = std::find_if(commands.begin(), commands.end(),
                                    [&](const PrivacyCommand& known) { return words[0] == known.name; });
  check(command != commands.end(), "unknown privacy command '{}' (known: {}) see `starling privacy --help`", words[0],
        names());
  const Words rest(words.begin() + 1, words.end());
  if (std::find(rest.begin(), rest.end(), "--help") != rest.end()) {
    print(command->help());
    return 0;
  }
  return command->run(rest);
}

}  // namespace starling
