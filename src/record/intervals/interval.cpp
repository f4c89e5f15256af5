#include "starling/record/intervals/interval.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <boost/math/special_functions/erf.hpp>

#include "starling/core/check.hpp"

namespace starling {

std::optional<bool> excludes_zero(const Interval& interval) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return std::nullopt;
  return interval.low > 0 || interval.high < 0;
}

std::optional<bool> all_settled(const std::vector<PathSettling>& paths) {
  if (paths.empty()) return std::nullopt;
  const auto unsettled = std::count_if(paths.begin(), paths.end(), [](const auto& path) { return !path.settled; });
  return static_cast<double>(unsettled) <= 0.1 * static_cast<double>(paths.size());
}

Interval wald_interval(const std::string& name, double estimate, double standard_error, double level,
                       const std::string& method) {
  check(level > 0 && level < 1, "level={} (the confidence of an interval lies between 0 and 1)", level);
  const double z = std::numbers::sqrt2 * boost::math::erf_inv(level);
  return {name, estimate, standard_error, estimate - z * standard_error, estimate + z * standard_error, level, method};
}

}  // namespace starling
