/// The price of a single release of all records beside those of the rounds.
#pragma once

#include <cstdint>

#include "privacy/charge.hpp"

namespace starling {

/// The division of what a record pays by a single release of all records and by `uses` uses in gradients (one of each
/// pass): together no more than these uses alone would cost at the whole price.
class PriceShare {
 public:
  /// `share` S in [0, 1): of all squares of μ under Gaussian noise; under Laplace noise, whose ε add up as they are, √S
  /// of all ε. So S = 0.01 gives the histogram a tenth of a total μ or ε either way. `uses` >= 1.
  PriceShare(ChargeKind noise, double share, std::int64_t uses)
      : gaussian_(noise == ChargeKind::gaussian), share_(share), uses_(static_cast<double>(uses)) {}

  [[nodiscard]] bool any() const { return share_ > 0; }
  /// The price of the release, where one use costs `price` without it: √(S uses) μ or √S uses ε.
  [[nodiscard]] double of_release(double price) const;
  /// The price of a use beside it: √(1 − S) μ or (1 − √S) ε, rounded so that all together never cost more.
  [[nodiscard]] double of_gradients(double price) const;

 private:
  bool gaussian_;
  double share_;
  double uses_;
};

}  // namespace starling
