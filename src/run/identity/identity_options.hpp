/// Options of runs whose members prove who they are.
#pragma once

#include <optional>
#include <string>

#include "options/options.hpp"

namespace starling {

/// Which messages are sealed (--seal), of a run with identities.
enum class SealChoice {
  on,   ///< between ranks of different hosts
  off,  ///< none
  all,  ///< between all ranks
};

/// Names of files, both or none, and the messages that are sealed then.
struct IdentityChoice {
  std::optional<std::string> identity;  ///< may contain {client} and {host}
  std::optional<std::string> members;
  SealChoice seal = SealChoice::on;
};

/// --identity, --members and --seal. `parties` is an example of --parties, without which the command is one process;
/// empty if it has no such option.
void add_identity_options(Options& options, IdentityChoice& choice, const std::string& parties = "");

}  // namespace starling
