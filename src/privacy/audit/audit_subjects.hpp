/// Audit subjects: the releases of mechanisms on neighbouring sums at the extremes of the clip.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "privacy/audit/audit.hpp"
#include "privacy/audit/planted_faults.hpp"
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

/// The result of one check of the audit by itself.
struct AuditSelfCheck {
  std::string name;
  bool passed = false;
  double epsilon_lower_bound = 0;  ///< at 95 %, of the pair or the fault
  std::string detail;              ///< a sentence: the requirement and the result
};

/// The audit's checks of itself: the subject that is made of a mechanism, and the samples for each check.
struct SelfCheckPlan {
  std::function<AuditSubject(Mechanism&, double price)> subject;
  std::string honest = "the honest pair";  ///< the name of the check of the honest mechanism
  std::int64_t null_samples = 20'000;
  std::int64_t honest_samples = 100'000;
  std::int64_t faulty_samples = 20'000;
  double share_to_recover = 0.9;  ///< the share of the claim that the bound of the honest mechanism must reach
  std::optional<NoiseCorrelation> correlation = {};  ///< of the mechanisms' noise
  std::vector<PlantedFaultRow> faults = planted_faults();
};
/// The plan for releases by themselves.
[[nodiscard]] SelfCheckPlan check_of_releases(const AuditKeys& keys);

/// Audits where the answer is known, at a loss of 1: a null pair (the same input on both sides: no bound above 0 at
/// 99.9 %), the honest mechanism (the bound reaches the plan's share of the claim), and every planted fault (refuted).
/// The worst case of the mechanism must be the plan's subject. Takes seconds.
[[nodiscard]] std::vector<AuditSelfCheck> check_audit(const MechanismRow& mechanism, const SelfCheckPlan& plan,
                                                      const AuditTick& tick);

}  // namespace starling
