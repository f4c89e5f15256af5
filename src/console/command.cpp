#include "command.hpp"

#include <algorithm>
#include <regex>

#include "core/check.hpp"
#include "core/text/names.hpp"
#include "help.hpp"
#include "print.hpp"

namespace starling {

namespace {

bool holds(const std::vector<std::string>& words, const char* word) {
  return std::ranges::find(words, word) != words.end();
}

int dispatch_below(const Command& command, const Call& call, const std::string& path) {
  check(!call.words.empty(), "`{}` lacks a command: known are {}. See `starling {} --help`.", path,
        names_of(command.subcommands), path);
  const std::string& name = call.words.front();
  if (asks_for_help(name)) {
    if (call.speaks) print(help_text(command, path, "all"));
    return 0;
  }
  const Command* found = find_command(command.subcommands, name);
  check(found != nullptr, "{} See `starling {} --help`.",
        unknown_name(path + " command", name, names_in(command.subcommands)), path);
  Call below = call;
  below.words.erase(below.words.begin());
  return dispatch(*found, below, path + " " + name);
}

}  // namespace

std::string quoted(const std::vector<std::string>& words) {
  std::string line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool plain =
        words[i].find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%") ==
            std::string::npos &&
        !words[i].empty();
    line += i == 0 ? "" : " ";
    line += plain ? words[i] : "'" + std::regex_replace(words[i], std::regex("'"), "'\\''") + "'";
  }
  return line;
}

int dispatch(const Command& command, const Call& call, const std::string& path) {
  if (!command.subcommands.empty()) return dispatch_below(command, call, path);
  if (const auto topic = help_topic(call.words)) {
    const std::string text = help_text(command, path, *topic);
    if (call.speaks) print(text);
    return 0;
  }
  if (command.configuration && holds(call.words, "--print-config")) {
    const std::string text = command.configuration(call.words);
    if (call.speaks) print(text);
    return 0;
  }
  if (!command.on_all_ranks && !command.may_run_on_all && !call.speaks) return 0;
  return command.run(call);
}

const Command* find_command(const std::vector<Command>& commands, const std::string& name) {
  const auto found = std::ranges::find_if(commands, [&](const Command& known) { return known.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

std::string names_of(const std::vector<Command>& commands) {
  return fmt::format("{}", fmt::join(names_in(commands), ", "));
}

std::string list_of(const std::vector<Command>& commands, const std::string& prefix) {
  std::string text;
  for (const Command& command : commands) text += fmt::format("  {}{:<11} {}\n", prefix, command.name, command.purpose);
  return text;
}

bool asks_for_help(const std::string& word) {
  return word == "help" || help_topic({word}).has_value();
}

}  // namespace starling
