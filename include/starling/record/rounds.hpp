/// Which rounds are recorded.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "starling/core/links.hpp"
#include "starling/core/snapshot.hpp"

namespace starling {

/// Whether a round is 0 or a power of two: those that progress and tests by --test are shown of.
inline bool is_landmark(Round done) {
  return done == 0 || std::has_single_bit(static_cast<std::uint64_t>(done));
}

/// Every k-th round, or geometrically: 0 to 10, then each at least 15 % after the one before (some 17 per decade).
/// The last round of a run is recorded besides, whichever it is.
class RecordRounds {
 public:
  explicit RecordRounds(std::optional<Round> every) : every_(every) {}
  /// Whether round `done` is due; asked with rising rounds.
  [[nodiscard]] bool due(Round done) {
    if (done < next_) return false;
    next_ = done + (every_ ? *every_ : done < 10 ? 1 : (done * 3 + 19) / 20);
    return true;
  }
  /// The next round that is due.
  [[nodiscard]] Round next() const { return next_; }
  /// The same, which makes way for the one after it.
  Round take() {
    const Round round = next_;
    static_cast<void>(due(round));
    return round;
  }
  void persist(Snapshot& snapshot) { snapshot(next_); }

 private:
  std::optional<Round> every_;
  Round next_ = 0;
};

}  // namespace starling
