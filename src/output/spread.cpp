#include "spread.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

/// The value below which a share of the sorted `values` lies (Hyndman and Fan 1996, definition 7).
double quantile(const Vector& values, double share) {
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= values.size()) return values.back();
  const double part = place - static_cast<double>(below);
  return values[below] + part * (values[below + 1] - values[below]);
}

}  // namespace

ClientSpread spread_of(Vector values) {
  ClientSpread spread;
  spread.fill(std::numeric_limits<double>::quiet_NaN());
  std::erase_if(values, [](double value) { return std::isnan(value); });
  spread[0] = static_cast<double>(values.size());
  if (values.empty()) return spread;
  std::ranges::sort(values);
  spread[1] = sum(values) / spread[0];
  const std::array<double, 5> shares{0, 0.25, 0.5, 0.75, 1};
  std::ranges::transform(shares, spread.begin() + 2, [&](double share) { return quantile(values, share); });
  return spread;
}

}  // namespace starling
