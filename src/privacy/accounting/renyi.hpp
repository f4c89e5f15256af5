/// Rényi accounting of sorted charges.
#pragma once

#include "loss_classes.hpp"

namespace starling {

/// ε by Rényi accounting, and the order that attains this ε.
struct RenyiLoss {
  double epsilon = 0;
  long double lambda = 1;  ///< order − 1
};

/// Least ε over orders in (1, 10^12), for the δ that remains after leaks; 0 < delta < 1.
[[nodiscard]] RenyiLoss renyi_loss(const Losses& losses, double delta);

}  // namespace starling
