#include "app/commands.hpp"

namespace starling {

Command privacy_command() {
  return {.name = "privacy",
          .purpose = "what releases cost together, noise for a target, audits, ledgers",
          .subcommands = {privacy_spend_command(), privacy_calibrate_command(), privacy_audit_command(),
                          privacy_ledger_command()}};
}

}  // namespace starling
