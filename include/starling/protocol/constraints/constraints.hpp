/// The duals of one rank's clients, and what constraints change in a round (method 2): the released gradient becomes
/// that of the Lagrangian, and duals follow the constraints' values. Mirror step, mass, debt and mixing know nothing of
/// it.
///
/// Dual variables are functions of released values: a constraint that depends on records is released by a second part
/// of the round's release, and its dual is raised by what was released (method 2, "Privacy").
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/links.hpp"
#include "starling/core/snapshot.hpp"
#include "starling/model/model.hpp"
#include "starling/privacy/mechanism/paired_mechanism.hpp"
#include "starling/protocol/constraints/constraint.hpp"
#include "starling/protocol/constraints/constraint_dual.hpp"

namespace starling {

/// How constraints that depend on records are released.
enum class PrivateConstraint {
  separate,   ///< ∇f, and the data vector â by itself (variant B)
  composite,  ///< ∇f + λ∇c clipped as one vector, and the scalar c (variant A)
};

class LongTermConstraints {
 public:
  /// For `clients` clients. `pair` is the run's mechanism where constraints depend on records (its second part has
  /// second_dimension() entries), else null. Keeps the reference.
  LongTermConstraints(ConstraintSet set, const DualSettings& settings, PrivateConstraint how, std::size_t clients,
                      PairedMechanism* pair, std::size_t batch);

  /// Entries of the second part of a round's release; 0 where no constraint depends on records.
  [[nodiscard]] static std::size_t second_dimension(const ConstraintSet& set, PrivateConstraint how);

  /// Client k is about to play x: virtual queues of public constraints, which are linear, take in c at the new point.
  void arrive(std::size_t k, View x);

  /// Weight of ∇c_j, j among the data constraints, in a record's gradient, where that of ∇f is 1; for the composite
  /// variant.
  [[nodiscard]] View record_weights() const { return record_weights_.value(); }
  [[nodiscard]] const ConstraintSet& set() const { return set_; }
  [[nodiscard]] PrivateConstraint how() const { return how_; }

  /// After the first part of the release: makes `gradient` that of the Lagrangian at x,
  ///   ∇f + Σ_j λ_j ∇c_j  or  V'∇f + Σ_j Q_j ∇c_j        (dissertation, steps 10 and 8 of the two algorithms),
  /// and raises the duals. `address` is that of the first part, `eta` is η_t.
  void bend(std::size_t k, const ReleaseAddress& address, double price, const NoiseKey& key, double eta, View x,
            const Secret<Batch>& batch, Released<Vector>& gradient);

  /// λ or Q: a column per client, an entry per constraint on models.
  [[nodiscard]] const Released<Columns>& duals() const { return duals_; }
  /// Σ_t c_u,t(x_u,t), likewise, over the rounds in which the client took a step; of public constraints.
  [[nodiscard]] const Released<Columns>& public_totals() const { return public_totals_; }
  /// The same of constraints on data: what was, not what was released. A vector per client.
  [[nodiscard]] const std::vector<Secret<Vector>>& private_totals() const { return private_totals_; }
  void persist(Snapshot& snapshot) { snapshot(has_played_, duals_, public_totals_, private_totals_); }

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
  std::vector<char> has_played_;
  Released<Columns> duals_;
  Released<Columns> public_totals_;
  std::vector<Secret<Vector>> private_totals_;
  Released<Vector> record_weights_;  ///< of the client at work
  Secret<Vector> sum_;               ///< of the second part
  Released<Vector> noisy_;           ///< its release
};

/// A model whose records' gradients are ∇f_i + Σ_j w_j ∇c_ij, clipped as one vector (variant A). Scores are the
/// model's own.
class CompositeModel final : public Model {
 public:
  /// Keeps references; weights are those of the client that has arrived.
  CompositeModel(Model& model, const LongTermConstraints& constraints) : model_(model), constraints_(constraints) {}
  [[nodiscard]] std::size_t dimension() const override { return model_.dimension(); }
  [[nodiscard]] bool classifies() const override { return model_.classifies(); }
  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;
  [[nodiscard]] Score score(View parameters, const Batch& batch) override { return model_.score(parameters, batch); }

 private:
  Model& model_;
  const LongTermConstraints& constraints_;
  Batch one_;
  Vector of_record_;
};

}  // namespace starling
