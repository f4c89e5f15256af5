/// Reading and verifying a ledger without holding it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "privacy/ledger/ledger_book.hpp"

namespace starling {

/// The first thing that is wrong with a ledger.
struct LedgerDamage {
  enum class Kind {
    not_a_ledger,
    edited,        ///< a row is not what its hash says
    reordered,     ///< rows were swapped, removed, put in or repeated
    truncated,     ///< the head counts rows, or a part of one, that are gone
    torn,          ///< a crash while the last line was written: it was never acknowledged, and no figure depends on it
    inconsistent,  ///< the hashes are right, and what the row says contradicts earlier rows
    no_head,       ///< the head file is gone, or is not one
  };
  Kind kind = Kind::edited;
  std::int64_t line = 0;  ///< from 1; 0: the head file
  std::string reason;     ///< "problem (why) what to do"
};
/// "not a ledger", "edited", "reordered", "truncated", "torn", "inconsistent" or "no head".
[[nodiscard]] const char* name_of(LedgerDamage::Kind kind);

/// The content of a ledger up to the first damage.
struct LedgerReading {
  LedgerBook book;
  std::vector<std::string> hashes;  ///< of the rows, in order
  std::optional<LedgerDamage> damage;
  std::int64_t counted = 0;  ///< rows that the head counts: fewer than there are after a crash, until the next run
  std::size_t size = 0;      ///< bytes of the whole rows
  bool in_use = false;       ///< a run is writing it

  /// Hash of the last row; zeros without any.
  [[nodiscard]] std::string head() const;
  /// The row with this hash, from 1; none if no row has it.
  [[nodiscard]] std::optional<std::int64_t> row_of(std::string_view hash) const;
};

/// Verifies a ledger's text against its head file's (none: there is no such file). Never throws for damage.
[[nodiscard]] LedgerReading verify_ledger(std::string_view text, const std::optional<std::string>& head);

/// Reads and verifies the files. A run may be writing at the same time: what is half written is then left out, without
/// damage. Throws UsageError if the ledger cannot be read.
[[nodiscard]] LedgerReading read_ledger(const std::string& path);

}  // namespace starling
