/// Batches of a round, and passes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/links.hpp"

namespace starling {

/// Sizes of one client's batches, which change over the rounds of a pass.
class BatchSizes {
 public:
  struct Step {
    Round round = 0;          ///< the first round of this size
    std::int64_t size = 1;    ///< at least 1
    std::int64_t before = 0;  ///< records of the rounds before
  };
  /// `steps` ascend by round, from round 0, with sizes and rounds of at most 10^9. `before` is filled in.
  explicit BatchSizes(std::vector<Step> steps) : steps_(std::move(steps)) {
    for (std::size_t i = 1; i < steps_.size(); ++i) steps_[i].before = before(steps_[i - 1], steps_[i].round);
  }

  [[nodiscard]] std::int64_t at(Round t) const { return of_round(t).size; }
  /// Records of the rounds before t.
  [[nodiscard]] std::int64_t before(Round t) const { return before(of_round(t), t); }
  /// Rounds that take this number of records.
  [[nodiscard]] Round rounds_of(std::int64_t records) const {
    const auto later = [](std::int64_t n, const Step& step) { return n <= step.before; };
    const auto found = std::upper_bound(steps_.begin() + 1, steps_.end(), records, later);
    const Step& step = *std::prev(found);
    return records == 0 ? 0 : step.round + (records - step.before + step.size - 1) / step.size;
  }

 private:
  static std::int64_t before(const Step& step, Round t) { return step.before + (t - step.round) * step.size; }
  [[nodiscard]] const Step& of_round(Round t) const {
    const auto later = [](Round round, const Step& step) { return round < step.round; };
    return *std::prev(std::upper_bound(steps_.begin() + 1, steps_.end(), t, later));
  }

  std::vector<Step> steps_;
};

/// Batches of a source with a known number N of records, in passes over them.
struct Batching {
  std::size_t batch = 1;    ///< m, the most records of a batch
  std::int64_t epochs = 1;  ///< passes
  /// T: N records are dealt into T batches of a pass, or ⌈N/m⌉ if these are more. Batch t has
  /// ⌊(t + 1) N/T⌋ − ⌊t N/T⌋ records, perhaps none. No T: batches of m, of which the last of a pass may be short.
  std::optional<Round> rounds_of_pass = {};
  std::shared_ptr<const BatchSizes> sizes = {};  ///< in place of m, without T
};

}  // namespace starling
