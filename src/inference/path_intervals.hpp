/// Confidence intervals for the average of a path θ_1, θ_2, … of stochastic gradient descent, from the path itself
/// (docs/methods/inference.md, "Intervals"; Xie, Shi, Jiang, Kong and He, "Online differentially private inference in
/// stochastic gradient descent"). Post-processing of released models: it costs no privacy.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/columns.hpp"
#include "core/snapshot.hpp"

namespace starling {

/// An average with its uncertainty: the interval of coordinate j is estimate_j ± quantile · spread_j.
struct Spread {
  Vector estimate;  ///< d
  Vector spread;    ///< d: √(V̂_jj / n) or √(Σ̂_jj / n), in the units of the estimate
  void persist(Snapshot& snapshot) { snapshot(estimate, spread); }
};

/// Online estimator of random scaling (docs/methods/inference.md, "Intervals"; Xie et al., section 4.2). Call add()
/// once per model, then spread(), scaling() or joint_statistic(). With s_b = Σ_{i≤b} θ_i,
///
///   V̂_n = n⁻² (U_n − θ̄v' − vθ̄' + θ̄θ̄' Σb²) = n⁻² Σ_{b≤n} r_b r_b',  r_b = s_b − b θ̄_n.
///
/// The sums U_n = Σ_b s_b s_b' and v_n = Σ_b b s_b cancel against each other, so D_n = Σ_b r_b r_b' and c_n = Σ_b b r_b
/// are kept instead, in the manner of Welford: with δ = θ̄_{n+1} − θ̄_n,
///
///   D_{n+1} = D_n − c_n δ' − δ c_n' + δδ' Σ_{b≤n} b²,  c_{n+1} = c_n − δ Σ_{b≤n} b²,
///
/// which loses no digits wherever the path lies.
///
/// Models may have masses w_i > 0 that depend on no record (push-sum's). Then s_b = Σ_{i≤b} w_i θ_i, W_b = Σ_{i≤b} w_i,
/// θ̄_n = s_n / W_n, r_b = s_b − W_b θ̄_n, c_n = Σ_b W_b r_b, and W_b takes the place of b above: δ has the share
/// w_{n+1} / W_{n+1}, Σ b² becomes Σ W_b², and V̂_n = W_n⁻² Σ_b r_b r_b'. If W_b/b tends to a constant, as on a periodic
/// or stationary schedule, the partial sums s_b − W_b θ tend to the same Brownian motion up to its variance. The
/// variance divides out, so the quantiles are those of equal masses. A constant mass changes nothing.
class RandomScaling {
 public:
  explicit RandomScaling(std::size_t dimension);
  /// Adds θ_i, d entries, of mass w_i >= 0. O(d²), allocates nothing.
  void add(View theta, double mass = 1);
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// The mean θ̄_n.
  [[nodiscard]] Vector mean() const { return mean_; }
  /// V̂_n as a packed upper triangle, row by row, for n >= 1.
  [[nodiscard]] Vector scaling() const;
  /// The mean θ̄_n with spreads √(V̂_jj / n).
  [[nodiscard]] Spread spread() const;
  /// Statistic n θ̄_S' V̂_SS⁻¹ θ̄_S of the hypothesis that the coordinates S are all zero. None if V̂_SS is singular, for
  /// example while n is at most the number of coordinates.
  [[nodiscard]] std::optional<double> joint_statistic(const std::vector<std::size_t>& coordinates) const;

  void persist(Snapshot& snapshot) { snapshot(count_, mass_, squared_masses_, mean_, weighted_, squares_); }

 private:
  std::int64_t count_ = 0;
  double mass_ = 0;            ///< W_n
  double squared_masses_ = 0;  ///< Σ_{b≤n} W_b²
  Vector mean_;                ///< θ̄_n
  Vector weighted_;            ///< c_n
  Vector squares_;             ///< D_n, packed
  Vector scratch_;             ///< 2d numbers for add()
};

/// Tail P(|T| > c) of the limit T = W(1) / √∫(W(r) − rW(1))² dr of random scaling. W(1) and the bridge are independent,
/// and the integral of the squared bridge has the Laplace transform √(u / sinh u), u = √(2λ). With Craig's formula for
/// the normal tail,
///
///   P(|T| > c) = (2/π) ∫_0^{π/2} √(u / sinh u) dφ,  u = c / sin φ.
[[nodiscard]] double random_scaling_tail(double c);
/// Quantile z with P(|T| <= z) = level, 0 < level < 1: 6.747, 5.323, 3.875 for 0.95, 0.90, 0.80.
[[nodiscard]] double random_scaling_quantile(double level);
/// Quantile of W_p(1)' {∫ W̄ W̄'}⁻¹ W_p(1) for p coordinates, to about 0.5 % by simulation with a fixed seed (p = 1: the
/// square of random_scaling_quantile). Takes about p/10 seconds.
///
/// ∫ W̄ W̄' = Σ_k Z_k Z_k' / (πk)² for independent standard normal vectors Z_k, by the expansion of the bridge. Its
/// distribution is invariant under rotations, so the statistic is a χ²_p variable times the independent (∫ W̄ W̄')⁻¹_pp.
/// Only the second factor is simulated.
[[nodiscard]] double joint_quantile(std::size_t coordinates, double level);

/// Online estimator of batch means (docs/methods/inference.md, "Intervals"; Chen, Lee, Tong and Zhang 2020). Call add()
/// once per model, then spread(). M + 1 growing batches end at e_k = ((k + 1)/(M + 1))^{1/(1−α)} n, rounded, for
/// k = 0, …, M; the first is dropped. With n_k models of mean X̄_k in batch k, and X̄ the mean of all kept batches,
///
///   Σ̂ = (1/M) Σ_{k=1}^{M} n_k (X̄_k − X̄)(X̄_k − X̄)';
///
/// Only its diagonal is kept. If models have masses, X̄_k and X̄ are weighted by them, n_k is the mass of the batch, and
/// Σ̂ / W_n is the variance of the weighted mean. Batches end at the same models.
class BatchMeans {
 public:
  /// For n models; M >= 2 and 0 < α < 1. Throws UsageError, with the number of models needed, if a batch would be
  /// empty.
  BatchMeans(std::size_t dimension, int batches, double alpha, std::int64_t n);
  /// Adds θ_i, d entries, of mass w_i >= 0. O(d). Models after the n-th count for the estimate only.
  void add(View theta, double mass = 1);
  /// Mean of all models so far with spreads √(Σ̂_jj / mass), where Σ̂ is over the batches that are complete. None before
  /// two are complete, not counting the first.
  [[nodiscard]] std::optional<Spread> spread() const;

  void persist(Snapshot& snapshot) {
    snapshot(whole_, count_, mass_, batch_mass_, kept_mass_, mean_, batch_, origin_, kept_mean_, squares_);
  }

 private:
  void close_batch();

  std::vector<std::int64_t> ends_;  ///< e_0, …, e_M
  std::size_t whole_ = 0;           ///< number of complete batches
  std::int64_t count_ = 0;
  double mass_ = 0;        ///< mass of all models
  double batch_mass_ = 0;  ///< mass of the current batch
  double kept_mass_ = 0;   ///< mass of the kept batches
  Vector mean_;            ///< mean of all models
  Vector batch_;           ///< Σ w_i (θ_i − θ_1) in the current batch
  Vector origin_;          ///< θ_1
  Vector kept_mean_;       ///< mean of the kept batches, less θ_1
  Vector squares_;         ///< Σ n_k (X̄_k − X̄)² of the kept batches
};

}  // namespace starling
