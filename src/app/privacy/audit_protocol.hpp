/// A protocol as a subject of audits: what a client's neighbour sees of a whole, small run. Internal to the app room.
#pragma once

#include <memory>
#include <vector>

#include "starling/net/world.hpp"
#include "starling/privacy/audit/audit_subjects.hpp"
#include "starling/privacy/audit/one_run.hpp"

namespace starling {

/// Runs of decentralized online mirror descent of two clients in this process, which send each other half of what they
/// have: client 0 learns from records, client 1 has none and looks on. Both start at zero. What client 1 holds after
/// each round is what it has been sent, and its own past.
///
/// In round 0 one of client 0's m records is a point far out, or its negative: the gradient of either is far beyond the
/// clip. All other records are the same on both sides.
class OmdAudit {
 public:
  OmdAudit(World& world, Round rounds);
  ~OmdAudit();

  /// Client 1's models after each round, rounds × d doubles. Keeps references to this and to the mechanism.
  [[nodiscard]] AuditSubject subject(Mechanism& mechanism, double price, const AuditKeys& keys);
  /// One run of so many rounds with a canary in each.
  [[nodiscard]] CanaryLog run_with_canaries(Mechanism& mechanism, double price, const NoiseKey& key, Round rounds);

 private:
  struct Network;
  std::unique_ptr<Network> network_;
  Round rounds_;
};

/// As check_audit, through the protocol: the null pair, the honest pair and every planted fault, two rounds each.
[[nodiscard]] std::vector<AuditSelfCheck> check_protocol_audit(World& world, const std::string& mechanism,
                                                               const AuditKeys& keys, const AuditTick& tick);

}  // namespace starling
