#include "run_prices.hpp"

#include <cmath>

#include "starling/core/limits.hpp"
#include "starling/privacy/accounting/accounting.hpp"
#include "starling/privacy/accounting/spending.hpp"

namespace starling {

namespace {

/// What each of `passes` releases may cost for a total: ε/passes of pure losses, μ/√passes of Gaussian ones, rounded
/// down.
Prices parts_of_total(const PrivacyOptions& options, Round rounds, Client clients) {
  const Prices totals = Prices::parse(*options.total_epsilon, "--total-epsilon", rounds, clients, tiny, most_epsilon);
  const auto passes = static_cast<double>(options.passes);
  const bool gaussian = options.mechanism_row().gaussian();
  if (passes == 1 && !gaussian) return totals;
  const double part = (passes == 1 ? 1 : 1 - 0x1p-50) / (gaussian ? std::sqrt(passes) : passes);
  return totals.converted([gaussian, part, delta = options.delta.value_or(usual_delta)](double epsilon) {
    return part * (gaussian ? gaussian_mu(epsilon, delta) : epsilon);
  });
}

}  // namespace

Prices prices_of(const PrivacyOptions& options, Round rounds, Client clients, double factor) {
  if (options.total_epsilon) return parts_of_total(options, rounds, clients);
  if (options.mu) {
    const Prices prices = Prices::parse(*options.mu, "--mu", rounds, clients, tiny, most_mu);
    return factor == 1 ? prices : prices.converted([factor](double mu) { return factor * mu; });
  }
  const Prices prices = Prices::parse(options.epsilon.value_or("1"), "--epsilon", rounds, clients, tiny, most_epsilon);
  if (!options.mechanism_row().gaussian()) return prices;
  // Nearly always the same ε again: calibration takes longer than a small release.
  return prices.converted(
      [delta = options.delta.value_or(usual_delta), factor, last = 0.0, mu = 0.0](double epsilon) mutable {
        if (epsilon != last) mu = factor * gaussian_mu(epsilon, delta);
        last = epsilon;
        return mu;
      });
}

NormShare norm_share_of(const PrivacyOptions& options, double share, std::int64_t uses) {
  const ChargeKind noise = options.mechanism_row().charge;
  check(share == 0 || noise == ChargeKind::gaussian || noise == ChargeKind::laplace,
        "--scale-share {} with --mechanism {}: norms are released under gaussian and laplace alone. Give 0.", share,
        *options.mechanism);
  check(share == 0 || is_whole(options.unit),
        "--scale-share {} with --unit component: a histogram of norms protects records. Give 0.", share);
  return {noise, share, uses};
}

}  // namespace starling
