/// The integers behind a release, and the proof that replacing one record moves them by at most F·N in the mechanism's
/// norm, F = 2 or √2 (docs/methods/privacy.md, "One release").
///
/// Notation: u = 2^-53, γ_k = k u / (1 − k u); m records at most, d components; C the clip, N the reach: ⌊ε·2^39⌋ for
/// Laplace noise, whose norm is L1, 2^40 for Gaussian noise, whose norm is L2; step = C/N; ‖·‖ the norm; F the
/// settings' `replacement`;
/// B = C (1 − margin) the bound to which the model module clips in that norm. All quantities below are the doubles that
/// the program holds, and all bounds are on exact functions of them.
///
/// Requirements on the model module. A record's contribution to the sum is a vector c_i of doubles, the rounded
/// products of a row (or of a computed gradient) with a clip factor f_i = 1, or B/n_i where n_i > B; n_i, the computed
/// norm, is made of sums of at most d non-negative terms in any order and of at most 8 further operations. The
/// contributions are added in any order; where squares could lose digits to underflow, n_i is an L1 norm in place of an
/// L2 norm, which it bounds. Rows and gradients with a norm above 1e150 are refused; with C in [1e-100, 1e100], which
/// is checked here, no factor then underflows. Other products lose at most 2^-1075 each by underflow, times a row's at
/// most 2^499; steps are at least 2^-395, and at most 2^100 products are added: less than one step in total.
///
/// 1. Clipping. At most d + 16 roundings, each by a factor within 1 ± u, stand between n_i and the norm of c_i (for L2
///    half of them under a root), hence ‖c_i‖ ≤ B (1 + γ_{d+16}) = B'.
/// 2. Summation. Whatever the order, |s_j − Σ_i c_ij| ≤ γ_m Σ_i |c_ij| for every component (Higham 2002, section 4.2),
///    so ‖s − Σ c_i‖ ≤ γ_m Σ ‖c_i‖ ≤ m γ_m B'. Let s and s' be the computed sums of batches that differ by one record,
///    c and c' its contributions: ‖s − s'‖ ≤ ‖c − c'‖ + 2 m γ_m B', and ‖c − c'‖ ≤ F B' + G B', where
///    F = 2, G = 0: the triangle inequality.
///    F = √2, G = 2 γ_16 + 2 u m (1 + γ_m), in L2: contributions are what up to 16 roundings, each within a factor
///    1 ± u, make of vectors v, v' with v·v' ≥ 0; so ‖c − v‖ ≤ γ_16 B', ‖v‖ ≤ B' (step 1 counts these roundings too),
///    and ‖v − v'‖² = ‖v‖² + ‖v'‖² − 2 v·v' ≤ 2 B'². Such are curvatures w x xᵀ, w ≥ 0, as the packed vector (x_j² w,
///    √2 x_j x_k w for j < k), whose Euclidean norm is the matrix's Frobenius norm w ‖x‖²: of two of them v·v' =
///    w w' (x·x')² ≥ 0. The last term of G lets the sums be multiplied by √2 in place of the contributions: each
///    component of either batch's is rounded once more.
/// 3. Units. r_j = fl(s_j / step) errs by at most u |s_j| / step, in total by u m (1 + γ_m) B' / step for each batch.
/// 4. Rounding. q_j is the integer nearest to r_j, so |q_j − q'_j| ≤ |r_j − r'_j| + 1: in total D more, D = d in L1 and
///    √d in L2.
/// 5. B / step ≤ N (1 − margin)(1 + 8u): the roundings of step, of 1 − margin and of B.
///
/// Together, ‖q − q'‖ ≤ F N (1 − margin)(1 + a) + D + 1 with
///    1 + a = (1 + 8u)(1 + γ_{d+16})(1 + (G + 2 m γ_m + 2 u m (1 + γ_m))/F);  the last 1 stands for underflow.
/// (1 − margin)(1 + a) ≤ 1 + a − margin, so margin ≥ a + (D + 1)/(F N) gives ‖q − q'‖ ≤ F N: the sensitivity, in
/// integers. `make_grid` takes that margin for the least N of the run, but at least 2^-20, and refuses what would need
/// more than ½. Discrete Laplace noise of scale t = 2^40 then costs exactly 2 N / t, a Gaussian of standard deviation σ
/// exactly μ = F N / σ. The same steps for one batch give ‖q‖ ≤ m N, which every release checks in exact arithmetic; at
/// m = 1 and F = 2 that check alone proves the sensitivity, whatever the model module did.
///
/// Unit component: each component of c_i is clamped to [−B, B] (exact), neighbours differ in one component of one
/// record, and the steps above hold with d = 1 for the component that differs; |q_j| ≤ m N is checked for every j.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "privacy/keys/keystream.hpp"
#include "privacy/mechanism.hpp"

