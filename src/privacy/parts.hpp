// What releases of several parts have in common. Internal to the privacy room.
#pragma once

#include <cmath>
#include <numbers>

#include "starling/privacy/mechanism.hpp"

namespace starling {

/// Takes more than the roundings of a root and a product add: squares of parts never come to more than that of the
/// whole.
inline constexpr double short_of_one = 1 - 0x1p-48;

/// Of a component of a noisy mean, for noise calibrated to F·clip (Laplace noise of scale b has √2 b).
inline double deviation_of(PriceKind kind, const ReleaseSettings& settings, double price) {
  if (kind == PriceKind::none) return 0;
  const double scale = settings.replacement * settings.clip / (price * static_cast<double>(settings.batch));
  return kind == PriceKind::mu ? scale : std::numbers::sqrt2 * scale;
}

}  // namespace starling
