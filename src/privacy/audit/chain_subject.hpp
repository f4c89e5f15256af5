/// Audit subjects of correlated noise: all releases of one client (docs/methods/privacy.md, "Audits").
#pragma once

#include <vector>

#include "privacy/audit/audit_subjects.hpp"

namespace starling {

/// The rounds of an audited chain of releases.
struct ChainPlan {
  Round rounds = 16;     ///< T, of one life
  Round first_use = 0;   ///< round in which the record that differs is used first
  int lives = 1;         ///< 1, or more: after the last round, the client goes on from its checkpoint with other data
  Round checkpoint = 0;  ///< rounds that are done in the checkpoint; all uses come before it
};

/// The chains that audits look at: a record used as often as the correlation allows; and, where that is once, three
/// lives from a checkpoint after its use. `rounds` must leave place for the uses.
[[nodiscard]] std::vector<ChainPlan> chain_plans(const NoiseCorrelation& correlation, Round rounds);

/// All releases of client 0 in a run under correlated noise: coordinate 0 of every mean, T doubles for the first life
/// and T − checkpoint for each other.
///
/// A record at +C or at −C along coordinate 0 is in the batch of its rounds. All batches but those of a single such
/// record hold another record, whose gradient is the release before, clipped: data that depend on what was released.
/// A new life begins as production begins one with other data: the mechanism is read from the checkpoint, then
/// `begin_chains`. Its records are the negatives of releases, but in the first round of the last life, which has the
/// data that it had in the first.
///
/// Before the releases stand numbers that an observer computes from them: the statistic Σ_t h_t (C y)_t/‖h‖, h = C 1
/// over the uses, which is the best for honest noise; the same as if all lives were one chain; what the two releases of
/// the checkpoint's round show of the noise that the first took back; and whether the noise that each side implies is
/// nearer to whole numbers. Keeps a reference to the mechanism. Throws UsageError where the settings have no
/// correlation, or the plan no place for the uses.
[[nodiscard]] AuditSubject chain_subject(Mechanism& mechanism, double price, const ChainPlan& plan,
                                         const AuditKeys& keys);

/// The charge of all uses of the record together: √uses μ.
[[nodiscard]] Charge chain_claim(const Mechanism& mechanism, double price);

}  // namespace starling
