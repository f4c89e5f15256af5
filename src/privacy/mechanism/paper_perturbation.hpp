/// The perturbation of Guo et al., "Online federated learning framework for classification" (Algorithm 2, equations 41
/// to 45, 61 and 64), as printed: to re-run that paper. What it protects, and what not: docs/privacy.md.
#pragma once

#include <string>

#include "privacy/mechanism.hpp"

namespace starling {

struct PaperTerms {
  enum class Noise { laplace, gaussian } noise = Noise::gaussian;
  double epsilon = 1;
  double delta = 1e-5;
  double c1 = 1;         ///< C1: bound that the paper assumes on a row's L1 norm
  double c2 = 1;         ///< C2: likewise on its L2 norm
  double cp = 0;         ///< C_{p−1}: ‖θ_b − θ_{b−1}‖ <= C_{p−1}/√N_{b−1}, assumed
  double curvature = 4;  ///< sup of the loss's second derivative; (q + 1)²/q for dwd:q
  double lambda = 0;     ///< λ of the penalty (nλ/2)‖θ‖²
  double rho = 0;        ///< ρ of (41)
};

/// The perturbation of the paper. Its charges are unbounded: the theorem rests on bounds that nothing enforces, and
/// covers only the current batch and one release.
class PaperPerturbation final : public Protection {
 public:
  /// `settings` give the dimension of θ and the run's id. Throws UsageError for terms out of range.
  PaperPerturbation(const ReleaseSettings& settings, const PaperTerms& terms);

  [[nodiscard]] Clip clip() const override { return {}; }
  [[nodiscard]] Charge charge(double price) const override;
  [[nodiscard]] PriceKind price_kind() const override { return PriceKind::none; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] const PaperTerms& terms() const { return terms_; }

  /// Scale η (Laplace) or τ (Gaussian) of ξ in the batch that brings the number of records from `before` (N_{b−1}) to
  /// `now` (N_b). In the first batch, where N_{b−1} = 0 would be divided by, it is taken as 1 (and does not matter if
  /// C_{p−1} = 0). Throws UsageError where the paper's ε − T₂ is not positive (Laplace).
  [[nodiscard]] double noise_scale(double before, double now) const;
  /// T₂ of (61), the part of ε that the change of variables costs; infinite if λ N_b + ρ = 0.
  [[nodiscard]] double determinant_term(double now) const;
  /// Whether the paper's condition 2, T₂ <= ε/2, holds in the batch that ends with `now` records. Its theorem asks for
  /// it, its algorithm under Gaussian noise does not look.
  [[nodiscard]] bool condition_2(double now) const { return determinant_term(now) <= terms_.epsilon / 2; }

  /// ξ, settings.dimension numbers. In floating point: no more private than that allows (Mironov 2012).
  [[nodiscard]] Secret<Vector> noise(const ReleaseAddress& address, const NoiseKey& key, double before, double now);
  /// θ_b, which Algorithm 2 publishes.
  [[nodiscard]] Released<Vector> publish(const Secret<Vector>& theta);

 private:
  PaperTerms terms_;
};

}  // namespace starling
