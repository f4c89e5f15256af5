#include "starling/record/intervals/interval.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "starling/core/check.hpp"
#include "starling/core/numerics/distributions.hpp"

namespace starling {

std::optional<bool> excludes_zero(const Interval& interval) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return std::nullopt;
  return interval.low > 0 || interval.high < 0;
}

std::optional<Disagreement> disagreement_of(const std::vector<Interval>& intervals) {
  std::map<std::string, std::vector<const Interval*>> coefficients;
  for (const Interval& each : intervals) {
    const bool counts = each.client && each.method == intervals[0].method && each.level == intervals[0].level;
    if (counts && each.high > each.low) coefficients[each.name].push_back(&each);
  }
  std::optional<Disagreement> result;
  for (const auto& [name, clients] : coefficients) {
    const auto count = static_cast<double>(clients.size());
    double mean = 0;
    for (const Interval* each : clients) mean += each->estimate / count;
    double squares = 0;
    for (const Interval* each : clients) {
      squares += std::pow(2 * (each->estimate - mean) / (each->high - each->low), 2) / count;
    }
    if (!result || std::sqrt(squares) > result->size) result = Disagreement{std::sqrt(squares), name};
  }
  return result;
}

const PathSettling& RunSettling::worst() const {
  return *std::ranges::min_element(paths, [](const auto& a, const auto& b) {
    return std::pair(a.settled, a.effective_steps) < std::pair(b.settled, b.effective_steps);
  });
}

std::optional<bool> RunSettling::settled() const {
  if (!agrees()) return false;
  if (paths.empty()) return std::nullopt;
  const auto unsettled = std::ranges::count_if(paths, [](const auto& path) { return !path.settled; });
  return static_cast<double>(unsettled) <= 0.1 * static_cast<double>(paths.size());
}

Interval wald_interval(const std::string& name, double estimate, double standard_error, double level,
                       const std::string& method) {
  check(level > 0 && level < 1, "level={} (the confidence of an interval lies between 0 and 1)", level);
  const double z = two_sided_normal_quantile(level);
  return {name, estimate, standard_error, estimate - z * standard_error, estimate + z * standard_error, level, method};
}

}  // namespace starling
