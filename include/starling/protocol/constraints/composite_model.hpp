/// The model of the composite variant of private constraints (docs/methods/constraints.md, "Privacy").
#pragma once

#include "starling/model/model.hpp"
#include "starling/protocol/constraints/long_term_constraints.hpp"

namespace starling {

/// A model whose records' gradients are ∇f_i + Σ_j w_j ∇c_ij, clipped as one vector. Scores are the model's own.
class CompositeModel final : public Model {
 public:
  /// Uses the weights of the client for which constraints.arrive() was called last. Keeps references.
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
