#include "upper.hpp"

#include <cmath>

#include <fmt/format.h>

namespace starling {

std::string upper(double loss) {
  if (std::isinf(loss)) return "unbounded";
  std::string text = fmt::format("{:.6g}", loss);
  if (std::stod(text) >= loss) return text;
  return fmt::format("{:.6g}", loss * (1 + 6e-6));  // rounding to six digits takes away at most 5e-6 of it
}

}  // namespace starling
