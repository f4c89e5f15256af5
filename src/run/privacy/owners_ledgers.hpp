/// Runs in the ledgers of the data's owners: which files these are, and which run is the same one again.
#pragma once

#include <string>
#include <vector>

#include "core/links.hpp"
#include "net/agreement.hpp"
#include "privacy/keys/keys.hpp"
#include "privacy/ledger/ledger.hpp"

namespace starling {

/// A configuration, as `--print-config` writes it, without the options that change no result.
[[nodiscard]] std::string configuration_that_matters(const std::string& configuration);

/// **Collective.** Digest of all that determines a run's integers: of `matter`, which all ranks know, and of the
/// clients' records by keyed digests, which tell nobody anything. `data` has digests of each client's records, or one
/// of those that all clients share; so the result is the same for any layout. Empty unless this rank's records can be
/// read again.
[[nodiscard]] std::string determination_of(Agreement& agreement, const std::string& matter,
                                           const std::vector<NoiseKey>& keys, const std::vector<std::string>& data,
                                           bool replayable);
/// The ends of the ids of a ledger's runs that are histograms. They stand before the run that has their result.
inline constexpr const char* end_of_norms = ":norms";
inline constexpr const char* end_of_features = ":features";
[[nodiscard]] bool is_of_histograms(const std::string& run_id);
/// The build, the mathematical library and the kind of CPU, for which bits are promised.
[[nodiscard]] std::string build_that_matters();
/// One ledger for each of this rank's clients, or one for all, as --ledger `path` says. Throws UsageError.
[[nodiscard]] std::vector<Ledger> open_owners_ledgers(const std::string& path, const Layout& layout, int rank);
/// **Collective.** The id of the run that all ledgers with clients know by this determination as unfinished; empty if
/// there is none, or they differ.
[[nodiscard]] std::string unfinished_in_all(Agreement& agreement, const Layout& layout,
                                            const std::vector<Ledger>& ledgers, const std::string& determined_by);

}  // namespace starling
