/// The base of models that add to what another does.
#pragma once

#include "core/numerics/kernels.hpp"
#include "model/model.hpp"

namespace starling {

/// A model that has another one's parameters and scores. A derived class evaluates through `inner()`.
class ModelDecorator : public Model {
 public:
  /// Keeps a reference.
  explicit ModelDecorator(Model& inner) : inner_(inner) {}

  [[nodiscard]] std::size_t dimension() const override { return inner_.dimension(); }
  [[nodiscard]] bool classifies() const override { return inner_.classifies(); }
  [[nodiscard]] Score score(View parameters, const Batch& batch) override { return inner_.score(parameters, batch); }
  /// The canary is a unit of its own, whatever the derived class makes of the others.
  Score evaluate_with_canary(View parameters, const Canary& canary, const Batch& others, const Clip& clip,
                             Vector& gradient) override {
    Vector of_canary;
    static_cast<void>(inner_.evaluate_with_canary(parameters, canary, Batch(), clip, of_canary));
    const Score score = evaluate(parameters, others, clip, gradient);
    axpy(1, of_canary, gradient);
    return score;
  }
  [[nodiscard]] std::optional<Vector> initial(std::uint64_t seed) const override { return inner_.initial(seed); }
  [[nodiscard]] double largest_parameter() const override { return inner_.largest_parameter(); }

 protected:
  [[nodiscard]] Model& inner() const { return inner_; }

 private:
  Model& inner_;
};

}  // namespace starling
