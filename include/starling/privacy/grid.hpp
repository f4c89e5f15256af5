/// The integers behind a release, and the proof that replacing one record moves them by at most 2·N1 (method 6,
/// release, item 2, second way: on the sum).
///
/// Notation: u = 2^-53, γ_k = k u / (1 − k u); m records at most, d components; C the clip, N1 = ⌊ε·2^39⌋, step = C/N1,
/// B = C (1 − margin) the bound to which the model room clips in L1. All quantities below are the doubles that the
/// program holds, and all bounds are on exact functions of them.
///
/// What is asked of the model room. A record's contribution to the sum is a vector c_i of doubles, the rounded products
/// of a row (or of a computed gradient) with a clip factor f_i = 1, or B/n_i where n_i > B; n_i, the computed L1 norm,
/// is made of sums of at most d non-negative terms in any order and of at most 8 further operations. The contributions
/// are added in any order. Rows and gradients with an L1 norm above 1e150 are refused; with C in [1e-150, 1e150], which
/// is checked here, no factor then underflows, and what other products lose by underflow is below 2^-300 steps in
/// total.
///
/// 1. Clipping. At most d + 16 roundings, each by a factor within 1 ± u, stand between n_i and the norm of c_i, hence
///    ‖c_i‖₁ ≤ B (1 + γ_{d+16}) = B'.
/// 2. Summation. Whatever the order, ‖s − Σ c_i‖₁ ≤ γ_m Σ ‖c_i‖₁ ≤ m γ_m B' (Higham 2002, section 4.2). Let s and s'
///    be the computed sums of batches that differ by one record: ‖s − s'‖₁ ≤ 2 B' + 2 m γ_m B'.
/// 3. Units. r_j = fl(s_j / step) errs by at most u |s_j| / step, in total by u m (1 + γ_m) B' / step for each batch.
/// 4. Rounding. q_j is the integer nearest to r_j, so |q_j − q'_j| ≤ |r_j − r'_j| + 1: in total d more.
/// 5. B / step ≤ N1 (1 − margin)(1 + 8u): the roundings of step, of 1 − margin and of B.
///
/// Together, Σ|q_j − q'_j| ≤ 2 N1 (1 − margin)(1 + a) + d + 1 with
///    1 + a = (1 + 8u)(1 + γ_{d+16})(1 + m γ_m + u m (1 + γ_m));  the last 1 stands for underflow.
/// (1 − margin)(1 + a) ≤ 1 + a − margin, so margin ≥ a + (d + 1)/(2 N1) gives Σ|q_j − q'_j| ≤ 2 N1: the sensitivity, in
/// integers. `make_grid` takes that margin, but at least 2^-20, and refuses what would need more than ½. Adding
/// discrete Laplace noise of scale t = 2^40 then costs exactly 2 N1 / t. The same steps for one batch give Σ|q_j| ≤ m
/// N1, which every release checks; at m = 1 that check alone proves the sensitivity, whatever the model room did.
///
/// Unit component: each component of c_i is clamped to [−B, B] (exact), neighbours differ in one component of one
/// record, and the steps above hold with d = 1 for the component that differs; |q_j| ≤ m N1 is checked for every j.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "starling/privacy/mechanism.hpp"

namespace starling {

/// How a clipped sum becomes integers.
struct Grid {
  std::int64_t reach = 1;  ///< N1: the clip in steps; replacing one record moves the integers by at most 2·N1 in L1
  std::int64_t limit = 1;  ///< m·N1: what m records can reach
  double step = 1;         ///< C / N1
  double margin = 0;       ///< share of the clip that is kept for rounding errors
  Clip clip;               ///< what the model room must keep: L1 or per component, C (1 − margin)
};

/// The grid of the discrete Laplace noise of scale 2^40. Throws UsageError for settings whose sensitivity cannot be
/// proved (see above) and for values outside their range.
[[nodiscard]] Grid make_grid(const ReleaseSettings& settings);

/// A mechanism that rounds the sum to the grid, adds integers, and scales: all but the noise.
class GridMechanism : public Mechanism {
 public:
  explicit GridMechanism(const ReleaseSettings& settings);

  [[nodiscard]] Clip clip() const override { return grid_.clip; }
  [[nodiscard]] const Grid& grid() const { return grid_; }
  void release(const ReleaseAddress& address, const NoiseKey& key, const Secret<Vector>& sum,
               Released<Vector>& noisy_mean) override;

 protected:
  /// Adds noise that may depend on the address, the key and the integers themselves.
  virtual void add_noise(const ReleaseAddress& address, const NoiseKey& key, std::span<std::int64_t> integers) = 0;

 private:
  void round_to_grid(const ReleaseAddress& address, View sum);
  void check_limit(const ReleaseAddress& address) const;

  Grid grid_;
  std::vector<std::int64_t> integers_;
};

}  // namespace starling
