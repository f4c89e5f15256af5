/// The release of histograms of norms before the first round (docs/methods/privacy.md, "The norm of a typical record").
#pragma once

#include "app/settings/privacy_options.hpp"
#include "run_privacy.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "starling/net/agreement.hpp"
#include "starling/privacy/ledger/ledger.hpp"
#include "starling/privacy/mechanism/norm_histogram.hpp"

namespace starling {

/// What a release of norms depends on.
struct NormFacts {
  double share = 0.01;    ///< S, above 0
  std::int64_t uses = 1;  ///< of a record in gradients: passes
  std::uint64_t seed = 1;
  std::string configuration;          ///< as RunFacts has it
  std::string public_inputs;          ///< likewise
  std::vector<std::string> data;      ///< as in RunFacts
  bool replayable = true;             ///< whether the same command finds the same records
  std::vector<std::int64_t> records;  ///< of each client of this rank; a client without any releases nothing
  Round rounds_of_pass = 1;           ///< at most, of the client with most records
  bool labels = false;                ///< whether magnitudes of labels are counted too
};

/// The norms of a typical record of all clients; none where too few records stand out of the noise.
struct TypicalNorms {
  std::optional<double> l2;
  std::optional<double> l1;     ///< under Laplace noise
  std::optional<double> label;  ///< of typical labels, where they are counted: the upper end of the median bin
};

/// One histogram of each client, entered into ledgers before it is released. It is a run of its own there, since it is
/// made before the settings of the run are known. The histograms are public once they are released: all ranks gather
/// them, and add them up in the order of the clients.
class NormRelease {
 public:
  /// **Collective.** Makes keys and opens ledgers: the owners', or this rank's file in `private_folder`. Throws
  /// UsageError. Keeps references.
  NormRelease(Agreement& agreement, const Layout& layout, int rank, const PrivacyOptions& options, NormFacts facts,
              const std::string& private_folder);

  /// Whether every client's budget allows the release and a round after it, or all that --total-epsilon pays for.
  /// **Collective.**
  [[nodiscard]] bool affordable();
  /// Releases the counts of this rank's clients by this path. **Collective.**
  [[nodiscard]] TypicalNorms release(ReleasePath path, const std::vector<Secret<NormCounts>>& counts);

 private:
  [[nodiscard]] Client number(std::size_t k) const { return layout_.first(rank_) + static_cast<Client>(k); }
  [[nodiscard]] Ledger& ledger_of(std::size_t k) { return ledgers_[ledgers_.size() == 1 ? 0 : k]; }
  [[nodiscard]] NormHistogram histogram(std::size_t k) const;
  [[nodiscard]] bool affordable(std::size_t k);
  [[nodiscard]] std::int64_t least_batch(std::int64_t records) const;
  void settle_run_id();
  void enter(std::size_t first, std::size_t count, Ledger& ledger) const;
  void enter_all();
  void close();
  [[nodiscard]] LedgerRun run_of(std::size_t first, std::size_t count) const;

  Agreement& agreement_;
  const Layout& layout_;
  int rank_;
  const PrivacyOptions& options_;
  NormFacts facts_;
  NormShare share_;
  std::vector<NoiseKey> keys_;
  std::vector<Ledger> ledgers_;  // one for each client, or one for all
  std::optional<Prices> prices_;
  std::string determined_by_;
  std::string run_id_;
  bool taken_up_ = false;
};

}  // namespace starling
