/// The rounds that are recorded.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "core/links.hpp"
#include "core/snapshot.hpp"

namespace starling {

/// Whether a round is 0 or a power of two. Progress lines and scores on --test are taken at these rounds.
inline bool is_landmark(Round done) {
  return done == 0 || std::has_single_bit(static_cast<std::uint64_t>(done));
}

/// The schedule of recorded rounds: every k-th round, or a geometric sequence of 0 to 10 and steps of at least 15 %
/// (about 17 per decade). The last round of a run is always recorded, too.
class RecordRounds {
 public:
  explicit RecordRounds(std::optional<Round> every) : every_(every) {}
  /// Whether round `done` is due. Calls must come with rising rounds.
  [[nodiscard]] bool due(Round done) {
    if (done < next_) return false;
    next_ = done + (every_ ? *every_ : done < 10 ? 1 : (done * 3 + 19) / 20);
    return true;
  }
  /// The next round that is due.
  [[nodiscard]] Round next() const { return next_; }
  /// Returns the next due round and moves to the one after it.
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
