/// Ledgers for tests.
#pragma once

#include <string>
#include <vector>

#include "starling/privacy/ledger.hpp"

namespace starling::ledger_samples {

inline LedgerRun run_of(const std::string& id, const std::string& determined_by = "abc123") {
  return {id, "0.1.0 (test)", "laplace", "epsilon 0.1 per release", PrivacyUnit::record, 32, 32, determined_by, {0, 3}};
}

/// One release a round, all of one charge, in one pass.
inline Reservation block_of(Client client, Round first, Round last, const Charge& charge = Charge::laplace(0.1),
                            std::int64_t pass = 1) {
  return {client, first, last, "as they arrive", {{pass, charge}}, {{charge, last - first + 1}}, "keyed BLAKE2b"};
}

/// Two runs; the first crashed and was taken up again, the second is under way.
inline void write_sample(const std::string& path) {
  Ledger ledger = Ledger::open(path);
  ledger.begin(run_of("first"));
  ledger.reserve(block_of(0, 0, 3));
  ledger.reserve(block_of(3, 0, 3));
  ledger.resume("first", "abc123");
  ledger.reserve(block_of(0, 4, 7));
  ledger.end(0, 6, LedgerEnd::finished);
  ledger.begin(run_of("second", ""));
  ledger.reserve(block_of(0, 0, 0, Charge::gaussian(0.25)));
}

}  // namespace starling::ledger_samples
