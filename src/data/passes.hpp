/// Passes over a source: the records of each round.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/check.hpp"
#include "core/links.hpp"
#include "data/batching.hpp"

namespace starling {

/// Records first … first + count − 1 of a pass, served in the pass's round `round`, from 0. (A source without end does
/// not use `first`.)
struct Slice {
  Round round = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Passes over `records` records (none: a source without end). Clients with equal numbers of records share one object.
/// Each client keeps its own position: the next round that the client may request.
class PassPlan {
 public:
  PassPlan(std::optional<std::int64_t> records, const Batching& batching)
      : records_(records),
        batch_(static_cast<std::int64_t>(batching.batch)),
        epochs_(batching.epochs),
        even_(batching.rounds_of_pass.has_value()),
        sizes_(batching.sizes) {
    if (!records) return;
    of_pass_ = sizes_ ? sizes_->rounds_of(*records) : *records / batch_ + (*records % batch_ == 0 ? 0 : 1);
    if (even_ && *records > 0) of_pass_ = std::max(*of_pass_, *batching.rounds_of_pass);
    end_ = epochs_ * *of_pass_;
  }

  /// The same records in other batches and passes.
  [[nodiscard]] PassPlan with(const Batching& batching) const { return {records_, batching}; }

  [[nodiscard]] std::optional<std::int64_t> records() const { return records_; }

  /// Rounds of one pass; none for a source without end.
  [[nodiscard]] std::optional<Round> rounds_of_pass() const { return of_pass_; }

  /// Rounds of all passes; none for a source without end.
  [[nodiscard]] std::optional<Round> rounds() const {
    if (!records_) return std::nullopt;
    return end_;
  }

  [[nodiscard]] bool ended(Round t) const { return t >= end_; }

  /// Most times that one record has been served in the rounds before `next`: the number of the pass. Skipped rounds
  /// count too, for a resumed run served them before the stop.
  [[nodiscard]] std::int64_t participations(Round next) const {
    if (next == 0 || records_ == 0) return 0;
    return records_ ? std::min((next - 1) / *of_pass_ + 1, epochs_) : 1;
  }

  /// Round t from 0; empty after the end. Rounds may be skipped but not repeated, so that no record is served twice
  /// unnoticed. Throws FailureError.
  [[nodiscard]] Slice advance(Round t, Round& next) const {
    check<FailureError>(t >= next, "round {} was asked for after round {}: streams go forward only.", t, next - 1);
    next = t + 1;
    return slice(t);
  }

  /// Round t from 0; empty after the end.
  [[nodiscard]] Slice slice(Round t) const {
    if (ended(t)) return {};
    if (!records_) return {t, 0, sizes_ ? sizes_->at(t) : batch_};
    const Round round = t < *of_pass_ ? t : t % *of_pass_;
    const std::int64_t first = begin_of(round);
    return {round, first, begin_of(round + 1) - first};
  }

 private:
  /// Records of a pass before its round `round`.
  [[nodiscard]] std::int64_t begin_of(Round round) const {
    if (sizes_) return std::min(sizes_->before(round), *records_);
    if (!even_) return std::min(round * batch_, *records_);
    const std::int64_t whole = *records_ / *of_pass_;
    return round * whole + round * (*records_ % *of_pass_) / *of_pass_;  // no product overflows
  }

  std::optional<std::int64_t> records_;
  std::int64_t batch_;
  std::int64_t epochs_;
  bool even_;
  std::shared_ptr<const BatchSizes> sizes_;
  std::optional<Round> of_pass_;
  Round end_ = std::numeric_limits<Round>::max();
};

/// The passes of one client.
class Passes {
 public:
  Passes(std::optional<std::int64_t> records, const Batching& batching) : plan_(records, batching) {}

  /// Begins anew, with other batches and passes.
  void plan(const Batching& batching) {
    plan_ = plan_.with(batching);
    next_ = 0;
  }

  [[nodiscard]] std::optional<std::int64_t> records() const { return plan_.records(); }
  [[nodiscard]] std::optional<Round> rounds_of_pass() const { return plan_.rounds_of_pass(); }
  [[nodiscard]] std::optional<Round> rounds() const { return plan_.rounds(); }
  [[nodiscard]] bool ended(Round t) const { return plan_.ended(t); }
  [[nodiscard]] std::int64_t size(Round t) const { return plan_.slice(t).count; }
  [[nodiscard]] std::int64_t participations() const { return plan_.participations(next_); }
  [[nodiscard]] Slice advance(Round t) { return plan_.advance(t, next_); }

 private:
  PassPlan plan_;
  Round next_ = 0;
};

}  // namespace starling
