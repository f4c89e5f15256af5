/// The records and rounds of a client, for its account.
#pragma once

#include <cstdint>
#include <optional>

#include "core/links.hpp"

namespace starling {

/// The rounds that a client's stream serves, as far as they are known beforehand.
struct ServedRounds {
  std::optional<std::int64_t> records = {};  ///< in a pass
  std::optional<Round> of_pass = {};
  std::optional<Round> of_all = {};
  /// Most rounds of a pass that use one unit. Where there are several, each counts as a pass of its own over the same
  /// rounds, in ledgers too: a unit pays for the dearest release of each.
  std::int64_t uses = 1;
  bool lost = false;  ///< the client is gone for good: it releases nothing, and its ledger is not written
  Round begin = 0;    ///< first round of the stream; `of_all` counts from round 0 of the run
  [[nodiscard]] auto operator<=>(const ServedRounds&) const = default;
};

}  // namespace starling
