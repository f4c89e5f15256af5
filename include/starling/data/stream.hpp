/// A client's private stream of records.
#pragma once

#include <cstdint>
#include <optional>

#include "starling/core/batch.hpp"
#include "starling/core/boundary.hpp"
#include "starling/core/links.hpp"

namespace starling {

class Stream {
 public:
  virtual ~Stream() = default;
  /// The records of round t; rounds are asked for in order, from 0. At most `batch` records, fewer at the end of the
  /// data, none after it. The reference holds until the next call. Throws DataError.
  [[nodiscard]] virtual const Secret<Batch>& next(Round t) = 0;
  /// Number of records of one pass; none for a stream without end.
  [[nodiscard]] virtual std::optional<std::int64_t> records() const = 0;
};

}  // namespace starling
