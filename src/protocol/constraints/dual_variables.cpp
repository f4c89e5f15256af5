#include "protocol/constraints/dual_variables.hpp"

#include <algorithm>

namespace starling {

double next_multiplier(double lambda, double eta, double c, const DualSettings& settings) {
  const double ascent = settings.step * eta * (c - settings.regularisation * eta * lambda);
  return std::clamp(lambda + ascent, 0.0, settings.most);
}

double next_queue(double queue, double c) {
  return std::max(0.0, queue + c);
}

}  // namespace starling
