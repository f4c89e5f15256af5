/// Choices and facts of a run that its privacy statement names.
#pragma once

#include <cstdint>

namespace starling {

/// The source of the clients' noise keys. With `seed` (a public number), anybody can remove the noise.
enum class NoiseKeyPolicy { random, seed, file };

/// "random", "seed" or "file".
[[nodiscard]] const char* name_of(NoiseKeyPolicy policy);

/// The values in the second histograms of a run: norms of records, labels, all columns within their ranges, or either
/// norms or columns, where the settings of a run do not tell these apart.
enum class Counted { norms, labels, columns, norms_or_columns };

/// The messages between ranks that are encrypted and authenticated.
enum class SealedMessages { none, one_host, between_hosts, all };

/// "off", "one host", "between hosts" or "all".
[[nodiscard]] const char* name_of(SealedMessages sealed);

/// The trust model: the parties that see values without noise.
enum class TrustModel {
  none,       ///< every recipient of a message: nothing is protected
  local,      ///< nobody: each client adds noise before it sends
  pairs,      ///< nobody; but clients that collude see less noise of those that do not
  central,    ///< the operator of the aggregator, rank 0
  curvature,  ///< the operator of rank 0, but only sums of curvatures, at the end
  masked,     ///< nobody; but colluding clients, and rank 0 for its own clients, see less noise
  paper,      ///< the operator of the aggregator; the noise is that of a paper
};

/// "none", "local", "pairs", "central", "central-curvature", "masked" or "paper".
[[nodiscard]] const char* name_of(TrustModel model);

/// Vertical learning: parties that hold columns of the same records, and rank 0 (client 0) as their fusion centre
/// (docs/methods/vertical.md).
struct VerticalFacts {
  bool labels_known_to_all = false;  ///< else client 0 alone knows them, and its releases protect them
  std::int64_t parties = 1;          ///< K: clients 1 … K
  std::int64_t local_steps = 1;      ///< E: gradients that a party's network learns from in a round
  bool baseline_central = false;     ///< parties send raw columns in place of embeddings; nothing is protected
  std::int64_t person_rows = 1;      ///< rows of a person in a round, under unit person
  /// Parties learn on additive shares, with client 0 as dealer, who has no data. Sums over all records are opened, each
  /// to the party with the columns. A release covers the columns of all parties and the label.
  bool on_shares = false;
  bool matched_in_private = false;  ///< parties found their common records by blinded ids
  /// Clients whose releases are computed from data of their own: the parties, and client 0 where labels are not known
  /// to all.
  [[nodiscard]] std::int64_t holders() const {
    if (on_shares) return 1;  // each release covers all columns
    return parties + (labels_known_to_all ? 0 : 1);
  }
};

}  // namespace starling
