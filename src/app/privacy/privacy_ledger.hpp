/// `starling privacy ledger`.
#pragma once

#include <string>
#include <vector>

namespace starling {

/// Says what a ledger holds and whether it is whole. Returns 1 if it is not, or lacks the row that was expected, else
/// 0. Throws UsageError if it cannot be read.
int run_privacy_ledger(const std::vector<std::string>& words);

[[nodiscard]] std::string privacy_ledger_help();

}  // namespace starling
