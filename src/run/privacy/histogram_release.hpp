/// A release of histograms of all records before the first round (docs/methods/privacy.md, "The norm of a typical
/// record" and "Means and deviations of features").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/agreement.hpp"
#include "privacy/histograms/noisy_counts.hpp"
#include "privacy/ledger/ledger.hpp"
#include "run/settings/privacy_options.hpp"
#include "run_privacy.hpp"

namespace starling {

/// Inputs of a release of histograms.
struct HistogramFacts {
  std::string name = {};        ///< "histogram of norms", in ledgers
  std::string end = {};         ///< of the release's run id (owners_ledgers.hpp)
  NoisyCounts::Form form = {};  ///< the histograms
  double share = 0;             ///< S of a record's price, above 0
  PriceShare of_price;          ///< the same, with the uses of a record in gradients
  std::int64_t uses = 1;        ///< passes
  std::uint64_t seed = 1;
  std::string configuration = {};          ///< as RunFacts has it
  std::string public_inputs = {};          ///< likewise
  std::vector<std::string> data = {};      ///< as in RunFacts
  bool replayable = true;                  ///< whether the same command finds the same records
  std::vector<std::int64_t> records = {};  ///< of each client of this rank; a client without any releases nothing
  Round rounds_of_pass = 1;                ///< at most, of the client with most records
};

/// The variances of the noise on one count of each client that has records. **Collective.** Throws UsageError.
[[nodiscard]] Vector variances_of(Agreement& agreement, const Layout& layout, const PrivacyOptions& options,
                                  const HistogramFacts& facts);
/// The records of all clients. **Collective.**
[[nodiscard]] std::int64_t records_of(Agreement& agreement, const HistogramFacts& facts);

/// One vector of histograms of each client, entered into ledgers before it is released. It is a run of its own there,
/// since it is made before the settings of the run are known. The histograms are public once they are released: all
/// ranks gather them.
class HistogramRelease {
 public:
  /// **Collective.** Makes keys and opens ledgers: the owners', or this rank's file in `private_folder`. Throws
  /// UsageError. Keeps references.
  HistogramRelease(Agreement& agreement, const Layout& layout, const PrivacyOptions& options, HistogramFacts facts,
                   const std::string& private_folder);

  /// Whether every client's budget allows the release and a round after it, or all that --total-epsilon pays for.
  /// **Collective.**
  [[nodiscard]] bool affordable();
  /// Releases the counts of this rank's clients by this path, and gives the sum over all clients, which is added up in
  /// their order. **Collective.**
  [[nodiscard]] Vector release(ReleasePath path, const std::vector<Secret<Counts>>& counts);

 private:
  [[nodiscard]] Client number(std::size_t k) const { return layout_.first(agreement_.rank()) + static_cast<Client>(k); }
  [[nodiscard]] Ledger& ledger_of(std::size_t k) { return ledgers_[ledgers_.size() == 1 ? 0 : k]; }
  [[nodiscard]] NoisyCounts histograms(std::size_t k) const;
  [[nodiscard]] bool affordable(std::size_t k);
  [[nodiscard]] std::int64_t least_batch(std::int64_t records) const;
  [[nodiscard]] std::int64_t counted_records(std::size_t first, std::size_t count) const;
  void settle_run_id();
  void enter(std::size_t first, std::size_t count, Ledger& ledger) const;
  void enter_all();
  void close();
  [[nodiscard]] LedgerRun run_of(std::size_t first, std::size_t count) const;

  Agreement& agreement_;
  const Layout& layout_;
  const PrivacyOptions& options_;
  HistogramFacts facts_;
  std::vector<NoiseKey> keys_;
  std::vector<Ledger> ledgers_;    // one for each client, or one for all
  std::int64_t most_records_ = 0;  // of all clients
  std::optional<Prices> prices_;
  std::string determined_by_;
  std::string run_id_;
  bool taken_up_ = false;
};

}  // namespace starling
