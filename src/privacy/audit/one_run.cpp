#include "privacy/audit/one_run.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <boost/math/distributions/binomial.hpp>

#include "core/check.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/audit/audit.hpp"

namespace starling {

namespace {

constexpr std::size_t parts = 6;     ///< of the canaries: all, 1/2, … 1/32
constexpr std::size_t guessers = 2;  ///< one says of each sign the contrary of the other
constexpr double most_epsilon = 700;

/// P(Bin(k, q) ≥ right).
double at_least(std::int64_t right, const boost::math::binomial& guesses) {
  return right == 0 ? 1 : boost::math::cdf(boost::math::complement(guesses, static_cast<double>(right - 1)));
}

/// max_i P(right − i ≤ Bin(k, q) < right)/i.
double steepest(std::int64_t right, const boost::math::binomial& guesses) {
  double most = 0;
  double between = 0;
  for (std::int64_t i = 1; i <= right; ++i) {
    const double mass = boost::math::pdf(guesses, static_cast<double>(right - i));
    between += mass;
    most = std::max(most, between / static_cast<double>(i));
    if (between / static_cast<double>(i) < most && mass < 1e-12 * most) break;  // what follows adds nothing
  }
  return most;
}

double claimed(const Charge& claim, double delta) {
  return claim.kind == ChargeKind::gaussian ? gaussian_epsilon(claim.mu, delta) : claim.epsilon;
}

}  // namespace

double one_run_p_value(const OneRunScore& score, double epsilon, double delta) {
  check(score.right >= 0 && score.right <= score.guesses && score.guesses <= score.canaries && score.guesses >= 1,
        "{} right of {} guesses about {} canaries: each must be at most the next.", score.right, score.guesses,
        score.canaries);
  check(epsilon >= 0 && delta >= 0 && delta < 1, "epsilon={} and delta={}: must not be negative, delta below 1.",
        epsilon, delta);
  const boost::math::binomial guesses(static_cast<double>(score.guesses), 1 / (1 + std::exp(-epsilon)));
  double p = at_least(score.right, guesses);
  if (delta > 0) p += 2 * static_cast<double>(score.canaries) * delta * steepest(score.right, guesses);
  return std::min(1.0, p);
}

double one_run_bound(const OneRunScore& score, double delta, double error) {
  check(error > 0 && error < 1, "error={}: a probability between 0 and 1.", error);
  if (one_run_p_value(score, 0, delta) >= error) return 0;
  double low = 0;
  double high = 1;
  while (high < most_epsilon && one_run_p_value(score, high, delta) < error) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (one_run_p_value(score, middle, delta) < error ? low : high) = middle;
  }
  return low;
}

OneRunResult one_run_audit(const CanaryLog& log, const Charge& claim, double delta) {
  const std::size_t n = log.signs.size();
  check(n >= 32 && log.seen.size() == n,
        "{} canaries and {} releases: a one-run audit needs 32 rounds or more, with a canary in each. Run longer.", n,
        log.seen.size());
  OneRunResult result;
  result.delta = claim.kind == ChargeKind::gaussian ? delta : claim.delta;
  result.epsilon_claimed = claimed(claim, delta);

  Vector sorted = log.seen;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(n / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const double median = *middle;
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(log.seen[a] - median) > std::abs(log.seen[b] - median);
  });
  std::vector<char> right(n);
  for (std::size_t k = 0; k < n; ++k) right[k] = (log.seen[order[k]] >= median ? 1 : -1) == log.signs[order[k]] ? 1 : 0;
  const bool contrary = 2 * std::ranges::count(right, 1) < static_cast<std::ptrdiff_t>(n);
  for (std::size_t part = 0; part < parts; ++part) {
    const auto guesses = static_cast<std::int64_t>(n >> part);
    const std::int64_t plain = std::count(right.begin(), right.begin() + guesses, 1);
    const OneRunScore score{static_cast<std::int64_t>(n), guesses, contrary ? guesses - plain : plain};
    const auto bound = [&](double error) { return one_run_bound(score, result.delta, error / (parts * guessers)); };
    result.epsilon_lower_bound = std::max(result.epsilon_lower_bound, bound(audit_bound_error));
    result.epsilon_refuting = std::max(result.epsilon_refuting, bound(audit_verdict_error));
    result.scores.push_back(score);
  }
  result.refuted = result.epsilon_refuting > result.epsilon_claimed;
  return result;
}

}  // namespace starling
