/// Batches of a round, and passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/links.hpp"

namespace starling {

/// Batches of a source with a known number N of records, in passes over them.
struct Batching {
  std::size_t batch = 1;    ///< m, the most records of a batch
  std::int64_t epochs = 1;  ///< passes
  /// T: N records are dealt into T batches of a pass, or ⌈N/m⌉ if these are more. Batch t has
  /// ⌊(t + 1) N/T⌋ − ⌊t N/T⌋ records, perhaps none. No T: batches of m, of which the last of a pass may be short.
  std::optional<Round> rounds_of_pass = {};
};

}  // namespace starling
