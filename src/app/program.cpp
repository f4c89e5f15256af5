#include "program.hpp"

#include <algorithm>
#include <exception>
#include <fcntl.h>
#include <iterator>
#include <new>
#include <unistd.h>

#include "app/commands.hpp"
#include "app/help/generated_text.hpp"
#include "console/out_of_memory.hpp"
#include "console/print.hpp"
#include "console/version.hpp"
#include "core/check.hpp"
#include "core/numerics/standard_numbers.hpp"
#include "core/text/names.hpp"
#include "files/tell_user.hpp"
#include "methods/methods.hpp"
#include "run/launch.hpp"

namespace starling {

namespace {

std::string overview(const std::vector<Command>& table) {
  return "starling: decentralized, differentially private online learning on MPI\n\n" + list_of(table, "starling ") +
         "\n"
         "  starling COMMAND --help    the options that most people need (-h); --help=all: every option\n"
         "  starling --version         version of the program and its libraries (-V)\n";
}

/// Occupies standard streams that are closed, so that no file which is opened later gets their texts. Reading and
/// writing them fails as before.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1)
      static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

/// The commands that are no learning methods, in the order of --help.
std::vector<Command> other_commands() {
  return {
      doctor_command(),
      topology_command(),
      {.name = "privacy",
       .purpose = "what releases cost together, noise for a target, audits, ledgers",
       .subcommands = {privacy_spend_command(), privacy_calibrate_command(), privacy_audit_command(),
                       privacy_ledger_command()}},
      predict_command(),
      score_command(),
      {.name = "data",
       .purpose = "convert, make, describe or profile files of records",
       .subcommands = {data_convert_command(), data_make_command(), data_describe_command(), data_profile_command()}},
      report_command(),
      sweep_command(),
      init_command(),
      {.name = "keys",
       .purpose = "keys by which owners of records prove who they are",
       .subcommands = {keys_make_command(), keys_show_command(), keys_consent_command()}}};
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> table = [] {
    std::vector<Command> all = learning_commands();
    std::ranges::move(other_commands(), std::back_inserter(all));
    return all;
  }();
  return table;
}

int dispatch_program(const std::vector<std::string>& argv, const std::vector<Command>& table, Call how) {
  const StandardNumbers standard;
  const std::string name = argv.size() > 1 ? argv[1] : "";
  const std::vector<std::string> words(argv.begin() + (argv.size() > 1 ? 2 : 1), argv.end());
  for (const std::string& word : words) refuse_placeholders(word, fmt::format("'{}'", word));
  if (name == "--version" || name == "-V") {
    if (how.speaks) print(version_text());
    return 0;
  }
  const Command* const of_help = asks_for_help(name) && !words.empty() ? find_command(table, words.front()) : nullptr;
  if (of_help != nullptr) {
    how.words.assign(words.begin() + 1, words.end());
    how.words.emplace_back("--help");
    return dispatch(*of_help, how, words.front());
  }
  if (asks_for_help(name)) {
    if (how.speaks) print(words.empty() ? overview(table) : generated_text(table, words));
    return 0;
  }
  if (name.empty()) {
    if (how.speaks) tell_user("{}\n", overview(table));  // a message would be one line
    throw UsageError("no command is given: the text above lists them. Name one.");
  }
  const Command* command = find_command(table, name);
  check(command != nullptr, "{} See starling --help.", unknown_name("command", name, names_in(table)));
  how.words = words;
  how.command_line = quoted(argv);
  return dispatch(*command, how, name);
}

int run_program(const std::vector<std::string>& argv, const std::vector<Command>& table) {
  occupy_closed_streams();
  try {
    Call how;
    how.speaks = is_first_process();
    return dispatch_program(argv, table, how);
  } catch (const Error& error) {
    if (is_first_process()) tell_user("starling: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    if (is_first_process()) tell_user("starling: {}\n", out_of_memory);
    return static_cast<int>(ExitCode::failure);
  } catch (const std::exception& error) {
    if (is_first_process()) tell_user("starling: {}\n", error.what());
    return static_cast<int>(ExitCode::failure);
  }
}

}  // namespace starling
