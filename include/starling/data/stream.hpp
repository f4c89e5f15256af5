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
  /// The records of round t; rounds are asked for in ascending order, from 0 (some may be left out: a resumed run goes
  /// on where it was). At most `batch` records, fewer at the end of each pass, none after the last pass. The reference
  /// holds until the next call (of any client's, where DataSettings shares batches). Throws DataError, and FailureError
  /// for a round that is over.
  [[nodiscard]] virtual const Secret<Batch>& next(Round t) = 0;
  /// Whether round t is beyond the stream: no record will come any more. A stream that is read as it arrives waits here
  /// for the round's first record. Public: batch sizes are not hidden. Throws DataError.
  [[nodiscard]] virtual bool ended(Round t) = 0;
  /// Most times that one record has been served so far (1 on a one-pass stream). Rounds that were left out count as
  /// served: a resumed run served them before it stopped.
  [[nodiscard]] virtual std::int64_t participations() const = 0;
  /// Number of records of one pass; none for a stream without a known end.
  [[nodiscard]] virtual std::optional<std::int64_t> records() const = 0;
  /// Rounds of one pass, and of all passes; none for a stream without a known end.
  [[nodiscard]] virtual std::optional<Round> rounds_of_pass() const = 0;
  [[nodiscard]] virtual std::optional<Round> rounds() const = 0;
};

}  // namespace starling
