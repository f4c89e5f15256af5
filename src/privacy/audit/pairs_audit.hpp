/// Audits of noise between pairs, from a coalition's side (docs/methods/privacy.md, "Audits").
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "privacy/audit/audit_subjects.hpp"
#include "privacy/pairs/pair_graph.hpp"
#include "privacy/pairs/pair_noise.hpp"

namespace starling {

/// What the clients of an audited run know.
struct PairsAuditPlan {
  PairGraph graph = PairGraph::of(1, {});
  Client colluding = 1;       ///< K
  Round rounds = 2;           ///< T of a run
  PairNoise::Ends ends;       ///< the keys of all clients' pairs
  std::int64_t pilot = 3000;  ///< runs that show how noise really is
};

/// Runs of all clients of a graph, each of T releases of each client.
///
/// A record at +C or at −C along coordinate 0 is in batches of one client, the victim. All other records of a round
/// repeat what another client released before. Observers see all releases of all clients. They undo the correlation of
/// each client's releases, take away what is known of the data, and, of every coalition of K clients, the noise of its
/// pairs, by its own keys. What is left of the honest clients is a vector of noise and the record's part. Two numbers
/// of it are looked at: the sum that is best for the noise that is claimed, and the sum that is best for the noise that
/// a pilot has measured, over clients, rounds and two coordinates. The latter finds pairs without noise, and noise that
/// is used twice.
class PairsAudit {
 public:
  /// `mechanism` makes the releases of all clients, and must have noise between pairs. Plays the pilot's runs. Keeps a
  /// reference to the mechanism. Throws UsageError for more than 128 coalitions, or uses that T has no place for.
  PairsAudit(Mechanism& mechanism, double price, PairsAuditPlan plan, AuditKeys keys);
  ~PairsAudit();
  PairsAudit(const PairsAudit&) = delete;
  PairsAudit& operator=(const PairsAudit&) = delete;

  /// For each coalition without client `victim` the subject whose record is the victim's. Together they would know more
  /// than any K clients do. They keep a reference to the mechanism.
  [[nodiscard]] std::vector<AuditSubject> subjects(Client victim);
  /// The charge of all uses of the record together: √uses μ.
  [[nodiscard]] Charge claim() const;
  /// The variance of the sum of all clients' noise, in multiples of that of their own noise alone; and whether that is
  /// more than chance allows at 99.9 %, so that pairs do not cancel.
  struct Sum {
    double variance = 1;
    bool too_much = false;
  };
  [[nodiscard]] const Sum& sum() const;

 private:
  class Runs;
  std::shared_ptr<Runs> runs_;
};

}  // namespace starling
