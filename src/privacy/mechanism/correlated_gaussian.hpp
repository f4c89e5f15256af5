/// Gaussian noise that is correlated over a client's rounds (privacy/correlation.hpp), in integers, and the proof
/// that its privacy is that of the real numbers (docs/methods/privacy.md, "Correlated noise").
///
/// A client's chain has two integer buffers for each component, S_1 and S_2, zero at first. Let x_t be the integers of
/// round t's sum, which one replaced record moves by at most Δ = F·N in L2 (privacy/noise/grid.hpp), ω_j = w_j/2^20 and
/// θ_j = t_j/2^20. A round computes, for each component and exactly,
///
///   ρ_t = ⌊Σ_j ω_j S_j + ½⌋    b_t = x_t − ρ_t    y_t = b_t + N_t    S_j ← ⌊θ_j S_j + ½⌋ + N_t
///
/// where N_t = round(σ Z_t) is the correctly rounded Gaussian (privacy/noise/gaussian_noise.hpp) whose keystream
/// depends on the address and on b_t. y_t is released, in steps. ⌊a + ½⌋ rounds to the nearest integer, halves upwards:
/// it errs by at most ½.
///
/// 1. Each release is a Gaussian mechanism. Given the releases before, y_t − x_t + ρ_t = N_t fixes all earlier noise as
///    a function of the data, and so b_t. y_t is an integer plus a rounded Gaussian, which is the rounding of the
///    integer plus a Gaussian: neighbours whose b_t differ by D_t are told apart by ‖D_t‖/σ, and a run's releases by
///    √(Σ_t ‖D_t‖²)/σ (correlation.cpp, step 4), if that root is bounded whatever the releases were.
/// 2. Let x'_t = x_t + δ_t be a neighbour's integers, and Δ_t = N'_t − N_t = b_t − b'_t the difference of the noises
///    that explain the same releases. With D_j = S'_j − S_j and the differences e of two roundings, |e| <= 1,
///      Δ_t = −δ_t + Σ_j ω_j D_j + e_0,   D_j ← θ_j D_j + Δ_t + e_j.
///    Without e that is −C δ, of norm at most √k' noise_factor Δ for k' uses of the record (correlation.cpp, steps 2
///    and 3). All e are 0 before the record is used first. What they add to Δ_t is, component by component, the series
///    C(z) (e_0 + Σ_j ω_j z/(1 − θ_j z) e_j), at most E = Σ c · (1 + W(1)) = (1 + W(1))/(1 − W(1)). In all, E √(d T).
/// 3. So σ = noise_factor · (Δ + E √(d T))/μ makes k' uses cost at most √k' μ, as noise_factor >= 1; and a record in
///    each of n releases costs at most ‖C 1‖/noise_factor · μ. T = 2^28 bounds the rounds of a chain: with d = 10^4 and
///    256 rounds a pass, E = 36 and the second term is a share of 3·10^-5.
/// 4. Rounds without a release. g of them multiply S_j by φ_j, the power θ_j^g rounded down to a multiple of 2^-20, and
///    round once. φ_j <= θ_j^g, so columns and what roundings add are no larger than without the gap (correlation.cpp,
///    step 5).
/// 5. Integers. |S_j| < 2^61 is checked in every release, so that ρ, b, y and S stay within int64 for |x| <= 2^61. In
///    each component and round the check fails with a probability below 10^-223: S_j is, but for less than 2^20 of
///    rounding, Gaussian with a deviation of at most σ/√(1 − θ_j²), and that is at most 2^56 (1 − 2^-10).
/// 6. Same rounds again. The noise depends on the address and on b_t: the same data after the same releases have the
///    same bytes. A chain that begins anew in a round that was released before has other b_t, thus independent noise,
///    but where both chains begin: there the releases are equal. Chains pay apart, each as above.
/// 7. Noise between pairs (privacy/pairs/pair_noise.hpp). N_t is then A_t + Σ ± B_t. Steps 1, 2 and 4 hold for any
///    integer noise; what D_t costs is said there, and σ is σ_a = noise_factor · (√h (Δ + E √(d T)) + ½ √(R d T'))/μ
///    with T' = 2^20, the most rounds of such a chain. In step 5 the deviation is that of N_t, at most 2^55.
#pragma once

#include <cstddef>
#include <memory>

#include "core/boundary.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/pairs/pair_noise.hpp"

namespace starling {

/// σ of step 3 in integers, rounded up; `sensitivity` is Δ. With noise between pairs σ_a of step 7.
[[nodiscard]] double correlated_sigma(const NoiseCorrelation& correlation, Bound<Norm::l2> sensitivity,
                                      std::size_t dimension, double price, const PairTerms& pairs = {});

/// The mechanism for `settings.correlation`, which must be there. Each (client, release index) has a chain of its own.
/// A release must be for a later round than the last of its chain, at the same price, and at block 0: it throws
/// FailureError otherwise. Throws UsageError for settings whose noise cannot be drawn or whose privacy is not proved.
[[nodiscard]] std::unique_ptr<Mechanism> make_correlated_gaussian(const ReleaseSettings& settings);

}  // namespace starling
