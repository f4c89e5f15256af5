/// The base of models that add to what another does.
#pragma once

#include "starling/model/model.hpp"

namespace starling {

/// A model that has another one's parameters and scores. A derived class evaluates through `inner()`.
class ModelDecorator : public Model {
 public:
  /// Keeps a reference.
  explicit ModelDecorator(Model& inner) : inner_(inner) {}

  [[nodiscard]] std::size_t dimension() const override { return inner_.dimension(); }
  [[nodiscard]] bool classifies() const override { return inner_.classifies(); }
  [[nodiscard]] Score score(View parameters, const Batch& batch) override { return inner_.score(parameters, batch); }
  void add_canary(std::size_t coordinate, int sign, const Clip& clip, Vector& gradient) override {
    inner_.add_canary(coordinate, sign, clip, gradient);
  }
  [[nodiscard]] std::optional<Vector> initial(std::uint64_t seed) const override { return inner_.initial(seed); }
  [[nodiscard]] double largest_parameter() const override { return inner_.largest_parameter(); }

 protected:
  [[nodiscard]] Model& inner() const { return inner_; }

 private:
  Model& inner_;
};

}  // namespace starling
