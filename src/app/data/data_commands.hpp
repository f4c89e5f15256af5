/// The commands below `starling data`, and what they share. Internal to the app room.
#pragma once

#include <string>
#include <vector>

#include "starling/options/options.hpp"

namespace starling {

using Words = std::vector<std::string>;

int run_convert(const Words& words, const std::string& command_line);
int run_make(const Words& words, const std::string& command_line);
int run_describe(const Words& words);

[[nodiscard]] std::string convert_help();
[[nodiscard]] std::string make_help();
[[nodiscard]] std::string describe_help();

/// --progress, --config, --print-config and --help.
void add_last_options(Options& options, ProgressChoice& progress, bool& print_config);

/// To standard output. Throws FailureError if it cannot be written.
void print(const std::string& text);

}  // namespace starling
