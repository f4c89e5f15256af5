/// Long-term constraints in a round (docs/methods/constraints.md): the released gradient becomes the gradient of the
/// Lagrangian, and duals follow the constraints' values. Mirror step, mass, debt and mixing do not change.
///
/// Dual variables are functions of released values: a constraint that depends on records is released by a second part
/// of the round's release, and the released value raises its dual (docs/methods/constraints.md, "Privacy").
#pragma once

#include <vector>

#include "core/boundary.hpp"
#include "core/columns.hpp"
#include "core/links.hpp"
#include "core/snapshot.hpp"
#include "privacy/keys/keys.hpp"
#include "protocol/constraints/constraint_set.hpp"
#include "protocol/constraints/dual_settings.hpp"

namespace starling {

class Agreement;
class PairedMechanism;

/// The next multiplier: λ ← max(0, λ + ρ η_t (c − γ η_t λ)), at most Λ (docs/methods/constraints.md, "Saddle point";
/// dissertation, algorithm of chapter 3, step 14).
[[nodiscard]] double next_multiplier(double lambda, double eta, double c, const DualSettings& settings);

/// The next queue: Q ← max(0, Q + c̃) (docs/methods/constraints.md, "Virtual queue"; dissertation, algorithm of chapter
/// 4, step 11).
[[nodiscard]] double next_queue(double queue, double c);

/// The constraints and duals of one rank's clients. In each round call, for a client that steps, arrive() before its
/// gradient is computed and bend() after the release.
class LongTermConstraints {
 public:
  /// For `clients` clients. `pair` is the run's mechanism if constraints depend on records, else null; its second part
  /// has second_dimension() entries. Keeps the pointer.
  LongTermConstraints(ConstraintSet set, const DualSettings& settings, PrivateConstraint how, std::size_t clients,
                      PairedMechanism* pair, std::size_t batch);

  /// Entries of the second part of a round's release; 0 if no constraint depends on records.
  [[nodiscard]] static std::size_t second_dimension(const ConstraintSet& set, PrivateConstraint how);

  /// Makes the multipliers of public constraints common to all `clients` of the run: they follow the mean value over
  /// all clients, which takes a server, or as here a sum over all ranks in each round. Not for queues. Keeps the
  /// reference.
  void share(Agreement& agreement, Client clients);
  /// After the steps of a round: raises shared multipliers. **Collective** where they are shared; else nothing.
  void agree(double eta);

  /// Client k is about to play x: adds c(x) of public constraints to their virtual queues.
  void arrive(std::size_t k, View x);

  /// For the composite variant: weight of each data constraint's ∇c in a record's gradient, beside ∇f of weight 1.
  [[nodiscard]] View record_weights() const { return record_weights_.value(); }
  [[nodiscard]] const ConstraintSet& set() const { return set_; }
  [[nodiscard]] PrivateConstraint how() const { return how_; }

  /// After the first part of the release: turns `gradient` from ĝ into the gradient of the Lagrangian at x,
  ///
  ///   ∇f + Σ_j λ_j ∇c_j   or   V'∇f + Σ_j Q_j ∇c_j      (dissertation, steps 10 and 8 of the two algorithms),
  ///
  /// and raises the duals. `address` is the address of the first part, `eta` is η_t.
  void bend(std::size_t k, const ReleaseAddress& address, double price, const NoiseKey& key, double eta, View x,
            const Secret<Batch>& batch, Released<Vector>& gradient);

  /// λ or Q: one column per client, one entry per constraint on models.
  [[nodiscard]] const Released<Columns>& duals() const { return duals_; }
  /// Σ_t c_u,t(x_u,t) of public constraints over the rounds in which the client took a step: one column per client.
  [[nodiscard]] const Released<Columns>& public_totals() const { return public_totals_; }
  /// Σ_t c_u,t(x_u,t) of constraints on data, without noise: one vector per client.
  [[nodiscard]] const std::vector<Secret<Vector>>& private_totals() const { return private_totals_; }
  void persist(Snapshot& snapshot) { snapshot.of_clients(has_played_, duals_, public_totals_, private_totals_); }

 private:
  void add_public(std::size_t k, double eta, View x, Released<Vector>& gradient);
  void add_private(std::size_t k, double eta, View x, Released<Vector>& gradient);
  void release_second(const ReleaseAddress& address, double price, const NoiseKey& key, View x,
                      const Secret<Batch>& batch);
  [[nodiscard]] double next(double dual, double eta, double c) const;

  ConstraintSet set_;
  DualSettings settings_;
  PrivateConstraint how_;
  PairedMechanism* pair_;
  double batch_;
  Agreement* shared_ = nullptr;  ///< where multipliers are shared
  double all_clients_ = 1;
  Released<Columns> values_;  ///< of this round, where multipliers are shared: a column per client
  std::vector<char> has_played_;
  Released<Columns> duals_;
  Released<Columns> public_totals_;
  std::vector<Secret<Vector>> private_totals_;
  Released<Vector> record_weights_;  ///< of the current client
  Secret<Vector> sum_;               ///< sum of the second part
  Released<Vector> noisy_;           ///< release of the second part
};

}  // namespace starling
