/// Optimisers of networks: steps from released gradients.
#pragma once

#include <memory>

#include "core/columns.hpp"
#include "core/snapshot.hpp"

namespace starling {

enum class OptimiserKind {
  sgd,   ///< θ − η g
  adam,  ///< Kingma and Ba 2015, Algorithm 1, with β₁ = 0.9, β₂ = 0.999, ε = 10^-8
};

/// An optimiser of the parameters of one block. Its state is made of released gradients only.
class Optimiser {
 public:
  virtual ~Optimiser() = default;
  /// A step of length η along −direction. Both vectors have the same number of entries in all calls.
  virtual void step(double eta, View direction, MutableView parameters) = 0;
  virtual void persist(Snapshot& snapshot) = 0;
};

[[nodiscard]] std::unique_ptr<Optimiser> make_optimiser(OptimiserKind kind);

}  // namespace starling
