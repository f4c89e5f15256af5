#include "app/commands.hpp"

namespace starling {

Command keys_command() {
  return {.name = "keys",
          .purpose = "keys by which owners of records prove who they are",
          .subcommands = {keys_make_command(), keys_show_command(), keys_consent_command()}};
}

}  // namespace starling
