/// Confidence intervals from the path of one sequence of models θ_1, θ_2, …: what stochastic gradient descent has gone
/// through tells how uncertain its average is (method 4; Xie, Shi, Jiang, Kong and He, "Online differentially private
/// inference in stochastic gradient descent"). Post-processing of released models: it costs no privacy.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "starling/core/columns.hpp"
#include "starling/core/snapshot.hpp"

namespace starling {

/// How sure each coordinate of an average is: estimate_j ± quantile · spread_j.
struct Spread {
  Vector estimate;  ///< d
  Vector spread;    ///< d, in the estimate's own units: √(V̂_jj / n), √(Σ̂_jj / n)
  void persist(Snapshot& snapshot) { snapshot(estimate, spread); }
};

/// V̂_n of random scaling, online (method 4, "Intervals"; the paper's section 4.2), with s_b = Σ_{i≤b} θ_i:
///
///   V̂_n = n⁻² (U_n − θ̄v' − vθ̄' + θ̄θ̄' Σb²) = n⁻² Σ_{b≤n} r_b r_b',  r_b = s_b − b θ̄_n.
///
/// The sums U_n = Σ_b s_b s_b' and v_n = Σ_b b s_b of the page cancel against each other, so D_n = Σ_b r_b r_b' and
/// c_n = Σ_b b r_b are kept instead, in the manner of Welford: with δ = θ̄_{n+1} − θ̄_n,
///
///   D_{n+1} = D_n − c_n δ' − δ c_n' + δδ' Σ_{b≤n} b²,  c_{n+1} = c_n − δ Σ_{b≤n} b²,
///
/// which is the same matrix, and loses no digits wherever the path may lie.
///
/// Models may have masses w_i > 0 that depend on no record (push-sum's). Then s_b = Σ_{i≤b} w_i θ_i, W_b = Σ_{i≤b} w_i,
/// θ̄_n = s_n / W_n, r_b = s_b − W_b θ̄_n, c_n = Σ_b W_b r_b, and W_b takes the place of b above: δ has the share
/// w_{n+1} / W_{n+1}, Σ b² becomes Σ W_b², and V̂_n = W_n⁻² Σ_b r_b r_b'. Where W_b/b tends to a constant, as for masses
/// that come from a periodic or stationary schedule, the partial sums s_b − W_b θ tend to the same Brownian motion up
/// to its variance. That variance divides out, so the quantiles are those of equal masses. A constant mass changes
/// nothing.
class RandomScaling {
 public:
  explicit RandomScaling(std::size_t dimension);
  /// θ_i, d entries, and its mass w_i >= 0. O(d²), allocates nothing.
  void add(View theta, double mass = 1);
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// θ̄_n.
  [[nodiscard]] Vector mean() const { return mean_; }
  /// V̂_n as a packed upper triangle, row by row; n >= 1.
  [[nodiscard]] Vector scaling() const;
  /// θ̄_n and √(V̂_jj / n).
  [[nodiscard]] Spread spread() const;
  /// n θ̄_S' V̂_SS⁻¹ θ̄_S for the coordinates S: large where they are not all zero. None where V̂_SS is singular (as long
  /// as n is less than the number of coordinates + 1, say).
  [[nodiscard]] std::optional<double> joint_statistic(const std::vector<std::size_t>& coordinates) const;

  void persist(Snapshot& snapshot) { snapshot(count_, mass_, squared_masses_, mean_, weighted_, squares_); }

 private:
  std::int64_t count_ = 0;
  double mass_ = 0;            ///< W_n
  double squared_masses_ = 0;  ///< Σ_{b≤n} W_b²
  Vector mean_;                ///< θ̄_n
  Vector weighted_;            ///< c_n
  Vector squares_;             ///< D_n, packed
  Vector scratch_;             ///< 2d numbers that add() works with
};

/// P(|T| > c) of the limit T = W(1) / √∫(W(r) − rW(1))² dr of random scaling. W(1) and the bridge are independent, and
/// ∫ of the squared bridge has the Laplace transform √(u / sinh u), u = √(2λ); with Craig's formula for the normal tail
///
///   P(|T| > c) = (2/π) ∫_0^{π/2} √(u / sinh u) dφ,  u = c / sin φ.
[[nodiscard]] double random_scaling_tail(double c);
/// z^R: P(|T| <= z^R) = level; 6.747, 5.323, 3.875 for 0.95, 0.90, 0.80. 0 < level < 1.
[[nodiscard]] double random_scaling_quantile(double level);
/// The same of W_p(1)' {∫ W̄ W̄'}⁻¹ W_p(1) for p coordinates, to about 0.5 % by simulation with a fixed seed (p = 1:
/// the square of random_scaling_quantile). Takes about p/10 seconds.
///
/// ∫ W̄ W̄' = Σ_k Z_k Z_k' / (πk)² for independent standard normal vectors Z_k (the bridge's expansion), and since its
/// distribution does not change with rotations, the statistic is a χ²_p variable times the independent (∫ W̄ W̄')⁻¹_pp:
/// only the latter is drawn, the former's tail is known.
[[nodiscard]] double joint_quantile(std::size_t coordinates, double level);

/// Batch means (method 4; Chen, Lee, Tong and Zhang 2020): M + 1 growing batches that end at
/// e_k = ((k + 1)/(M + 1))^{1/(1−α)} n, rounded, for k = 0, …, M; the first is dropped. With n_k models of mean X̄_k in
/// batch k, and X̄ the mean of all that were kept,
///
///   Σ̂ = (1/M) Σ_{k=1}^{M} n_k (X̄_k − X̄)(X̄_k − X̄)';
///
/// only its diagonal is kept. Where models have masses, X̄_k and X̄ are weighted by them, n_k is the mass of the batch,
/// and Σ̂ / W_n is the variance of the weighted mean; batches end at the same models.
class BatchMeans {
 public:
  /// n models will come; M >= 2 and 0 < α < 1. Throws UsageError where a batch would have no model, and says how many
  /// are needed.
  BatchMeans(std::size_t dimension, int batches, double alpha, std::int64_t n);
  /// θ_i, d entries, and its mass w_i >= 0. O(d). What comes after the n-th model is in the estimate alone.
  void add(View theta, double mass = 1);
  /// Mean of all models so far and √(Σ̂_jj / their mass), Σ̂ of the batches that are whole by now; none before there
  /// are two (without the first).
  [[nodiscard]] std::optional<Spread> spread() const;

  void persist(Snapshot& snapshot) {
    snapshot(whole_, count_, mass_, batch_mass_, kept_mass_, mean_, batch_, origin_, kept_mean_, squares_);
  }

 private:
  void close_batch();

  std::vector<std::int64_t> ends_;  ///< e_0, …, e_M
  std::size_t whole_ = 0;           ///< batches that ended
  std::int64_t count_ = 0;
  double mass_ = 0;        ///< of all models
  double batch_mass_ = 0;  ///< of the batch at hand
  double kept_mass_ = 0;   ///< of the batches kept
  Vector mean_;            ///< of all models
  Vector batch_;           ///< Σ of w_i (θ_i − θ_1) in the batch at hand
  Vector origin_;          ///< θ_1
  Vector kept_mean_;       ///< of the batches kept, minus θ_1
  Vector squares_;         ///< Σ n_k (X̄_k − X̄)² of them
};

}  // namespace starling
