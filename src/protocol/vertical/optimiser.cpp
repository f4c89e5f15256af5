#include "protocol/vertical/optimiser.hpp"

#include <cmath>

#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

class GradientDescent final : public Optimiser {
 public:
  void step(double eta, View direction, MutableView parameters) override { axpy(-eta, direction, parameters); }
  void persist(Snapshot&) override {}
};

class Adam final : public Optimiser {
 public:
  void step(double eta, View direction, MutableView parameters) override {
    first_.resize(direction.size());
    second_.resize(direction.size());
    power1_ *= beta1;
    power2_ *= beta2;
    for (std::size_t j = 0; j < direction.size(); ++j) {
      const double g = direction[j];
      first_[j] = beta1 * first_[j] + (1 - beta1) * g;
      second_[j] = beta2 * second_[j] + (1 - beta2) * g * g;
      parameters[j] -= eta * (first_[j] / (1 - power1_)) / (std::sqrt(second_[j] / (1 - power2_)) + epsilon);
    }
  }
  void persist(Snapshot& snapshot) override { snapshot(first_, second_, power1_, power2_); }

 private:
  static constexpr double beta1 = 0.9;
  static constexpr double beta2 = 0.999;
  static constexpr double epsilon = 1e-8;
  Vector first_;   ///< m of the paper
  Vector second_;  ///< v
  double power1_ = 1;
  double power2_ = 1;
};

}  // namespace

std::unique_ptr<Optimiser> make_optimiser(OptimiserKind kind) {
  if (kind == OptimiserKind::adam) return std::make_unique<Adam>();
  return std::make_unique<GradientDescent>();
}

}  // namespace starling
