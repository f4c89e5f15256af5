/// `starling privacy audit`.
#pragma once

#include <string>
#include <vector>

namespace starling {

/// Audits what the words name and prints the report. Returns 1 if the claim is refuted, 0 if not. Throws UsageError,
/// and FailureError where the audit failed a check of itself: its verdict then means nothing.
int run_privacy_audit(const std::vector<std::string>& words);

[[nodiscard]] std::string privacy_audit_help();

}  // namespace starling
