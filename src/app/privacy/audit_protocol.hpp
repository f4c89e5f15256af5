/// A protocol as an audit subject: the view of a client's neighbour in a whole, small run.
#pragma once

#include <memory>

#include "net/world.hpp"
#include "privacy/audit/audit_subjects.hpp"
#include "privacy/audit/one_run.hpp"

namespace starling {

/// Runs of decentralized online mirror descent with two clients in this process. Each sends the other half of its
/// model. Client 0 learns from records; client 1 has none and observes. Both start at zero. Client 1's model after each
/// round is made of the messages that it received, and of its own past.
///
/// In round 0 one of client 0's m records is a point far out, or its negative: the gradient of either is far beyond the
/// clip. All other records are the same on both sides.
class OmdAudit {
 public:
  OmdAudit(World& world, Round rounds);
  ~OmdAudit();

  /// Client 1's models after each round, rounds × d doubles. Keeps references to this and to the mechanism.
  [[nodiscard]] AuditSubject subject(Mechanism& mechanism, double price, const AuditKeys& keys);
  /// One run of `rounds` rounds with a canary in each.
  [[nodiscard]] CanaryLog run_with_canaries(Mechanism& mechanism, double price, const NoiseKey& key, Round rounds);

 private:
  struct Network;
  std::unique_ptr<Network> network_;
  Round rounds_;
};

}  // namespace starling
