// `starling data convert|make|describe`.
#include "app/commands.hpp"
#include "app/console/pass.hpp"
#include "data_commands.hpp"
#include <algorithm>
#include <cstdio>

#include "starling/core/check.hpp"
#include "starling/core/record_error.hpp"

namespace starling {

namespace {

bool asks_for_help(const Words& words) {
  return std::find(words.begin(), words.end(), "--help") != words.end();
}

constexpr const char* overview =
    "usage: starling data convert|make|describe ...\n\n"
    "Commands (each has --help)\n"
    "  convert SOURCE --output FILE       write the records of any source to .h5, .csv[.gz] or .svm[.gz]\n"
    "  make GENERATOR --output FILE       write the records of a generator\n"
    "  describe SOURCE [--json]           what a source holds, for its owner (the figures are not protected)\n";

int run_subcommand(const std::string& name, const Words& words, const std::string& command_line) {
  if (name == "convert") {
    if (!asks_for_help(words)) return run_convert(words, command_line);
    print(convert_help());
  } else if (name == "make") {
    if (!asks_for_help(words)) return run_make(words, command_line);
    print(make_help());
  } else if (name == "describe") {
    if (!asks_for_help(words)) return run_describe(words);
    print(describe_help());
  } else {
    check(name == "--help" || name == "-h" || name == "help",
          "unknown data command '{}' (known: convert, make, describe) see `starling data --help`", name);
    print(overview);
  }
  return 0;
}

}  // namespace

void add_last_options(Options& options, ProgressChoice& progress, bool& print_config) {
  const char* group = "General";
  options.add(
      {group, "progress", "WHEN", "auto",
       "on stderr: auto (where it takes long: a line that changes on a terminal, else lines), on (lines) or off",
       setter::choice<ProgressChoice>(
           progress, {{"auto", ProgressChoice::automatic}, {"on", ProgressChoice::on}, {"off", ProgressChoice::off}})});
  options.add({group, "config", "FILE", "", "read options from an INI file (key = value); the command line wins",
               [](const std::string&) {}});
  options.add({group, "print-config", "", "", "print the effective options as such a file and exit",
               setter::flag(print_config)});
  options.add({group, "help", "", "", "this text", [](const std::string&) {}});
}

void print(const std::string& text) {
  const bool done = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  check<FailureError>(done, "cannot write to standard output (it is closed, or its disk is full)");
}

int run_data(const std::vector<std::string>& words, const std::string& command_line, bool speaks) {
  if (!speaks) return 0;  // one process is enough, however many were started
  check(!words.empty(), "`data` lacks a command (convert, make or describe) see `starling data --help`");
  const Words rest(words.begin() + 1, words.end());
  // On the terminal of the data's owner: a fault shows what stands there.
  return stoppable([&] { return showing_values([&] { return run_subcommand(words[0], rest, command_line); }); });
}

}  // namespace starling
