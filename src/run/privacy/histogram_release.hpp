/// A release of histograms of all records before the first round (docs/methods/privacy.md, "The norm of a typical
/// record" and "Means and deviations of features").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "owners_release.hpp"
#include "privacy/histograms/noisy_counts.hpp"
#include "run_prices.hpp"

namespace starling {

/// Inputs of a release of histograms.
struct HistogramFacts {
  std::string name = {};                   ///< "histogram of norms", in ledgers
  std::string end = {};                    ///< of the release's run id (owners_release.hpp)
  NoisyCounts::Form form = {};             ///< the histograms
  double share = 0;                        ///< S of a record's price, above 0
  PriceShare of_price;                     ///< the same, with the uses of a record in gradients
  std::int64_t uses = 1;                   ///< passes
  RunFacts run = {};                       ///< of the run that follows
  std::vector<std::int64_t> records = {};  ///< of each client of this rank
  Round rounds_of_pass = 1;                ///< at most, of the client with most records
};

/// The variances of the noise on one count in the sum, of each client: that of its own, as noise between pairs cancels.
/// Clients without records have none, unless they share noise with others. **Collective.** Throws UsageError.
[[nodiscard]] Vector variances_of(Agreement& agreement, const Layout& layout, const PrivacyOptions& options,
                                  const HistogramFacts& facts);
/// The records of all clients. **Collective.**
[[nodiscard]] std::int64_t records_of(Agreement& agreement, const HistogramFacts& facts);

/// One vector of histograms of each client, entered into ledgers before it is released. It is a run of its own there,
/// since it is made before the settings of the run are known. The histograms are public once they are released: all
/// ranks gather them. Under --trust pairs clients share noise, by keys of the release's own, and those without records
/// release zeros.
class HistogramRelease : public OwnersRelease {
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
  [[nodiscard]] std::int64_t records(Client u) const {
    return histograms_.records[static_cast<std::size_t>(u - first())];
  }
  /// Whether a client with so many records releases anything.
  [[nodiscard]] bool releases(std::int64_t records) const { return records > 0 || facts_.pairs != nullptr; }
  [[nodiscard]] NoisyCounts counts_of(Client u) const;
  [[nodiscard]] bool has_paid(Client u) const;
  [[nodiscard]] bool affordable(Client u, std::size_t ledger, double budget) const;
  [[nodiscard]] std::int64_t counted_records(const ClientRange& clients) const;
  void enter(const ClientRange& clients, Ledger& ledger) const;
  void close();
  [[nodiscard]] LedgerRun run_of(const ClientRange& clients) const;

  HistogramFacts histograms_;
  std::string private_folder_;
  std::int64_t most_records_ = 0;  // of all clients
};

}  // namespace starling
