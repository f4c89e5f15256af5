/// What a privacy ledger (privacy/ledger.hpp) says: which runs released what about whom, and what that costs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "starling/core/links.hpp"
#include "starling/privacy/charge.hpp"
#include "starling/privacy/mechanism.hpp"

namespace starling {

/// A run as it presents itself when it begins.
struct LedgerRun {
  std::string id;  ///< letters, digits and . _ : -, of no other run in the ledger: noise is derived from it
  std::string version;
  std::string mechanism;
  std::string parameters;                  ///< of the mechanism and whatever else somebody may want to know
  PrivacyUnit unit = PrivacyUnit::record;  ///< whose loss the charges count
  std::int64_t batch = 1;
  /// How many units a whole batch counts for, when somebody owns all its records (units_of_batch in spending.hpp).
  double batch_units = 1;
  /// Hexadecimal digest of everything that determines the run's integers: configuration, keyed digests of the data,
  /// commitments of the noise keys, build. Empty: the run cannot be replayed.
  std::string determined_by;
  std::vector<Client> clients;  ///< ascending; a number must mean the same data in all runs of a ledger
};

/// What one pass of the data costs: the largest charge to a record.
struct PassCharge {
  std::int64_t pass = 1;
  Charge charge;
  [[nodiscard]] bool operator==(const PassCharge&) const = default;
};

/// Rounds of a client that may release from now on.
struct Reservation {
  Client client = 0;
  Round first = 0;
  Round last = 0;                    ///< inclusive
  std::string records;               ///< which records enter: "0..31999 in passes 1..1", "as they arrive"
  std::vector<PassCharge> passes;    ///< of every pass that the rounds touch the largest charge to a record
  std::vector<ChargeGroup> charges;  ///< all releases, in the order of their rounds
  std::string digest;                ///< how the data are digested for the noise
  [[nodiscard]] bool operator==(const Reservation&) const = default;
};

/// Why a client's part in a run ended. A run that has ended for all clients by itself, and not by a signal, is not
/// taken up again.
enum class LedgerEnd { finished, stopped, budget };
/// "finished", "stopped by signal" or "budget".
[[nodiscard]] const char* name_of(LedgerEnd reason);

/// A client's part in a run.
struct LedgerAccount {
  Client client = 0;
  /// What counts as spent: consecutive blocks from round 0 on, up to `charged`.
  std::vector<Reservation> blocks;
  Round charged = 0;   ///< rounds below it count; those at and above it were not released
  Round taken_up = 0;  ///< `charged` when the run was last taken up again: no end gives those rounds back
  Round reserved = 0;  ///< the most rounds that were ever reserved
  std::optional<LedgerEnd> end;
};

struct LedgerEntry {
  LedgerRun run;
  std::string began;                    ///< UTC, as 2026-01-31T23:59:59Z
  int taken_up = 0;                     ///< how often it was taken up again
  std::vector<LedgerAccount> accounts;  ///< in the order of run.clients

  [[nodiscard]] bool finished() const;  ///< all clients have
  /// Throws UsageError for a client that is not one of the run's.
  [[nodiscard]] const LedgerAccount& account(Client client) const;
};

/// The entries of a ledger. What is charged: rounds that were reserved, unless an end says that they were not released.
/// A round that a run reserved, released and, taken up again, releases once more has the same bytes and counts once.
class LedgerBook {
 public:
  [[nodiscard]] const std::vector<LedgerEntry>& entries() const { return entries_; }
  /// The run that is being written: the one that began or was taken up last. None in an empty book.
  [[nodiscard]] const LedgerEntry* at_hand() const;
  /// The id of the latest run of this (non-empty) determination that is not finished.
  [[nodiscard]] std::optional<std::string> unfinished(const std::string& determined_by) const;
  /// All clients of all runs, ascending.
  [[nodiscard]] std::vector<Client> clients() const;
  [[nodiscard]] bool has(Client client, PrivacyUnit unit) const;

  /// All releases of a client over all runs whose charges count this unit: what somebody with one record in every batch
  /// loses. Groups of equal charges are one, in the order of their first release. `planned`: as if the run at hand had
  /// reserved that too.
  [[nodiscard]] std::vector<ChargeGroup> spent(Client client, PrivacyUnit unit,
                                               const Reservation* planned = nullptr) const;
  /// What somebody to whom all records of a client belong loses: each release counts for all units of its batch (group
  /// privacy); unbounded where no such figure is claimed.
  [[nodiscard]] std::vector<ChargeGroup> spent_by_client(Client client, PrivacyUnit unit,
                                                         const Reservation* planned = nullptr) const;
  /// What the worst record of a client loses, taking it that every run used the same records: for each run the largest
  /// charge of each pass.
  [[nodiscard]] std::vector<ChargeGroup> spent_by_record(Client client, PrivacyUnit unit,
                                                         const Reservation* planned = nullptr) const;

 private:
  friend struct LedgerRules;  // changes come from rows alone

  std::vector<LedgerEntry> entries_;
  std::size_t at_hand_ = 0;
};

}  // namespace starling
