/// Releases of clients as their owners know them: facts, keys, and the run in their ledgers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/links.hpp"
#include "privacy/accounting/prices.hpp"
#include "privacy/charge.hpp"
#include "privacy/keys/keys.hpp"
#include "privacy/mechanism/masking.hpp"
#include "run/settings/privacy_options.hpp"
#include "run_facts.hpp"

namespace starling {

class Agreement;
class Ledger;
class PairNoise;
struct Budget;
struct ClientRange;
struct LedgerRun;
struct PairRounds;
struct PairTerms;
struct Reservation;

/// A configuration, as `--print-config` writes it, without the options that change no result.
[[nodiscard]] std::string configuration_that_matters(const std::string& configuration);
/// The ends of the ids of a ledger's runs that are histograms. They stand before the run that has their result.
inline constexpr const char* end_of_norms = ":norms";
inline constexpr const char* end_of_features = ":features";
/// The ends of ids of looks at columns within the ranges that they were found in, one after the other.
inline constexpr std::array ends_of_looks{":within", ":within-2", ":within-3"};
/// Likewise of sums of scores, which stand before their run too.
inline constexpr const char* end_of_scores = ":scores";
[[nodiscard]] bool is_of_histograms(const std::string& run_id);

/// Releases of one rank's clients: their facts, prices, keys and ledgers, and the run that they are in these.
class OwnersRelease {
 public:
  OwnersRelease(Agreement& agreement, const Layout& layout, const PrivacyOptions& options, RunFacts facts);
  ~OwnersRelease();

  [[nodiscard]] const std::string& run_id() const { return run_id_; }
  /// Digest of all that determines the releases of the clients that are left; empty if they cannot be repeated.
  [[nodiscard]] const std::string& determined_by() const { return determined_by_; }
  [[nodiscard]] NoiseKeyPolicy key_policy() const;

 protected:
  [[nodiscard]] Client first() const;
  [[nodiscard]] Client count() const;
  [[nodiscard]] Client client(std::size_t k) const { return first() + static_cast<Client>(k); }
  /// This rank's clients that have their accounts in ledger i.
  [[nodiscard]] ClientRange clients_of(std::size_t i) const;
  /// Opens --ledger: a file for each of this rank's clients, or one for all. Throws UsageError.
  void open_owners_ledgers();
  /// Opens the rank's own ledger in its private folder.
  void open_own_ledger(const std::string& folder);
  /// What determines the integers and all ranks know: configuration, public inputs, prices, `more`, and the build, the
  /// mathematical library and the kind of CPU, for which bits are promised. Throws FailureError.
  [[nodiscard]] std::string matter(const std::string& more = "") const;
  /// **Collective.** Digest of `matter` and of the records of the clients with these keys, by keyed digests, which tell
  /// nobody anything. `data` has digests of each client's records, or one of those that all clients share; so the
  /// result is the same for any layout. Empty unless this rank's records can be read again.
  [[nodiscard]] std::string digest_of(const std::string& matter, const std::vector<NoiseKey>& keys,
                                      const std::vector<std::string>& data) const;
  /// **Collective.** Takes up the run that all ledgers with clients know by determined_by_ as unfinished; else makes a
  /// new id, with this end.
  void settle_run_id(const std::string& end = "");
  /// Makes the noise that the run's pairs share on these terms and in these rounds, by keys of the run's id and
  /// determination: other integers have other noise. Runs that cannot be repeated have no determination, and never
  /// release a round twice.
  /// **Collective.** Throws as agree_on_pair_keys.
  void agree_on_pairs(const PairTerms& terms, PairRounds rounds);
  /// Writes the public keys of the pairs, as this rank received them, to a file; a rank without clients has none.
  void store_public_keys_of_pairs(const std::string& path) const;
  /// The run as new in a ledger of these clients: without parameters and sizes.
  [[nodiscard]] LedgerRun new_run(const ClientRange& clients) const;
  /// Charges of a client: one of a release of all its records at once, where there is one, and those of its rounds.
  struct PlannedCharges {
    std::optional<Charge> at_once = {};  ///< of one record
    std::int64_t counted = 1;            ///< the records that the ledger counts in it
    Charge of_round;                     ///< of one record
    std::int64_t records = 1;
    Round of_pass = 1;  ///< rounds
    std::int64_t passes = 1;
  };
  /// Whether this budget of client u allows what its ledger has, these charges at once, and a round after them, or all
  /// under --total-epsilon: a release before rounds is of no use alone.
  [[nodiscard]] bool affords(Client u, const Budget& budget, const PlannedCharges& planned) const;
  /// The row that reserves one release of all records of client u in a ledger. `of` names what is released.
  [[nodiscard]] static Reservation at_once(Client u, const Charge& charge, const char* of);
  /// The ledger of client u, which is one of this rank's.
  [[nodiscard]] const Ledger& ledger_of(Client u) const;

  Agreement& agreement_;
  const Layout& layout_;
  PrivacyOptions options_;
  RunFacts facts_;
  std::optional<Prices> prices_;
  std::vector<NoiseKey> keys_;
  std::vector<Ledger> ledgers_;  ///< one for each client, or one for all
  std::string determined_by_;
  std::string run_id_;
  bool taken_up_ = false;                             ///< a run that was not finished goes on
  std::shared_ptr<PairNoise> pair_noise_;             ///< under --trust pairs
  std::vector<MaskKey::Bytes> public_keys_of_pairs_;  ///< of all clients
};

}  // namespace starling
