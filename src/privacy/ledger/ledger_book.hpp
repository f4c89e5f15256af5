/// The content of a privacy ledger (privacy/ledger/ledger.hpp): runs, clients, releases and their costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/links.hpp"
#include "privacy/charge.hpp"
#include "privacy/client_range.hpp"
#include "privacy/correlation.hpp"
#include "privacy/unit.hpp"

namespace starling {

/// The cost of one pass over the data: the largest charge to a record.
struct PassCharge {
  std::int64_t pass = 1;
  Charge charge;
  [[nodiscard]] bool operator==(const PassCharge&) const = default;
};

/// Reserved rounds of one client, or of each of several adjacent clients.
struct Reservation {
  ClientRange clients;
  Round first = 0;
  Round last = 0;                    ///< inclusive
  std::string records;               ///< which records enter: "0..31999 in passes 1..1", "as they arrive"
  std::vector<PassCharge> passes;    ///< the largest charge to a record for every pass of these rounds
  std::vector<ChargeGroup> charges;  ///< all releases of a client, in the order of their rounds
  std::string digest;                ///< how the data are digested for the noise
  [[nodiscard]] bool operator==(const Reservation&) const = default;
  /// Whether both are equal but for their clients.
  [[nodiscard]] bool says_the_same(const Reservation& other) const;
};

/// Consecutive blocks, from round 0 on. Copies share what they have in common, so that histories may part and meet
/// without any cost that grows with their length. (`clients` of a block says whom a row was about: there may have been
/// others that said the same.)
class LedgerBlocks {
 public:
  [[nodiscard]] bool empty() const { return last_ == nullptr; }
  /// The last block. The history must not be empty.
  [[nodiscard]] const std::shared_ptr<const Reservation>& last() const { return last_->block; }
  [[nodiscard]] std::vector<const Reservation*> in_order() const;
  /// Equal for copies, while there are any.
  [[nodiscard]] const void* identity() const { return last_.get(); }
  void push(std::shared_ptr<const Reservation> block);
  void pop() { last_ = std::shared_ptr<const Link>(last_->before); }
  /// Whether all blocks are equal but for their clients. Quick where histories have met before, or differ.
  [[nodiscard]] bool operator==(const LedgerBlocks& other) const;

 private:
  struct Link {
    Link(std::shared_ptr<const Reservation> what, std::shared_ptr<const Link> earlier);
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link();  // link by link: long histories would exhaust the stack
    std::shared_ptr<const Reservation> block;
    mutable std::shared_ptr<const Link> before;
    std::size_t digest;  ///< of this and all before: where it differs, they do
  };
  std::shared_ptr<const Link> last_;
};

/// The description of a run at its start.
struct LedgerRun {
  std::string id = {};  ///< letters, digits and . _ : -, of no other run in the ledger: noise is derived from it
  std::string version = {};
  std::string mechanism = {};
  std::string parameters = {};             ///< of the mechanism and the run, for readers
  PrivacyUnit unit = PrivacyUnit::record;  ///< whose loss the charges count
  std::int64_t batch = 1;
  /// How many units a whole batch counts for, when somebody owns all its records (units_of_batch in spending.hpp).
  double batch_units = 1;
  /// Hexadecimal digest of everything that determines the run's integers: configuration, keyed digests of the data,
  /// commitments of the noise keys, build. Empty: the run cannot be replayed.
  std::string determined_by = {};
  std::vector<ClientRange> clients = {};  ///< ascending; a number must mean the same data in all runs of a ledger
  /// How the charges of a client's releases rise. None in rows of 0.2.0 or earlier, whose `batch_units` have the factor
  /// of the rounds that were planned; the correlation of their noise stands in `parameters`.
  Accumulation accumulation = {};
};

/// The reason why a client's part in a run ended. A run that has ended for all clients by itself, and not by a signal,
/// is not taken up again.
enum class LedgerEnd { finished, stopped, budget };
/// "finished", "stopped by signal" or "budget".
[[nodiscard]] const char* name_of(LedgerEnd reason);

/// A client's part in a run. Adjacent clients with the same part (a cohort) share one account.
struct LedgerAccount {
  ClientRange clients;
  LedgerBlocks blocks;  ///< spent: up to `charged`
  Round charged = 0;    ///< rounds below it count; those at and above it were not released
  Round taken_up = 0;   ///< `charged` when the run was last taken up again: no end gives those rounds back
  Round reserved = 0;   ///< the most rounds that were ever reserved
  std::optional<LedgerEnd> end;
  /// Whether both accounts are equal but for their clients.
  [[nodiscard]] bool says_the_same(const LedgerAccount& other) const;
};

struct LedgerEntry {
  LedgerRun run;
  std::string began;                         ///< UTC, as 2026-01-31T23:59:59Z
  int taken_up = 0;                          ///< how often it was taken up again
  std::map<Client, LedgerAccount> accounts;  ///< of all run.clients, by the first client of each

