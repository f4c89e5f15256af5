/// The privacy statement of a run: its figures, and a paragraph for readers without mathematics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clients/membership.hpp"
#include "privacy/accounting/spending.hpp"
#include "privacy/audit/one_run.hpp"
#include "privacy/identity/members.hpp"
#include "privacy/statement/terms.hpp"
#include "privacy/statement/trust.hpp"

namespace starling {

class Protection;

/// The ledger of a run.
struct LedgerReport {
  enum class Scope {
    none,   ///< nowhere
    run,    ///< in the run's own private folder: the figures of this run only
    owner,  ///< in a ledger that the owner of the data keeps beyond runs
  };
  Scope scope = Scope::none;
  std::string path;                ///< as --ledger has it
  std::vector<std::string> heads;  ///< last hash of each ledger, for `starling privacy ledger --expect`
  PrivacyLoss client;              ///< over all runs in it, worst client; all its records taken together
  PrivacyLoss record;              ///< over all runs in it, worst unit, had every run used the same records
  std::int64_t earlier_runs = 0;   ///< most runs before this one in any of the ledgers
};

/// A budget, and its effect.
struct BudgetReport {
  double least = 0;                    ///< ε, smallest of all clients
  double most = 0;                     ///< ε, largest of all clients
  bool of_client = true;               ///< limits the loss of all records of a client together
  std::int64_t stopped = 0;            ///< number of clients that it stopped
  std::optional<Round> stopped_after;  ///< rounds after which it stopped the first client
};

/// Histograms of all records, released once before the first round, or sums over them after the last (NoisyCounts).
struct HistogramReport {
  double share = 0;     ///< as --scale-share, --feature-share or --score-share has it
  PrivacyLoss record;   ///< what they cost a record, at the highest price of the run
  bool labels = false;  ///< whether labels are counted too, beside norms by their magnitudes
  Counted counted = Counted::norms;
};

/// The privacy figures of a run, each for the client with the largest. Infinite where nothing is protected (null in
/// JSON).
struct PrivacyReport {
  std::string mechanism;    ///< name in mechanism_table
  std::string description;  ///< the mechanism's own sentence
  NoiseKeyPolicy noise_key = NoiseKeyPolicy::random;
  PrivacyUnit unit = PrivacyUnit::record;
  bool persons_in_slots = false;  ///< batches have records, which are gathered by person
  std::string neighbours;         ///< completes "two data sets count as neighbours if …"
  PrivacyLoss release;            ///< one release at the highest price of the run
  bool same_price = true;         ///< all releases cost the same
  ClientLosses losses;            ///< by the whole run
  std::int64_t clients = 0;
  std::optional<PrivacyLoss> at_all_clients;  ///< of a person with records at every client, where persons are shared
  std::optional<std::int64_t> units;          ///< of all clients together, where that is known
  std::size_t batch = 1;
  std::size_t dimension = 1;
  int vectors = 1;  ///< most vectors in one release
  double clip = 0;
  std::string run_id;
  std::vector<Membership::Change> joins;  ///< clients that were not there at first
  Trust trust;
  std::vector<std::string> shared_metrics;  ///< numbers from private records that were shared without noise
  std::optional<Members> members;           ///< who have proved who they are; none of runs without --members
  bool public_data = false;                 ///< the records are synthetic or were declared public
  /// The part of a record that decides its client ("their labels", "column 'x'"); empty if no part decides.
  std::string dealt_by;
  std::optional<ClientWeights> client_weights;  ///< where clients may be weighted
  bool own_model = false;                       ///< gradients come from code of the user
  bool personal = false;                        ///< clients keep personal models, which have no noise
  std::optional<HistogramReport> norms;         ///< of norms, counted in `losses`
  std::optional<HistogramReport> features;      ///< of every feature, likewise
  std::optional<HistogramReport> scores;        ///< sums of scores, likewise
  LedgerReport ledger;
  std::optional<BudgetReport> budget;
  std::optional<OneRunResult> audit;  ///< of a run with canaries

  /// The loss of the unit: a record, a person, or a component.
  [[nodiscard]] const PrivacyLoss& own() const { return is_whole(unit) ? losses.record : losses.component; }
  /// Whether the figures protect anything: there is noise, and nobody else can compute it.
  [[nodiscard]] bool is_private() const;
};

/// The report with the figures of the mechanism and of the worst client; `mechanism_name` is the name in the table. The
/// rest is left to the caller. `delta` is what the user chose, if so. Throws UsageError for impossible counts.
[[nodiscard]] PrivacyReport privacy_report(const Protection& mechanism, const std::string& mechanism_name,
                                           NoiseKeyPolicy noise_key, const ClientLosses& worst, std::int64_t clients,
                                           std::optional<double> delta);

/// Four lines for people: who is protected, how much, from whom, and what is not covered. Losses are rounded up.
[[nodiscard]] std::vector<std::string> in_short(const PrivacyReport& report);

/// A line for each figure that protects little: δ above 1 / units, ε above 10. None of what protects nothing at all.
[[nodiscard]] std::vector<std::string> weaknesses_of(const PrivacyReport& report);

/// Why the figures protect nobody, as sentences; empty where they do.
[[nodiscard]] std::string verdict(const PrivacyReport& report);

/// One paragraph: what is protected, by what, how much is lost, and what is not covered. Losses are rounded up.
[[nodiscard]] std::string statement(const PrivacyReport& report);

}  // namespace starling
