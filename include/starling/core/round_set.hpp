/// A set of rounds that is put together in rising order.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "starling/core/links.hpp"
#include "starling/core/snapshot.hpp"

namespace starling {

/// Kept as spans of rounds without a gap: a client that plays every round has one, whatever their number.
class RoundSet {
 public:
  RoundSet() = default;
  /// The rounds 0 … count − 1.
  [[nodiscard]] static RoundSet first(Round count) {
    RoundSet set;
    if (count > 0) set.spans_.emplace_back(0, count);
    return set;
  }

  /// `t` is beyond all rounds of the set.
  void add(Round t) {
    if (!spans_.empty() && spans_.back().second == t) {
      ++spans_.back().second;
    } else {
      spans_.emplace_back(t, t + 1);
    }
  }

  [[nodiscard]] bool empty() const { return spans_.empty(); }
  [[nodiscard]] Round size() const {
    Round total = 0;
    for (const auto& [from, end] : spans_) total += end - from;
    return total;
  }
  /// One more than the last round; 0 for none.
  [[nodiscard]] Round end() const { return spans_.empty() ? 0 : spans_.back().second; }
  /// How many of its rounds are before t.
  [[nodiscard]] Round before(Round t) const {
    Round total = 0;
    for (const auto& [from, end] : spans_) {
      if (from >= t) break;
      total += std::min(end, t) - from;
    }
    return total;
  }
  void for_each(const std::function<void(Round)>& action) const {
    for (const auto& [from, end] : spans_) {
      for (Round t = from; t < end; ++t) action(t);
    }
  }
  void persist(Snapshot& snapshot) { snapshot(spans_); }
  friend bool operator==(const RoundSet&, const RoundSet&) = default;

 private:
  std::vector<std::pair<Round, Round>> spans_;  ///< first, and one beyond the last
};

}  // namespace starling
