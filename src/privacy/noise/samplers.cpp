#include <cmath>

#include "starling/privacy/keys/keystream.hpp"

namespace starling {

double floating_laplace(Keystream& words, double scale) {
  const std::uint64_t word = words();
  const double uniform = static_cast<double>((word >> 11) + 1) * 0x1.0p-53;  // on (0, 1]
  const double magnitude = -scale * std::log(uniform);
  return (word & 1) != 0 ? -magnitude : magnitude;
}

}  // namespace starling
