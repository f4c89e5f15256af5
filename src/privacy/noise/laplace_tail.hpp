/// Tails of sums of independent Laplace variables.
#pragma once

#include "core/columns.hpp"

namespace starling {

/// The x that a sum of independent centred Laplace variables with these variances exceeds with this probability.
/// `variances` are positive, one or more; `probability` is between 1e-6 and 0.1. Its relative error is below 1e-3.
[[nodiscard]] double laplace_sum_quantile(View variances, double probability);

}  // namespace starling
