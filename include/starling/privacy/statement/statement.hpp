/// What a run says about privacy: the figures, and a paragraph that a lawyer and a statistician can both read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "starling/privacy/accounting/spending.hpp"
#include "starling/privacy/audit/one_run.hpp"
#include "starling/privacy/mechanism.hpp"
#include "starling/privacy/statement/trust.hpp"

namespace starling {

/// Where the clients' noise keys come from. `seed`: from a public number, so that anybody can take the noise off again.
enum class NoiseKeyPolicy { random, seed, file };

/// "random", "seed" or "file".
[[nodiscard]] const char* name_of(NoiseKeyPolicy policy);
/// "record" or "component".
[[nodiscard]] const char* name_of(PrivacyUnit unit);

/// Where the releases of a run were entered before they were made.
struct LedgerReport {
  enum class Scope {
    none,   ///< nowhere
    run,    ///< in the run's own private folder: the figures of this run only
    owner,  ///< in a ledger that the owner of the data keeps beyond runs
  };
  Scope scope = Scope::none;
  std::string path;                ///< as --ledger has it
  std::vector<std::string> heads;  ///< of each rank that has one: what a later verification can be told to expect
  PrivacyLoss client;              ///< over all runs in it, worst client; all its records taken together
  PrivacyLoss record;              ///< over all runs in it, worst unit, had every run used the same records
  std::int64_t earlier_runs = 0;   ///< most runs before this one in any of the ledgers
};

/// A budget, and whom it stopped.
struct BudgetReport {
  double least = 0;                    ///< ε, of the client with the least
  double most = 0;                     ///< and of that with the most
  bool of_client = true;               ///< the loss of all records of a client together is what it limits
  std::int64_t stopped = 0;            ///< clients that it kept from learning on
  std::optional<Round> stopped_after;  ///< rounds after which it stopped the first of them
};

/// The privacy figures of a run, of the client for whom each is largest. Infinite where nothing is protected (null in
/// JSON).
struct PrivacyReport {
  std::string mechanism;    ///< name in mechanism_table
  std::string description;  ///< the mechanism's own sentence
  NoiseKeyPolicy noise_key = NoiseKeyPolicy::random;
  PrivacyUnit unit = PrivacyUnit::record;
  std::string neighbours;  ///< completes "two data sets count as neighbours if …"
  PrivacyLoss release;     ///< one release at the highest price of the run
  bool same_price = true;  ///< all releases cost the same
  ClientLosses losses;     ///< by the whole run
  std::int64_t clients = 0;
  std::size_t batch = 1;
  std::size_t dimension = 1;
  int vectors = 1;  ///< that a release is made of at most
  double clip = 0;
  std::string run_id;
  Trust trust;
  std::vector<std::string> shared_metrics;  ///< numbers from private records that were shared without noise
  bool public_data = false;                 ///< the records are synthetic or were declared public
  /// The part of records by which they were dealt to clients ("their labels", "column 'x'"); empty if none decides.
  std::string dealt_by;
  LedgerReport ledger;
  std::optional<BudgetReport> budget;
  std::optional<OneRunResult> audit;  ///< of a run with canaries

  /// Of the unit: a record, or a component.
  [[nodiscard]] const PrivacyLoss& own() const {
    return unit == PrivacyUnit::record ? losses.record : losses.component;
  }
  /// Whether the figures protect anything: there is noise, and nobody else can compute it.
  [[nodiscard]] bool is_private() const;
};

/// Fills in what the mechanism and the worst client's losses say; `mechanism_name` is the name in the table. The rest
/// is left to the caller. `delta` is what the user chose, if so. Throws UsageError for impossible counts.
[[nodiscard]] PrivacyReport privacy_report(const Protection& mechanism, const std::string& mechanism_name,
                                           NoiseKeyPolicy noise_key, const ClientLosses& worst, std::int64_t clients,
                                           std::optional<double> delta);

/// One paragraph: what is protected, by what, how much is lost, and what is not covered. Losses are rounded up.
[[nodiscard]] std::string statement(const PrivacyReport& report);

}  // namespace starling
