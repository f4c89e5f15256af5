/// The commands below `starling privacy`.
#pragma once

#include "app/data/data_commands.hpp"  // Words, print
#include <string>

namespace starling {

/// One of them; `run` gets the words after its name, and returns the exit code.
struct PrivacyCommand {
  const char* name;
  const char* synopsis;  ///< what it does
  std::string (*help)();
  int (*run)(const Words& words);
};

[[nodiscard]] std::string spend_help();
int run_spend(const Words& words);
[[nodiscard]] std::string calibrate_help();
int run_calibrate(const Words& words);

}  // namespace starling
