/// The production release as a subject of audits: mechanisms from the table, neighbouring sums at the clip's extremes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "starling/privacy/audit/audit.hpp"
#include "starling/privacy/mechanism.hpp"
#include "starling/privacy/mechanism/masked_gaussian.hpp"

namespace starling {

/// The client's key in a run. Each sample of an audit is a run of its own.
using AuditKeys = std::function<NoiseKey(int side, std::int64_t sample)>;

/// Keys as production makes them: from the operating system, fresh for every run.
[[nodiscard]] AuditKeys random_audit_keys();
/// The key that `--noise-key seed` gives: the same in every run.
[[nodiscard]] AuditKeys seed_audit_keys(std::uint64_t seed);
/// A different key for every run, the same in every audit: for tests that must not depend on luck.
[[nodiscard]] AuditKeys numbered_audit_keys(std::uint64_t seed);

/// Sums of clipped gradients of two batches that count as neighbours.
struct NeighbouringSums {
  std::string name;
  std::array<Vector, 2> sums;  ///< d entries each
};

/// A gradient clipped as the model room clips it.
[[nodiscard]] Vector clipped(Vector gradient, const Clip& clip);

/// The neighbouring pairs in which a mechanism is audited. A record whose gradient lies far beyond the clip on one side
/// is replaced by its negative, the rest of the batch staying where it is: along the first coordinate; along the last,
/// with the rest at the same extreme; and (d > 1, unit record) spread over all coordinates. Under `dissertation`, whose
/// neighbours are mean gradients, one component of the mean differs by 1.
[[nodiscard]] std::vector<NeighbouringSums> neighbouring_sums(const Protection& mechanism);

/// What receivers see of one release at a price: the noisy mean, d doubles; of `dissertation` the noisy vector before
/// it is divided by its length, which in one dimension would leave its sign alone. Keeps a reference to the mechanism.
[[nodiscard]] AuditSubject release_subject(Mechanism& mechanism, double price, const NeighbouringSums& pair,
                                           const AuditKeys& keys);

/// What the aggregator reads of one masked round of all clients at a price: the noisy sum, d doubles. The pair is that
/// of client 0, all others have its side 0. Keeps a reference to the mechanism.
[[nodiscard]] AuditSubject masked_subject(MaskedGaussian& mechanism, double price, const NeighbouringSums& pair,
                                          const AuditKeys& keys);

/// One check of the audit by itself.
struct AuditSelfCheck {
  std::string name;
  bool passed = false;
  double epsilon_lower_bound = 0;  ///< at 95 %, of the pair or the fault
  std::string detail;              ///< a sentence: what was asked, and what came out
};

/// Runs the audit where the answer is known, with `mechanism` ("laplace" or "gaussian") at a loss of 1: a null pair
/// (the same input on both sides: no bound above 0 at 99.9 %), the honest pair (0.9 of its claim is recovered), and
/// every planted fault (refuted). Takes seconds.
[[nodiscard]] std::vector<AuditSelfCheck> check_audit(const std::string& mechanism, const AuditKeys& keys,
                                                      const AuditTick& tick);

}  // namespace starling
