/// Settings of long-term budget constraints.
#pragma once

#include <limits>

namespace starling {

enum class DualMethod {
  saddle,  ///< regularised multipliers λ, raised by gradient ascent (dissertation, chapter 3)
  queue,   ///< virtual queues Q (dissertation, chapter 4)
};

struct DualSettings {
  DualMethod method = DualMethod::saddle;
  double regularisation = 0.1;                            ///< γ ≥ 0 of the saddle point
  double step = 1;                                        ///< ρ > 0 of the saddle point: dual steps are ρ η_t
  double most = std::numeric_limits<double>::infinity();  ///< Λ: λ stays in [0, Λ]
  double caution = 1;                                     ///< V' > 0 of the queue: weight of the loss
};

/// Release of constraints that depend on records.
enum class PrivateConstraint {
  separate,   ///< two releases: ∇f, and the data vector â
  composite,  ///< two releases: ∇f + λ∇c, clipped as one vector, and the scalar c
};

}  // namespace starling
