/// Audit subjects: the releases of mechanisms on neighbouring sums at the extremes of the clip.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "privacy/audit/audit.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/mechanism/masked_gaussian.hpp"

namespace starling {

/// The client's noise key in a run. Each sample of an audit is a run of its own.
using AuditKeys = std::function<NoiseKey(int side, std::int64_t sample)>;

/// Keys as production makes them: from the operating system, fresh for every run.
[[nodiscard]] AuditKeys random_audit_keys();
/// The key that `--noise-key seed` gives: the same in every run.
[[nodiscard]] AuditKeys seed_audit_keys(std::uint64_t seed);

/// The sums of clipped gradients of two neighbouring batches.
struct NeighbouringSums {
  std::string name;
  std::array<Vector, 2> sums;  ///< d entries each
};

/// A gradient clipped as the model module clips it.
[[nodiscard]] Vector clipped(Vector gradient, const Clip& clip);

/// The neighbouring pairs in which a mechanism is audited. A record whose gradient lies far beyond the clip on one side
/// is replaced by its negative, the rest of the batch staying where it is: along the first coordinate; along the last,
/// with the rest at the same extreme; and (d > 1, unit record) spread over all coordinates. Where the
/// neighbours are mean gradients (MechanismRow::about_means), one component of the mean differs by 1.
[[nodiscard]] std::vector<NeighbouringSums> neighbouring_sums(const Protection& mechanism);

/// One release at a price, as receivers see it: the noisy mean, d doubles. Where the mechanism divides the noisy vector
/// by its length, the vector before that, because in one dimension only the sign would be left. Keeps a reference to
/// the mechanism.
[[nodiscard]] AuditSubject release_subject(Mechanism& mechanism, double price, const NeighbouringSums& pair,
                                           const AuditKeys& keys);

/// One masked round of all clients at a price, as the aggregator reads it: the noisy sum, d doubles. The pair is that
/// of client 0; all other clients have side 0 of it. Keeps a reference to the mechanism.
[[nodiscard]] AuditSubject masked_subject(MaskedGaussian& mechanism, double price, const NeighbouringSums& pair,
                                          const AuditKeys& keys);

}  // namespace starling
