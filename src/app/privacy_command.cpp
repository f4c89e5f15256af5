// `starling privacy …`.
#include "data_commands.hpp"
#include "privacy_audit.hpp"
#include <algorithm>

#include "starling/app/commands.hpp"
#include "starling/core/check.hpp"

namespace starling {

int run_privacy(const std::vector<std::string>& words, bool speaks) {
  if (!speaks) return 0;
  check(!words.empty() && words[0] == "audit", "`privacy` lacks a command (audit) see `starling privacy audit --help`");
  const Words rest(words.begin() + 1, words.end());
  if (std::find(rest.begin(), rest.end(), "--help") != rest.end()) {
    print(privacy_audit_help());
    return 0;
  }
  return run_privacy_audit(rest);
}

}  // namespace starling
