/// Confidence intervals from the path of one sequence of models θ_1, θ_2, …: what stochastic gradient descent has gone
/// through tells how uncertain its average is (method 4; Xie, Shi, Jiang, Kong and He, "Online differentially private
/// inference in stochastic gradient descent"). Post-processing of released models: it costs no privacy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "starling/core/columns.hpp"

namespace starling {

/// How sure each coordinate of an average is: estimate_j ± quantile · spread_j.
struct Spread {
  Vector estimate;  ///< d
  Vector spread;    ///< d, in the estimate's own units: √(V̂_jj / n), √(Σ̂_jj / n)
};

/// V̂_n of random scaling by its online recursion (method 4, "Intervals"; the paper's section 4.2):
///
///   V̂_n = n⁻² (U_n − θ̄v' − vθ̄' + θ̄θ̄' Σb²),  U_n = Σ_b s_b s_b',  v_n = Σ_b b s_b,  s_b = Σ_{i≤b} θ_i.
///
/// Models are accumulated minus the first one, since the sums grow as n³ and V̂_n does not depend on the origin.
class RandomScaling {
 public:
  explicit RandomScaling(std::size_t dimension);
  /// θ_i, d entries. O(d²).
  void add(View theta);
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// θ̄_n.
  [[nodiscard]] Vector mean() const;
  /// V̂_n as a packed upper triangle, row by row; n >= 1.
  [[nodiscard]] Vector scaling() const;
  /// θ̄_n and √(V̂_jj / n).
  [[nodiscard]] Spread spread() const;
  /// n θ̄_S' V̂_SS⁻¹ θ̄_S for the coordinates S: large where they are not all zero. None where V̂_SS is singular.
  [[nodiscard]] std::optional<double> joint_statistic(const std::vector<std::size_t>& coordinates) const;

 private:
  std::int64_t count_ = 0;
  Vector origin_;    ///< θ_1
  Vector sum_;       ///< s_b, of θ_i − θ_1
  Vector squares_;   ///< U_n, packed
  Vector weighted_;  ///< v_n
};

/// P(|T| > c) of the limit T = W(1) / √∫(W(r) − rW(1))² dr of random scaling. W(1) and the bridge are independent, and
/// ∫ of the squared bridge has the Laplace transform √(u / sinh u), u = √(2λ); with Craig's formula for the normal tail
///
///   P(|T| > c) = (2/π) ∫_0^{π/2} √(u / sinh u) dφ,  u = c / sin φ.
[[nodiscard]] double random_scaling_tail(double c);
/// z^R: P(|T| <= z^R) = level; 6.747, 5.323, 3.875 for 0.95, 0.90, 0.80. 0 < level < 1.
[[nodiscard]] double random_scaling_quantile(double level);
/// The same of W_p(1)' {∫ W̄ W̄'}⁻¹ W_p(1) for p coordinates, by simulation with a fixed seed (p = 1: the square of
/// random_scaling_quantile).
[[nodiscard]] double joint_quantile(std::size_t coordinates, double level);

/// Batch means (method 4; Chen, Lee, Tong and Zhang 2020): M + 1 growing batches that end at
/// e_k = ((k + 1)/(M + 1))^{1/(1−α)} n for k = 0, …, M; the first is dropped.
class BatchMeans {
 public:
  /// n models will come. Throws UsageError where a batch would have no model.
  BatchMeans(std::size_t dimension, int batches, double alpha, std::int64_t n);
  void add(View theta);
  /// Of the batches that are whole by now; none before there are two.
  [[nodiscard]] std::optional<Spread> spread() const;

 private:
  std::vector<std::int64_t> ends_;  ///< e_0, …, e_M
  // … the sums of the batch at hand, and of those before
};

}  // namespace starling
