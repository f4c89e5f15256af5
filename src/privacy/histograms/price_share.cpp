#include "price_share.hpp"

#include <cmath>

#include "privacy/parts.hpp"

namespace starling {

double PriceShare::of_release(double price) const {
  return (gaussian_ ? std::sqrt(share_ * uses_) : std::sqrt(share_) * uses_) * price * short_of_one;
}

double PriceShare::of_gradients(double price) const {
  if (!any()) return price;
  return (gaussian_ ? std::sqrt(1 - share_) : 1 - std::sqrt(share_)) * price * short_of_one;
}

}  // namespace starling
