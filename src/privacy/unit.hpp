/// The unit of privacy, and the measure and range of prices.
#pragma once

namespace starling {

/// The unit of privacy: one replaced record, one replaced component of one record's gradient, or all records of one
/// person, replaced by any others. A sum has one clipped gradient for each record, or for each person.
enum class PrivacyUnit { record, component, person };

/// "record", "component" or "person".
[[nodiscard]] const char* name_of(PrivacyUnit unit);

/// Whether the gradient of a record or person is bounded as a whole.
[[nodiscard]] constexpr bool is_whole(PrivacyUnit unit) {
  return unit != PrivacyUnit::component;
}

/// "record" or "person": each has one clipped gradient in a sum.
[[nodiscard]] constexpr const char* summand_of(PrivacyUnit unit) {
  return unit == PrivacyUnit::person ? "person" : "record";
}

/// The measure of a release's price: the privacy loss that one release may cost a record.
enum class PriceKind {
  none,     ///< the mechanism protects nothing, at any price
  epsilon,  ///< ε of differential privacy
  mu,       ///< μ of Gaussian differential privacy
};

/// The range of prices in a run, 0 < least <= most.
struct PriceRange {
  double least = 1;
  double most = 1;
  [[nodiscard]] static PriceRange of(double price) { return {price, price}; }
};

}  // namespace starling
