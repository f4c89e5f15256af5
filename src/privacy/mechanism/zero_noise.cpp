#include "zero_noise.hpp"

#include <algorithm>

namespace starling {

template <Norm norm>
Charge ZeroNoise<norm>::charge(double /*price*/) const {
  return Charge::unbounded();
}

template <Norm norm>
std::string ZeroNoise<norm>::description() const {
  return "No noise is added to the integers: for tests; not private.";
}

template <Norm norm>
void ZeroNoise<norm>::add_noise(const ReleaseAddress& /*address*/, double /*price*/, const NoiseKey& /*key*/,
                                std::span<std::int64_t> integers) {
  std::copy(integers.begin(), integers.end(), shown_.begin());
}

template class ZeroNoise<Norm::l1>;
template class ZeroNoise<Norm::l2>;

}  // namespace starling
