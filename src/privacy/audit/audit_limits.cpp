#include <cmath>

#include "core/check.hpp"
#include "core/numerics/distributions.hpp"
#include "privacy/audit/audit.hpp"
#include "privacy/audit/audit_events.hpp"

namespace starling {

namespace {

void check_counts(std::int64_t count, std::int64_t trials, double error) {
  check(trials >= 1 && count >= 0 && count <= trials, "{} successes in {} trials: must be 0 to the trials.", count,
        trials);
  check(error > 0 && error < 1, "error={}: a probability between 0 and 1.", error);
}

}  // namespace

double clopper_pearson_lower(std::int64_t count, std::int64_t trials, double error) {
  check_counts(count, trials, error);
  if (count == 0) return 0;
  return beta_quantile(static_cast<double>(count), static_cast<double>(trials - count) + 1, error);
}

double clopper_pearson_upper(std::int64_t count, std::int64_t trials, double error) {
  check_counts(count, trials, error);
  if (count == trials) return 1;
  return upper_beta_quantile(static_cast<double>(count) + 1, static_cast<double>(trials - count), error);
}

EventLimits exact_limits(std::int64_t likely, std::int64_t unlikely, std::int64_t trials, double error) {
  return {clopper_pearson_lower(likely, trials, error / 2), clopper_pearson_upper(unlikely, trials, error / 2)};
}

EventLimits rough_limits(double likely_share, double unlikely_share, double trials) {
  constexpr double z = 4;
  constexpr double zz = z * z;
  const auto spread = [&](double p) { return z * std::sqrt(p * (1 - p) * trials + zz / 4); };
  return {(likely_share * trials + zz / 2 - spread(likely_share)) / (trials + zz),
          (unlikely_share * trials + zz / 2 + spread(unlikely_share)) / (trials + zz)};
}

double epsilon_of(const EventLimits& limits, double delta) {
  const double likely = limits.likely - delta;
  return likely <= limits.unlikely ? 0 : std::log(likely / limits.unlikely);
}

double mu_of(const EventLimits& limits) {
  if (limits.likely <= limits.unlikely) return 0;
  return normal_quantile(limits.likely) - normal_quantile(limits.unlikely);
}

}  // namespace starling
