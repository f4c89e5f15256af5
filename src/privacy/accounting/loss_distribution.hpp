/// The distribution of the privacy loss of many releases, by Fourier transform (docs/methods/privacy.md, "Accounting").
///
/// With L = ln dP/dQ under P of a dominating pair, δ(ε) = E_P (1 − e^(ε − L))₊, and the losses of composed releases are
/// sums of independent ones. Each class of releases is put on a lattice (below), convolved count times with
/// itself and with the others. These facts certify the result:
///
///  * Lattice: the pair on it dominates. All pairs here are symmetric, and so are their compositions: the direction Q
///    against P has the same losses.
///  * Tilt: with masses p_s e^(λs)/M(λ), where λ is Rényi accounting's best order less one, the likely sums are those
///    that decide about δ. Errors that are small among tilted masses are then small relative to δ, however small δ is.
///  * Wrap-around: a window of N points is kept. Sums outside appear in it at the wrong place; masses are positive, so
///    inside no mass is too small. Above the window, P(S ≥ top) ≤ M(λ + θ) e^(−(λ + θ) top) (Chernoff, with the moment
///    on the lattice itself) is added to δ.
///  * Rounding: at each frequency the error of the transforms is bounded (fourier.hpp). With A = |F| + η per class,
///    |∏ F̃^k − ∏ F^k| ≤ ∏ A^k Σ kη/A. The mean of these bounds over frequencies bounds the error of every mass and is
///    added to every mass. Relative errors of single masses, below `mass_error`, are a factor on δ.
///  * Discrete noise: production noise is discrete Laplace noise of scale t = 2^40 on integers that move by an integer
///    k, with ε = k/t. Let a = 1/t. Its δ equals the continuous one's at ε' = a (k − 2j), is linear in e^ε' between,
///    and is at most 2/(1 + e^(−a)) ≤ 1 + a/2 times the continuous one's: with s = e^(−x), x = (ε − ε')/2, the ratio
///    (1 − chord of s)/(1 − s) is largest in the cell next to ε, where it is (1 + e^(−x))/(1 + e^(−a)). The composition
///    with any fixed pair is linear and increasing in δ(·) (δ of M₁ and M₂ together is E_(L₂) δ₁(ε − L₂)), so K
///    releases have at most (1 + a/2)^K times the δ: a factor of 1 + 5e-13 per release. The same factor bounds the
///    moments, which are integrals of δ(·) with positive weights.
///  * Vectors: noise on all d components of a vector that moves by v, ‖v‖₁ ≤ k. Moving one component after the other
///    is a path of d steps with trade-off functions F_|v_j|, F_s that of noise around 0 and s. Along a path a test of
///    level α has at each step a power of at most what the step's function allows, so T ≥ F_|v_d|(1 − … F_|v_1|(α))
///    (group privacy: Dong, Roth and Su 2022, theorem 2.14). On the line, noise with a log-concave law (Laplace,
///    discrete Laplace) has a monotone likelihood ratio: one family of threshold tests is most powerful for all shifts
///    (Karlin and Rubin), the bound is attained, and is F_(Σ|v_j|) ≥ F_k. So one component that moves by all of k is
///    the worst, and `ChargeKind::laplace` is right for a whole vector.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "loss_classes.hpp"

namespace starling {

/// Lattice points and weights of losses.
struct Lattice {
  double width = 1;           ///< h
  std::size_t points = 2;     ///< N, a power of two: point i is kept at i mod N
  long double lambda = 1;     ///< the tilt
  long double theta = 1;      ///< moments are also computed at λ + θ, for the tail
  double negligible = 1e-30;  ///< mass under P that may be taken for an infinite loss
};

/// One release.
struct LatticeLoss {
  std::vector<double> masses;   ///< tilted; they sum to 1
  long double log_moment = 0;   ///< ln Σ p_i e^(λ i h): the masses were divided by its exponential
  long double log_further = 0;  ///< the same at λ + θ
  double largest = 0;           ///< index of the largest loss that is not infinite
  double infinite = 0;          ///< mass under P of an infinite loss, below `negligible`
};

/// Each mass has a relative error below `mass_error`, each loss one of at most `loss_error` times the largest.
[[nodiscard]] LatticeLoss on_lattice(const LossClass& one, const Lattice& lattice);
constexpr double mass_error = 1e-12;
constexpr double loss_error = 1e-15;

/// An upper bound of the least ε at which the losses' δ is at most `delta`, 0 < delta < 1 (leaks are the caller's), or
/// nothing where there are too many releases. `lambda` and `epsilon` > 0 are Rényi accounting's: where to look.
[[nodiscard]] std::optional<double> distribution_epsilon(const Losses& losses, double delta, long double lambda,
                                                         double epsilon);

}  // namespace starling
