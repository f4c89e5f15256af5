/// Ledgers for tests.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "files/durable_file.hpp"
#include "privacy/ledger/ledger.hpp"

namespace starling::ledger_samples {

inline std::string text_of(const std::string& path) {
  return read_whole_file(path).value_or("");
}

inline LedgerRun run_of(const std::string& id, const std::string& determined_by = "abc123") {
  return {id, "0.1.0 (test)", "laplace", "epsilon 0.1 per release", PrivacyUnit::record, 32, 32, determined_by, {0, 3}};
}

/// One release a round, all of one charge, in one pass.
inline Reservation block_of(const ClientRange& clients, Round first, Round last,
                            const Charge& charge = Charge::laplace(0.1), std::int64_t pass = 1) {
  return {clients, first, last, "as they arrive", {{pass, charge}}, {{charge, last - first + 1}}, "keyed BLAKE2b"};
}

/// A hash chain made anew over members without row number, previous hash and hash: by somebody who knows how.
inline std::string sealed(const std::vector<std::string>& members) {
  std::string text;
  std::string previous(64, '0');
  for (std::size_t k = 0; k < members.size(); ++k) {
    const std::string row = fmt::format("{{\"row\":{},\"previous\":\"{}\",{}", k + 1, previous, members[k]);
    previous = sha256(previous + row + "}");
    text += fmt::format("{},\"hash\":\"{}\"}}\n", row, previous);
  }
  return text;
}

inline std::string head_of(const std::string& text) {
  return fmt::format("{{\"rows\":{},\"hash\":\"{}\"}}\n", std::count(text.begin(), text.end(), '\n'),
                     text.substr(text.size() - 67, 64));
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
