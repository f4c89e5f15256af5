/// A client's private stream of records.
#pragma once

#include <cstdint>
#include <optional>

#include "core/batch.hpp"
#include "core/boundary.hpp"
#include "core/links.hpp"
#include "data/batching.hpp"

namespace starling {

/// A client's records, round by round.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Records of round t, as `Batching` says; none after the last pass. Rounds ascend from
  /// 0; a resumed run skips rounds. The reference holds until the next call (of any client, if DataSettings shares
  /// batches). Throws DataError, and FailureError for a round that is over.
  [[nodiscard]] virtual const Secret<Batch>& next(Round t) = 0;
  /// Whether the stream has no record from round t on. A pipe waits here for the round's first record. The answer is
  /// public, since batch sizes are not hidden. Throws DataError.
  [[nodiscard]] virtual bool ended(Round t) = 0;
  /// Records of round t as planned, which is public; none where nothing but the batch size of all rounds is known.
  /// Records that are left out count.
  [[nodiscard]] virtual std::optional<std::int64_t> planned(Round t) const {
    static_cast<void>(t);
    return std::nullopt;
  }
  /// Most participations of one record so far (1 on a one-pass stream). Skipped rounds count: a resumed run served them
  /// before it stopped.
  [[nodiscard]] virtual std::int64_t participations() const = 0;
  /// Most rounds of a pass that use one unit of privacy.
  [[nodiscard]] virtual std::int64_t uses_of_pass() const { return 1; }
  /// Begins anew with round 0, in these batches and passes. Throws FailureError for a stream that cannot.
  virtual void plan(const Batching& batching);
  /// Records of one pass; none for a stream without a known end.
  [[nodiscard]] virtual std::optional<std::int64_t> records() const = 0;
  /// Rounds of one pass, and of all passes; none for a stream without a known end.
  [[nodiscard]] virtual std::optional<Round> rounds_of_pass() const = 0;
  [[nodiscard]] virtual std::optional<Round> rounds() const = 0;
};

}  // namespace starling
