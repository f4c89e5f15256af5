/// Counts of records.
#pragma once

#include <cstdint>
#include <vector>

namespace starling {

/// Counts of one client's records, one histogram after the other.
using Counts = std::vector<std::int64_t>;

}  // namespace starling