namespace starling {

/// The rounding of clipped sums to integers, at every price of a run.
struct Grid {
  double margin = 0;  ///< share of the clip that is kept for rounding errors
  Clip clip;          ///< the clip for the model module: in the norm or per component, C (1 − margin)
};

/// The grid for reaches from `least` to `most`. Throws UsageError for settings whose sensitivity cannot be proved (see
/// above) and for values outside their range.
[[nodiscard]] Grid make_grid(const ReleaseSettings& settings, Norm norm, std::int64_t least, std::int64_t most);

/// Rounds clipped sums to the grid. The norm is that in which records are clipped and the noise is calibrated.
template <Norm norm>
class GridRounding {
 public:
  /// `reach` must not fall with the price. Throws as make_grid.
  GridRounding(const ReleaseSettings& settings, std::int64_t (*reach)(double price));

  [[nodiscard]] const Grid& grid() const { return grid_; }
  /// N at a price: the clip in steps.
  [[nodiscard]] std::int64_t reach(double price) const { return at(price).reach; }
  /// Size of an integer in the sum: C / N.
  [[nodiscard]] double step(double price) const { return at(price).step; }
  /// The sensitivity of the integers to one replaced record: F N, rounded up.
  [[nodiscard]] Bound<norm> sensitivity(double price) const;
  /// "Each record's gradient is clipped to …", for descriptions.
  [[nodiscard]] std::string clipping() const;

  /// The integers of a sum of finite numbers, to which noise may be added; they stay valid until the next call. Throws
  /// DataError if the sum is not within what the clip promises.
  [[nodiscard]] std::span<std::int64_t> round(const ReleaseAddress& address, double price, View sum);

 private:
  struct Size {
    double price = std::numeric_limits<double>::quiet_NaN();  // no price at first
    std::int64_t reach = 0;
    double step = 0;
  };
  /// Cached for the last price, because most runs have one price.
  [[nodiscard]] const Size& at(double price) const {
    if (price != last_.price) {
      const std::int64_t reach = reach_(price);
      last_ = {price, reach, clip_ / static_cast<double>(reach)};
    }
    return last_;
  }
  [[nodiscard]] bool within(std::int64_t limit) const;

  std::int64_t (*reach_)(double);
  Grid grid_;
  double clip_;
  double replacement_;
  std::size_t batch_;
  PrivacyUnit unit_;
  mutable Size last_;
  Vector steps_;  ///< the sum in steps, rounded
  std::vector<std::int64_t> integers_;
};

extern template class GridRounding<Norm::l1>;
extern template class GridRounding<Norm::l2>;

/// A base of mechanisms that round the sum to the grid, add integer noise, and scale the result.
template <Norm norm>
class GridMechanism : public Mechanism {
 public:
  [[nodiscard]] Clip clip() const override { return rounding_.grid().clip; }
  [[nodiscard]] const Grid& grid() const { return rounding_.grid(); }
  [[nodiscard]] std::int64_t reach(double price) const { return rounding_.reach(price); }
  [[nodiscard]] double step(double price) const { return rounding_.step(price); }
  [[nodiscard]] Bound<norm> sensitivity(double price) const { return rounding_.sensitivity(price); }
  void release(const ReleaseAddress& address, double price, const NoiseKey& key, const Secret<Vector>& sum,
               Released<Vector>& noisy_mean) override;

 protected:
  /// As GridRounding.
  GridMechanism(const ReleaseSettings& settings, std::int64_t (*reach)(double price));

  [[nodiscard]] std::string clipping() const { return rounding_.clipping(); }
  /// The keystream of a release's noise, from its start. `scale` is that of the noise in integers.
  [[nodiscard]] Keystream& noise_words(std::string_view mechanism, double scale, const ReleaseAddress& address,
                                       double price, const NoiseKey& key, std::span<const std::int64_t> integers);
  /// Adds noise that may depend on the address, the price, the key and the integers themselves.
  virtual void add_noise(const ReleaseAddress& address, double price, const NoiseKey& key,
                         std::span<std::int64_t> integers) = 0;

 private:
  GridRounding<norm> rounding_;
  ReleaseKeys keys_;
  Keystream words_{NoiseKey(NoiseKey::Bytes{})};
};

extern template class GridMechanism<Norm::l1>;
extern template class GridMechanism<Norm::l2>;

/// N of Laplace noise of scale 2^40: ⌊ε·2^39⌋.
[[nodiscard]] std::int64_t laplace_reach(double epsilon);
/// N of Gaussian noise: 2^40.
[[nodiscard]] std::int64_t gaussian_reach(double mu);
/// ε of Laplace noise of scale 2^40 on integers that move by so much: exact in double.
[[nodiscard]] double laplace_epsilon(Bound<Norm::l1> sensitivity);
/// σ of Gaussian noise that costs at most μ on quantities that move by so much: rounded up.
[[nodiscard]] double gaussian_sigma(Bound<Norm::l2> sensitivity, double mu);

}  // namespace starling
