#include "privacy/mechanism/paper_perturbation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/text/limits.hpp"
#include "privacy/keys/keystream.hpp"

namespace starling {

namespace {

/// 2 C + 2 sup Ṽ'' C C2 C_{p−1}/√N_{b−1}: T₁ of (61) with C = C1, Δ₁ of (64) with C = C2.
double reach_of_record(const PaperTerms& terms, double c, double before) {
  return 2 * c + 2 * terms.curvature * c * terms.c2 * terms.cp / std::sqrt(std::max(before, 1.0));
}

/// A standard normal number from two words (Box and Muller).
double floating_normal(Keystream& words) {
  const double radius = static_cast<double>((words() >> 11) + 1) * 0x1p-53;  // on (0, 1]
  const double angle = static_cast<double>(words() >> 11) * 0x1p-53;
  return std::sqrt(-2 * std::log(radius)) * std::cos(2 * std::numbers::pi * angle);
}

bool finite_and_not_negative(double value) {
  return value >= 0 && std::isfinite(value);
}

}  // namespace

PaperPerturbation::PaperPerturbation(const ReleaseSettings& settings, const PaperTerms& terms)
    : Protection(settings), terms_(terms) {
  check(terms.epsilon > 0 && std::isfinite(terms.epsilon), "epsilon={}: must be positive and finite. Choose another.",
        terms.epsilon);
  check(terms.noise == PaperTerms::Noise::laplace || (terms.delta > 0 && terms.delta < 1),
        "delta={}: under Gaussian noise it must lie between 0 and 1. Choose a small one, such as 1e-5.", terms.delta);
  check(terms.c1 > 0 && std::isfinite(terms.c1) && terms.c2 > 0 && std::isfinite(terms.c2),
        "C1={} and C2={}: bounds on a row's norms, to which the noise is scaled. Give positive numbers.", terms.c1,
        terms.c2);
  for (const double value : {terms.cp, terms.curvature, terms.lambda, terms.rho}) {
    check(finite_and_not_negative(value), "C_(p-1)={}, curvature={}, lambda={}, rho={}: none may be negative.",
          terms.cp, terms.curvature, terms.lambda, terms.rho);
  }
}

Charge PaperPerturbation::charge(double /*price*/) const {
  return Charge::unbounded();
}

std::string PaperPerturbation::description() const {
  const bool laplace = terms_.noise == PaperTerms::Noise::laplace;
  std::string text = fmt::format(
      "The aggregator adds {} noise to the gradient of each batch before it solves for the model and publishes that, "
      "with epsilon = {:g}{}, C1 = {:g}, C2 = {:g}, C_(p-1) = {:g}, rho = {:g}, sup V'' = {:g} and lambda = {:g} (Guo "
      "et al., Algorithm 2). The noise is drawn in floating point.",
      laplace ? "Laplace" : "Gaussian", terms_.epsilon, laplace ? "" : fmt::format(", delta = {:g}", terms_.delta),
      terms_.c1, terms_.c2, terms_.cp, terms_.rho, terms_.curvature, terms_.lambda);
  if (terms_.cp > 0) {
    text += " In the first batch, before which there are no records, the formula's N_(b-1) is taken as 1.";
  }
  return text;
}

double PaperPerturbation::determinant_term(double now) const {
  const double least_eigenvalue = now * terms_.lambda + terms_.rho;
  const double most = terms_.curvature * terms_.c2 * terms_.c2;
  if (most == 0) return 0;
  return least_eigenvalue > 0 ? 2 * std::log1p(most / least_eigenvalue) : infinity;
}

double PaperPerturbation::noise_scale(double before, double now) const {
  const double epsilon = terms_.epsilon;
  if (terms_.noise == PaperTerms::Noise::gaussian) {
    const double twice_log = 2 * std::log(1 / terms_.delta);
    return reach_of_record(terms_, terms_.c2, before) * (std::sqrt(twice_log) + std::sqrt(twice_log + epsilon)) /
           epsilon;
  }
  const double t2 = determinant_term(now);
  check(epsilon > t2,
        "epsilon={} with T_2 = {:.6g} at {:.0f} records: the paper's Laplace noise has the scale T_1 / (epsilon - "
        "T_2). Raise epsilon, --rho or --l2, take larger batches, or Gaussian noise.",
        epsilon, t2, now);
  return reach_of_record(terms_, terms_.c1, before) / (epsilon - t2);
}

Secret<Vector> PaperPerturbation::noise(const ReleaseAddress& address, const NoiseKey& key, double before, double now) {
  const bool laplace = terms_.noise == PaperTerms::Noise::laplace;
  const double scale = noise_scale(before, now);
  ReleaseKeys keys;
  Keystream words(
      release_stream(keys, key, settings_.run_id, address, laplace ? "paper-laplace" : "paper-gaussian", scale, 0, {}));
  Vector xi(settings_.dimension);
  for (double& entry : xi) entry = laplace ? floating_laplace(words, scale) : scale * floating_normal(words);
  return Secret<Vector>(std::move(xi));
}

Released<Vector> PaperPerturbation::publish(const Secret<Vector>& theta) {
  return make(Vector(open(theta)));
}

}  // namespace starling
