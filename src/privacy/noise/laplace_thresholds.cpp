#include "laplace_exact.hpp"

namespace starling::laplace_draws {

const std::array<Threshold, 17> thresholds = {{
#include "laplace_thresholds.inc"
}};

}  // namespace starling::laplace_draws
