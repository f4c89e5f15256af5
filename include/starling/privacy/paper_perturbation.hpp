/// The perturbation of Guo et al., "Online federated learning framework for classification" (Algorithm 2, equations 41
/// to 45, 61 and 64), as printed: to re-run that paper. What it protects, and what not: docs/privacy.md.
#pragma once

#include <cstdint>
#include <string>

#include "starling/privacy/mechanism.hpp"

namespace starling {

struct PaperTerms {
  enum class Noise { laplace, gaussian } noise = Noise::gaussian;
  double epsilon = 1;
  double delta = 1e-5;
  double c1 = 1;           ///< C1: bound that the paper assumes on a row's L1 norm
  double c2 = 1;           ///< C2: likewise on its L2 norm
  double cp = 0;           ///< C_{p−1}: ‖θ_b − θ_{b−1}‖ <= C_{p−1}/√N_{b−1}, assumed
  double curvature = 4;    ///< sup of the loss's second derivative; (q + 1)²/q for dwd:q
  double lambda = 0;       ///< λ of the penalty (nλ/2)‖θ‖²
  double rho = 0;          ///< ρ of (41)
};

/// Charges nothing finite: its theorem rests on bounds that nothing enforces, speaks of the current batch alone, and of
/// one release.
class PaperPerturbation final : public Protection {
 public:
  PaperPerturbation(const ReleaseSettings& settings, const PaperTerms& terms);

  [[nodiscard]] Clip clip() const override { return {}; }
  [[nodiscard]] Charge charge(double price) const override;
  [[nodiscard]] PriceKind price_kind() const override { return PriceKind::none; }
  [[nodiscard]] std::string description() const override;

  /// Scale η (Laplace) or τ (Gaussian) of ξ in the batch that brings the number of records from `before` (N_{b−1}) to
  /// `now` (N_b). Throws UsageError where the paper's ε − T₂ is not positive.
  [[nodiscard]] double noise_scale(double before, double now) const;
  /// ξ, settings.dimension numbers. In floating point: no more private than that allows (Mironov 2012).
  [[nodiscard]] Secret<Vector> noise(const ReleaseAddress& address, const NoiseKey& key, double before, double now);
  /// θ_b, which Algorithm 2 publishes.
  [[nodiscard]] Released<Vector> publish(const Secret<Vector>& theta);

 private:
  PaperTerms terms_;
};

}  // namespace starling
