/// Dual variables of long-term constraints: Lagrange multipliers and virtual queues (docs/methods/constraints.md).
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

/// The next multiplier: λ ← max(0, λ + ρ η_t (c − γ η_t λ)), at most Λ (docs/methods/constraints.md, "Saddle point";
/// dissertation, algorithm of chapter 3, step 14).
[[nodiscard]] double next_multiplier(double lambda, double eta, double c, const DualSettings& settings);

/// The next queue: Q ← max(0, Q + c̃) (docs/methods/constraints.md, "Virtual queue"; dissertation, algorithm of chapter
/// 4, step 11).
[[nodiscard]] double next_queue(double queue, double c);

}  // namespace starling