  [[nodiscard]] bool finished() const;  ///< all clients have
  /// The account of the client; null if the run does not have the client.
  [[nodiscard]] const LedgerAccount* find(Client client) const;
  /// Throws UsageError for a client that is not one of the run's.
  [[nodiscard]] const LedgerAccount& account(Client client) const;
};

/// The unit for which a loss is stated: the part in which two neighbouring data sets differ.
///
/// A run charges its own unit. At another level a charge becomes a bound by these rules, in which `factor` is
/// batch_units / batch, the units that count for one record. Charges of the levels record_in_each_batch and client rise
/// by the run's accumulation over all releases of the client that are charged:
///
/// | level | run of unit record or person | run of unit component |
/// | --- | --- | --- |
/// | component | the charge: the record that holds the component is replaced | the charge |
/// | record | the charge | the charge of a group of `factor` components |
/// | record_in_each_batch | the charge, risen | as for a record |
/// | client | the charge of a group of batch_units records or persons, risen | of a group of batch_units components |
/// | person | unit person: the charge; unit record: as for a client | as for a client |
///
/// A group of mechanisms with no claim for groups (`approximate`) is unbounded.
enum class LossLevel {
  component,             ///< one component of one record's gradient; it takes part once in each pass
  record,                ///< one record; it takes part once in each pass, and every run used the same records
  record_in_each_batch,  ///< a person with one record in each batch
  client,                ///< the owner of all records of the client
  person,                ///< one person of the client, with all records; takes part once in each pass
};
/// The level of the unit itself.
[[nodiscard]] LossLevel level_of(PrivacyUnit unit);

/// The entries of a ledger. Reserved rounds are charged, unless an end says that they were not released.
/// A round that a run reserved, released and, taken up again, releases once more has the same bytes and counts once.
class LedgerBook {
 public:
  [[nodiscard]] const std::vector<LedgerEntry>& entries() const { return entries_; }
  /// The run that is being written: the one that began or was taken up last. None in an empty book.
  [[nodiscard]] const LedgerEntry* at_hand() const;
  /// The id of the latest run of this (non-empty) determination that is not finished.
  [[nodiscard]] std::optional<std::string> unfinished(const std::string& determined_by) const;
  /// All clients of all runs, ascending, in ranges that are alike.
  [[nodiscard]] std::vector<ClientRange> cohorts() const;
  /// Whether two clients share their accounts in all runs: what one has spent, the other has.
  [[nodiscard]] bool alike(Client one, Client other) const;
  /// Whether a release of the client counted this unit.
  [[nodiscard]] bool has(Client client, PrivacyUnit unit) const;

  /// The charges, over all runs, to what `level` names at one client, each as a bound that holds at that level whatever
  /// unit its run counted: their composition bounds its loss. Groups of equal charges are one, in the order of their
  /// first release. `planned`: as if the run at hand had reserved that too.
  [[nodiscard]] std::vector<ChargeGroup> spent(Client client, LossLevel level,
                                               const Reservation* planned = nullptr) const;

 private:
  friend struct LedgerRules;  // changes come from rows alone

  /// Histories that ends cut, with the uncut ones, by identity and end: clients of one history who end
  /// alike go on having one, whoever stands between them.
  using Cuts = std::map<std::pair<const void*, Round>, std::pair<LedgerBlocks, LedgerBlocks>>;

  std::vector<LedgerEntry> entries_;
  std::size_t at_hand_ = 0;
  Cuts cuts_;  // of the latest rows, while they are ends
};

}  // namespace starling
