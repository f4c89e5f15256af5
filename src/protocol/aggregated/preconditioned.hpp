/// Descent in other coordinates, for clients and protocols that know nothing of them: parameters stay those of the
/// records' own features (docs/methods/inference.md, "Warm-up").
#pragma once

#include "inference/preconditioner.hpp"
#include "model/mallows_model.hpp"
#include "model/model_decorator.hpp"
#include "privacy/mechanism/mechanism_decorator.hpp"

namespace starling {

/// A model whose gradients are those by the parameters for preconditioned features: with x̃ in place of x the bounds of
/// `model` hold as they do for records of any features. Scores are of the records as they are. Dense records only.
class PreconditionedModel final : public ModelDecorator {
 public:
  /// Keeps references. `features` do not count an intercept.
  PreconditionedModel(Model& model, const Preconditioner& preconditioner, std::size_t features);

  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;
  /// As MallowsModel::curvature of `curved`, the model that this one decorates, by the parameters for preconditioned
  /// features.
  void curvature(MallowsModel& curved, View parameters, const Batch& batch, Vector& triangles);

 private:
  void precondition(View parameters, const Batch& batch);

  const Preconditioner& preconditioner_;
  Vector image_;
  Vector coordinates_;
  Batch preconditioned_;
};

/// A mechanism whose releases are turned into directions of the parameters for x. That is post-processing.
class PreconditionedReleases final : public MechanismDecorator {
 public:
  /// Keeps references.
  PreconditionedReleases(Mechanism& mechanism, Preconditioner& preconditioner)
      : MechanismDecorator(mechanism), preconditioner_(preconditioner) {}

  void release(const ReleaseAddress& address, double price, const NoiseKey& key, const Secret<Vector>& sum,
               Released<Vector>& noisy_mean) override;

 private:
  Preconditioner& preconditioner_;
};

/// Sums of second moments of records, as a release has them: z z' with z = (x, 1), or (x, 1, y), times
/// min(1, C²/‖z‖²)/C², C² = 2 dim z. Every record's Frobenius norm is at most 1.
class MomentSums {
 public:
  MomentSums(std::size_t features, bool label) : z_(features + (label ? 2 : 1)), features_(features), label_(label) {}
  /// Entries of a sum: a packed triangle.
  [[nodiscard]] std::size_t size() const;
  /// Adds the records of a batch, times 1 on the diagonal and √2 off it, so that the L2 norm of a record's part is the
  /// Frobenius norm. A record with a z longer than 1e150 adds nothing.
  void add(const Batch& batch, Vector& sum);
  /// Means of what was added, from those of a release with noise of this deviation on each entry.
  [[nodiscard]] NoisyMoments moments(View means, double deviation) const;

 private:
  [[nodiscard]] double bound() const { return 2 * static_cast<double>(z_.size()); }  ///< C²

  Vector z_;
  std::size_t features_;
  bool label_;
  Vector batch_;
};

}  // namespace starling
