/// The model of the composite variant of private constraints (docs/methods/constraints.md, "Privacy").
#pragma once

#include "model/model_decorator.hpp"
#include "protocol/constraints/long_term_constraints.hpp"

namespace starling {

/// A model whose records' gradients are ∇f_i + Σ_j w_j ∇c_ij, clipped as one vector.
class CompositeModel final : public ModelDecorator {
 public:
  /// Uses the weights of the client for which constraints.arrive() was called last. Keeps references.
  CompositeModel(Model& model, const LongTermConstraints& constraints)
      : ModelDecorator(model), constraints_(constraints) {}
  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;

 private:
  const LongTermConstraints& constraints_;
  Batch one_;
  Vector of_record_;
};

}  // namespace starling
