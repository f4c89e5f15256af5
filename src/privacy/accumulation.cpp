#include "privacy/accumulation.hpp"

#include <algorithm>
#include <cmath>

namespace starling {

namespace {

/// ‖C 1‖ over so many releases, in multiples of what they cost by independent noise.
double factor_of_chain(const std::optional<NoiseCorrelation>& correlation, std::int64_t releases) {
  if (!correlation || releases < 1) return 1;
  const double independent = std::sqrt(static_cast<double>(releases));
  const double all = norm_of_all_rounds(*correlation, releases) / (noise_factor(*correlation) * independent);
  return std::max(1.0, all * (1 + 0x1p-50));
}

}  // namespace

// With n releases, of which the first w are one sum, and a chain that costs a times as much as independent noise, the
// square of the loss is ((1 − i − o) a² + i) μ² (n − w) for what is released one by one, i and o being the shares,
// o μ² (n − w)² for what is released once, and w² μ² for the first sum.
double Accumulation::factor(std::int64_t releases) const {
  const std::int64_t all = std::max<std::int64_t>(releases, 1);
  const std::int64_t first = std::min<std::int64_t>(all, first_rounds);
  const double chain = factor_of_chain(correlation, all - first);
  if (independent == 0 && once == 0 && first == 0) return chain;
  const auto together = static_cast<double>(first);
  const auto later = static_cast<double>(all - first);
  const double each = (1 - independent - once) * chain * chain + independent + once * later;
  return std::sqrt((each * later + together * together) / static_cast<double>(all)) * (1 + 0x1p-40);
}

}  // namespace starling
