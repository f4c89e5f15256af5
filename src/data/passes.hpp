/// Passes over a source: the records of each round.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "starling/core/check.hpp"
#include "starling/core/links.hpp"

namespace starling {

/// Records first … first + count − 1 of a pass, served in the pass's round `round`, from 0. (A source without end does
/// not use `first`.)
struct Slice {
  Round round = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Passes over `records` records (none: a source without end), `batch` a round; the last round of a pass may be short.
/// Clients with equal numbers of records share one object. Each client keeps its own position: the next round that the
/// client may request.
class PassPlan {
 public:
  PassPlan(std::optional<std::int64_t> records, std::int64_t batch, std::int64_t epochs)
      : records_(records), batch_(batch), epochs_(epochs) {
    if (!records) return;
    of_pass_ = *records / batch + (*records % batch == 0 ? 0 : 1);
    end_ = epochs * *of_pass_;
  }

  /// The same records in other batches and passes.
  [[nodiscard]] PassPlan with(std::size_t batch, std::int64_t epochs) const {
    return {records_, static_cast<std::int64_t>(batch), epochs};
  }

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
    check<FailureError>(t >= next, "round {} was asked for after round {} (streams go forward only)", t, next - 1);
    next = t + 1;
    if (ended(t)) return {};
    if (!records_) return {t, 0, batch_};
    const Round round = t < *of_pass_ ? t : t % *of_pass_;
    const std::int64_t first = round * batch_;
    return {round, first, std::min(batch_, *records_ - first)};
  }

 private:
  std::optional<std::int64_t> records_;
  std::int64_t batch_;
  std::int64_t epochs_;
  std::optional<Round> of_pass_;
  Round end_ = std::numeric_limits<Round>::max();
};

/// The passes of one client.
class Passes {
 public:
  Passes(std::optional<std::int64_t> records, std::int64_t batch, std::int64_t epochs)
      : plan_(records, batch, epochs) {}

  /// Begins anew, with other batches and passes.
  void plan(std::size_t batch, std::int64_t epochs) {
    plan_ = plan_.with(batch, epochs);
    next_ = 0;
  }

  [[nodiscard]] std::optional<std::int64_t> records() const { return plan_.records(); }
  [[nodiscard]] std::optional<Round> rounds_of_pass() const { return plan_.rounds_of_pass(); }
  [[nodiscard]] std::optional<Round> rounds() const { return plan_.rounds(); }
  [[nodiscard]] bool ended(Round t) const { return plan_.ended(t); }
  [[nodiscard]] std::int64_t participations() const { return plan_.participations(next_); }
  [[nodiscard]] Slice advance(Round t) { return plan_.advance(t, next_); }

 private:
  PassPlan plan_;
  Round next_ = 0;
};

}  // namespace starling
