/// The commands below `starling topology`, and what they share. Internal to the app room.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/program_options.hpp>

namespace starling::topology_command {

namespace options = boost::program_options;
using Words = std::vector<std::string>;

/// The options of one subcommand, and what its --help says above them.
struct Usage {
  std::string synopsis;
  std::string explanation;
  options::options_description visible;
  std::string positional;  ///< name of the option that words without a dash go to
};

/// Throws UsageError.
[[nodiscard]] options::variables_map parse_words(const Words& words, const Usage& usage);
/// Whether help was asked for, and is printed.
[[nodiscard]] bool helped(const options::variables_map& values, const Usage& usage);
/// The only word that belongs to no option; throws UsageError unless there is one.
[[nodiscard]] std::string the_one_file(const options::variables_map& values, const Usage& usage);
/// To standard output. Throws FailureError if it cannot be written.
void print(std::string_view text);
/// Throws FailureError if it cannot be written.
void write_file(const std::string& path, const std::string& text);

int run_check(const Words& words);
int run_draw(const Words& words);

}  // namespace starling::topology_command
