// Bits per component of embeddings over the rounds.
#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/text/spec.hpp"
#include "files/round_values.hpp"
#include "vertical_config.hpp"

namespace starling {

bool BitSchedule::is_sublinear() const {
  return Spec::parse(text).name() == "sublinear";
}

long long BitSchedule::first_bits(long long most) const {
  Spec spec = Spec::parse(text);
  spec.bind({{"bits", "of round 1"}});
  const long long first = parse_integer(spec.require("bits"), text);
  check(first >= 1 && first <= most, "--bits {}: {} bits: 1 to {}.", text, first, most);
  return first;
}

std::vector<long long> BitSchedule::values(Round rounds, long long most) const {
  std::vector<long long> bits;
  if (is_sublinear()) {
    const long long first = first_bits(most);
    for (Round t = 0; t < rounds; ++t) {
      const auto more = static_cast<long long>(std::ceil(0.5 * std::log2(static_cast<double>(t + 1))));
      bits.push_back(std::min(first + more, most));
    }
    return bits;
  }
  const RoundValues values = RoundValues::parse(text, "--bits", rounds, 1, static_cast<double>(most));
  for (Round t = 0; t < rounds; ++t) bits.push_back(static_cast<long long>(std::ceil(values.at(t))));
  return bits;
}

std::optional<Round> BitSchedule::first_capped(long long most) const {
  if (!is_sublinear()) return std::nullopt;
  // ½ log₂(t + 1) exceeds what is left after B from t = 4^(most − B) on.
  return Round{1} << (2 * (most - first_bits(most)));
}

}  // namespace starling
