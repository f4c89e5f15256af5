#include "loss_classes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "core/check.hpp"
#include "core/text/limits.hpp"

namespace starling {

namespace {

/// More than the relative error of sums of 10^5 positive terms.
constexpr long double sum_slack = 1e-13L;

double rounded_up(long double value) {
  const auto near = static_cast<double>(value);
  return static_cast<long double>(near) >= value ? near : std::nextafter(near, infinity);
}

void check_charge(const ChargeGroup& group) {
  const Charge& charge = group.charge;
  check(group.count >= 0, "{} releases: a count is at least 0.", group.count);
  check(charge.epsilon >= 0 && charge.mu >= 0, "a charge of epsilon={}, mu={}: a loss is at least 0.", charge.epsilon,
        charge.mu);
  check(charge.delta >= 0 && charge.delta <= 1, "a charge of delta={}: a probability is between 0 and 1.",
        charge.delta);
}

auto key_of(const ChargeGroup& group) {
  const Charge& charge = group.charge;
  return std::tuple(charge.kind, charge.epsilon, charge.delta, charge.mu, group.count);
}

/// Adds a charge; Gaussian ones go to `variance` = Σ μ².
void add(const ChargeGroup& group, Losses& losses, long double& variance, long double& log_kept) {
  const Charge& charge = group.charge;
  const auto count = static_cast<long double>(group.count);
  losses.releases += count;
  losses.all_gaussian = losses.all_gaussian && charge.kind == ChargeKind::gaussian;
  const double size = charge.kind == ChargeKind::gaussian ? charge.mu : charge.epsilon;
  if (charge.kind == ChargeKind::unbounded || std::isinf(size)) {
    losses.unbounded = true;
  } else if (charge.kind == ChargeKind::gaussian) {
    variance += count * static_cast<long double>(size) * static_cast<long double>(size);
  } else {
    if (charge.kind == ChargeKind::approximate) log_kept += count * std::log1p(-static_cast<long double>(charge.delta));
    const LossKind kind = charge.kind == ChargeKind::laplace ? LossKind::laplace : LossKind::response;
    if (size > 0) losses.classes.push_back({kind, size, count});
  }
}

bool same(const LossClass& one, const LossClass& other) {
  return one.kind == other.kind && one.size == other.size;
}

bool before(const LossClass& one, const LossClass& other) {
  return std::tuple(one.kind, one.size) < std::tuple(other.kind, other.size);
}

void join_equal(std::vector<LossClass>& classes) {
  std::stable_sort(classes.begin(), classes.end(), before);
  std::vector<LossClass> joined;
  for (const LossClass& one : classes) {
    if (!joined.empty() && same(joined.back(), one)) {
      joined.back().count += one.count;
    } else {
      joined.push_back(one);
    }
  }
  classes = std::move(joined);
}

/// Laplace, c = λ + ½: E_P e^(λL) = e^(−ε/2) (cosh cε + sinh(cε)/(2c)) (docs/methods/privacy.md). Randomised response:
/// cosh(cε) / cosh(ε/2). Both are even in c, in powers of e^(−2|c|ε) here.
long double log_moment(const LossClass& one, long double lambda) {
  const auto size = static_cast<long double>(one.size);
  if (one.kind == LossKind::gaussian) return lambda * (lambda + 1) * size * size / 2;
  const long double c = std::abs(lambda + 0.5L);
  const long double missing = -std::expm1(-2 * c * size);  // 1 − e^(−2cε)
  if (one.kind == LossKind::response) {
    return (c - 0.5L) * size + std::log1p(-missing / 2) - std::log1p(std::expm1(-size) / 2);
  }
  const long double over_c = c < 1e-15L ? 2 * size : missing / c;
  return (c - 0.5L) * size + std::log1p(-missing / 2 + over_c / 4);
}

/// Distances between neighbouring classes. A distance is the cost of raising all releases of the lower class.
std::vector<double> distances(const std::vector<LossClass>& classes) {
  std::vector<double> sums(classes.size(), 0.0);
  for (std::size_t i = 1; i < classes.size(); ++i) {
    const LossClass& low = classes[i - 1];
    const LossClass& high = classes[i];
    // A class of width w in size costs about count·size·w: equal shares of the root of it are best.
    const double cost =
        low.kind == high.kind ? std::sqrt(static_cast<double>(low.count) * low.size * (high.size - low.size)) : 0;
    sums[i] = sums[i - 1] + cost;
  }
  return sums;
}

}  // namespace

bool Losses::is_pure_but_for_leak() const {
  return !unbounded && std::none_of(classes.begin(), classes.end(),
                                    [](const LossClass& one) { return one.kind == LossKind::gaussian; });
}

double Losses::pure_sum() const {
  if (!is_pure_but_for_leak()) return infinity;
  long double sum = 0;
  long double missing = 0;  // what rounding may have taken away: nothing, where everything is exact
  for (const LossClass& one : classes) {
    const auto size = static_cast<long double>(one.size);
    const long double product = one.count * size;
    const long double next = sum + product;
    const long double added = next - sum;
    missing += std::abs(std::fma(one.count, size, -product)) + std::abs((sum - (next - added)) + (product - added));
    sum = next;
  }
  return rounded_up(missing == 0 ? sum : sum + 2 * missing + sum * std::numeric_limits<long double>::epsilon());
}

double Losses::mu() const {
  for (const LossClass& one : classes) {
    if (one.kind == LossKind::gaussian) return one.size;
  }
  return 0;
}

long double Losses::log_moment(long double lambda) const {
  return std::accumulate(classes.begin(), classes.end(), 0.0L, [&](long double sum, const LossClass& one) {
    return sum + one.count * starling::log_moment(one, lambda);
  });
}

namespace {

/// √variance, rounded up; the μ of a lone Gaussian release needs no rounding.
double total_mu(const std::vector<ChargeGroup>& groups, long double variance) {
  const auto is_gaussian = [](const ChargeGroup& group) { return group.charge.kind == ChargeKind::gaussian; };
  const auto lone = std::find_if(groups.begin(), groups.end(), is_gaussian);
  if (lone->count == 1 && std::count_if(groups.begin(), groups.end(), is_gaussian) == 1) return lone->charge.mu;
  const auto terms = static_cast<long double>(groups.size());
  return rounded_up(std::sqrt(variance) * (1 + (terms + 4) * std::numeric_limits<long double>::epsilon()));
}

}  // namespace

Losses losses_of(std::span<const ChargeGroup> groups) {
  std::vector<ChargeGroup> sorted;
  for (const ChargeGroup& group : groups) {
    check_charge(group);
    if (group.count > 0) sorted.push_back(group);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const ChargeGroup& one, const ChargeGroup& other) { return key_of(one) < key_of(other); });
  Losses losses;
  long double variance = 0;
  long double log_kept = 0;  // ln Π(1 − δ)
  long double leak = 0;      // Σ δ, which may be the more exact bound
  for (const ChargeGroup& group : sorted) {
    add(group, losses, variance, log_kept);
    leak += static_cast<long double>(group.count) * static_cast<long double>(group.charge.delta);
  }
  join_equal(losses.classes);
  if (variance > 0) {
    losses.classes.push_back({LossKind::gaussian, total_mu(sorted, variance), 1});
  }
  leak *= 1 + static_cast<long double>(sorted.size()) * std::numeric_limits<long double>::epsilon();
  if (log_kept < 0) losses.leak = std::min({1.0L, leak, -std::expm1(log_kept) * (1 + sum_slack)});
  return losses;
}

Losses merged(const Losses& losses, std::size_t most) {
  if (losses.classes.size() <= most) return losses;
  const std::vector<double> at = distances(losses.classes);
  const double width = at.back() / static_cast<double>(most - 3);  // kinds begin classes of their own
  Losses result = losses;
  result.classes.clear();
  std::size_t last = 0;
  for (std::size_t i = 0; i < losses.classes.size(); ++i) {
    const LossClass& one = losses.classes[i];
    const auto bin = static_cast<std::size_t>(width > 0 ? at[i] / width : 0.0);
    if (!result.classes.empty() && bin == last && result.classes.back().kind == one.kind) {
      result.classes.back().size = one.size;  // sizes grow
      result.classes.back().count += one.count;
    } else {
      result.classes.push_back(one);
    }
    last = bin;
  }
  return result;
}

}  // namespace starling
