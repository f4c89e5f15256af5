/// A command of the program as data. Dispatch, overviews and the errors for unknown commands follow from it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "options/options.hpp"

namespace starling {

/// The fate of an error that ends a command.
enum class Errors {
  reported,  ///< one rank prints it, and the exit code tells its kind
  thrown,    ///< it is thrown on the rank that met it, and PeerError on the others
};

/// Words of a command line as a shell would take them again.
[[nodiscard]] std::string quoted(const std::vector<std::string>& words);

/// One call of a command.
struct Call {
  std::vector<std::string> words;  ///< after the command's name
  std::string command_line;        ///< of the whole program, as a shell would take it again
  bool speaks = true;              ///< whether this process prints texts that are the same on all ranks
  Errors errors = Errors::reported;
  /// Called with the folder of a run, once it has one.
  std::function<void(const std::string&)> note_directory = [](const std::string&) {};
};

/// Texts of help beside those of the options. Lines that begin with a space stay as they are; others are filled.
struct Manual {
  std::string usage;                  ///< after `starling COMMAND`; such as FILE [--json]
  std::string text;                   ///< what the command does, and its exit codes
  std::vector<std::string> examples;  ///< command lines; short help shows the first
  std::string more = {};              ///< what follows the options; begins with an empty line
};

struct Command {
  std::string name;
  std::string purpose;          ///< one line for overviews
  bool on_all_ranks = false;    ///< runs on every process of a launch; other commands run on the first one alone
  bool may_run_on_all = false;  ///< runs on every process likewise, and finds out itself whether the others are needed
  Manual (*manual)() = nullptr;
  /// The declarations of its options, in their order.
  std::vector<Option> (*options)() = nullptr;
  /// The effective configuration, for --print-config.
  std::function<std::string(const std::vector<std::string>&)> configuration = nullptr;
  /// Throws UsageError if a run with these words would lack what has no default; null if nothing can be lacking.
  std::function<void(const std::vector<std::string>&)> require_complete = nullptr;
  /// Returns the exit code.
  std::function<int(const Call&)> run = nullptr;
  /// Commands below this one. A command with some has nothing of its own but a manual, which may be null.
  std::vector<Command> subcommands = {};
};

/// Runs the command, or the subcommand that the first word names, or prints what --help and --print-config ask for.
/// `path` is the command's name with those above it. Returns the exit code. Throws UsageError for an unknown
/// subcommand.
[[nodiscard]] int dispatch(const Command& command, const Call& call, const std::string& path);

/// The command of that name; null if there is none.
[[nodiscard]] const Command* find_command(const std::vector<Command>& commands, const std::string& name);
/// Names separated by commas.
[[nodiscard]] std::string names_of(const std::vector<Command>& commands);
/// A line for each command: `prefix`, its name and its purpose.
[[nodiscard]] std::string list_of(const std::vector<Command>& commands, const std::string& prefix);
[[nodiscard]] bool asks_for_help(const std::string& word);

/// A `Config` whose options have read the words. Throws UsageError.
template <class Config, Options (*options_into)(Config&)>
Config parsed(const std::vector<std::string>& words) {
  Config config;
  options_into(config).parse(words);
  return config;
}

/// The text of configuration files that `options_into` makes of the words for a new `Config`.
template <class Config, Options (*options_into)(Config&)>
std::string configuration_from(const std::vector<std::string>& words) {
  Config config;
  Options options = options_into(config);
  options.parse(words);
  return options.configuration();
}

/// The declarations that `options_into` makes for a new `Config`.
template <class Config, Options (*options_into)(Config&)>
std::vector<Option> declarations_from() {
  Config config;
  return options_into(config).declarations();
}

/// The row of a command whose options make a `Config`.
template <class Config, Options (*options_into)(Config&)>
Command command_of(std::string name, std::string purpose, Manual (*manual)(), int (*run)(const Call&)) {
  return {.name = std::move(name),
          .purpose = std::move(purpose),
          .manual = manual,
          .options = declarations_from<Config, options_into>,
          .configuration = configuration_from<Config, options_into>,
          .run = run};
}

}  // namespace starling
