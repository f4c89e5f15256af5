/// Gaussian noise in shares: each client adds its part of the noise and a mask; only the sum over all clients can be
/// read, and it has the whole noise (`--trust masked`; Kairouz, Liu and Steinke 2021, "The distributed discrete
/// Gaussian mechanism").
///
/// Each of M clients rounds its clipped sum to the grid (privacy/noise/grid.hpp, F = 2, N = 2^40), adds to each of d
/// integers its own discrete Gaussian of standard deviation s = Σ/√M, and masks. The masks cancel; what can be read is
/// q + S, q the sum of all clients' integers, which one record moves by at most 2 N in L2, and S_j a sum of M such
/// draws.
///
/// Why that costs μ, with Σ = (2 N/μ)(1 + 2^-20). Write P(k) ∝ exp(−k²/(2Σ²)) for one discrete Gaussian of the whole
/// size and R for a Gaussian of standard deviation Σ, rounded to integers. Say that two distributions are a-close if
/// the probabilities of every event differ by a factor within exp(±a).
///
/// 1. S_j is e₁-close to P, e₁ = 5 Σ_{k=1}^{M−1} exp(−2π²s²k/(k+1)) (their theorem 1, and so on by induction). For X, Y
///    discrete Gaussians of variances v, w: P(X + Y = z) ∝ exp(−z²/(2(v + w))) Σ_x exp(−(x − m)²/(2t)), with 1/t = 1/v
///    + 1/w and m = z v/(v + w); by Poisson's summation the last sum is √(2πt) (1 + 2 Σ_{j>=1} exp(−2π²j²t) cos 2πjm),
///    which depends on z by a factor within 1 ± 2.01 exp(−2π²t) alone. As s >= 16, e₁ < 10^-1000.
/// 2. P is close to R where it matters: R(k)/P(k) = I(k)/E_P[I], I as in privacy/noise/discrete_gaussian.hpp, I(0) <=
/// I(k) <=
///    I(0) exp(k²/(8Σ⁴)). So R(k)/P(k) <= I(k)/I(0) <= exp(T²/(8Σ²)) for |k| <= TΣ, and for all k P(k)/R(k) <=
///    E_P[I]/I(0) = 1/E_R[I(0)/I] <= 1/(1 − E_R[k²]/(8Σ⁴)) <= exp(0.15/Σ²).
/// 3. Tails. Take T = 40. |k| > TΣ has a probability below 10^-340 under R, and so under P and S_j. Let S°_j have the
///    probabilities of S_j within, of R without, and be normalised: it is S_j but for an event of probability 10^-340,
///    and a-close to R with a = 201/Σ². In d independent components: a = 201 d/Σ².
/// 4. q + (rounded Gaussian) is a function of the continuous mechanism: μ' = 2 N/Σ exactly. A mechanism costs μ' iff
///    Φ⁻¹(α) + Φ⁻¹(β) >= −μ' for the two errors α, β of every test of its neighbours (Dong, Roth and Su 2022).
///    Closeness moves Φ⁻¹(p) by at most 2 √(π/2) a: on one side of ½, |dΦ⁻¹(p)| = Mills' ratio · |d ln p| <= √(π/2)
///    |d ln p| (of 1 − p above ½), and a step across ½ consists of two such, each of a factor within exp(a). So q + S°
///    costs at most μ' + 4 √(π/2) a <= μ/(1 + 2^-20) + 1024 d/Σ².
///
/// The constructor checks 1024 d/s² <= 2^-21 μ, s <= Σ; the rest of 2^-20 is more than the roundings of Σ, s and √M.
/// Hence μ, but for an event of probability d · 10^-340, less than that of guessing all keys involved. Of c colluding
/// clients who take their own noise off, M − c shares are left, Σ² (M − c)/M in place of Σ²: μ √(M/(M − c)), by the
/// same proof, for which s in that check was taken.
#pragma once

#include <memory>
#include <vector>

#include "privacy/mechanism.hpp"
#include "privacy/mechanism/masking.hpp"

namespace starling {

class MaskedGaussian final : public Protection {
 public:
  /// `settings.batch` is m of one client, as everywhere; its prices are μ of the sum over all M clients' records.
  /// Throws UsageError where a sensitivity cannot be proved, or M · m records do not fit into 64 bits.
  MaskedGaussian(const ReleaseSettings& settings, std::int64_t clients);
  ~MaskedGaussian() override;

  [[nodiscard]] Clip clip() const override;
  [[nodiscard]] Charge charge(double price) const override;
  [[nodiscard]] PriceKind price_kind() const override { return PriceKind::mu; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] std::int64_t clients() const;
  /// Size of an integer in the sum: C / 2^40.
  [[nodiscard]] double step(double price) const;
  /// Standard deviation of the noise in each component of the opened sum.
  [[nodiscard]] double deviation(double price) const;

  /// A client's share: its clipped sum on the grid, its part of the noise, and its masks. All clients must take part in
  /// a round at the same price, those without records with zeros. The same arguments give the same bytes. Throws
  /// DataError if `sum` is not finite or not within what the clip promises.
  [[nodiscard]] Masked contribute(const ReleaseAddress& address, double price, const NoiseKey& key, Masker& masker,
                                  const Secret<Vector>& sum);
  /// The noisy sum over all clients, from the sum modulo 2^64 of their shares.
  [[nodiscard]] Released<Vector> open(double price, const std::vector<std::uint64_t>& total) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starling
