/// Helpers of mechanisms whose releases have several parts.
#pragma once

#include <numbers>

#include "core/check.hpp"
#include "privacy/mechanism.hpp"

namespace starling {

/// A factor that outweighs the roundings of a root and a product, so that squares of parts never add up to more than
/// the square of the whole.
inline constexpr double short_of_one = 1 - 0x1p-48;

/// The row of a mechanism whose releases can share a price. Throws UsageError for other mechanisms.
inline const MechanismRow& divisible_row(const std::string& mechanism, const char* releases) {
  const MechanismRow& row = mechanism_table().row(mechanism);
  check(row.divisible(), "mechanism '{}' with {} releases a round: their joint cost is not known. Choose one of: {}.",
        mechanism, releases, mechanism_table().names_where(&MechanismRow::divisible));
  return row;
}

/// The standard deviation of a component of a noisy mean, for noise calibrated to F·clip (Laplace noise of scale b has
/// the deviation √2 b).
inline double deviation_of(PriceKind kind, const ReleaseSettings& settings, double price) {
  if (kind == PriceKind::none) return 0;
  const double scale = settings.replacement * settings.clip / (price * static_cast<double>(settings.batch));
  return kind == PriceKind::mu ? scale : std::numbers::sqrt2 * scale;
}

}  // namespace starling
