/// Collective agreement of all ranks, before the first round and after the last: joint validation, typed reductions,
/// gathering of results. One-way reports of progress may be sent during rounds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "net/world.hpp"

namespace starling {

/// Communication of all ranks outside of rounds. All members are **collective** over all ranks, except `rank`, `ranks`,
/// `report`, `collect` and `bytes`.
class Agreement {
 public:
  explicit Agreement(World& world) : world_(world) {}

  [[nodiscard]] int rank() const { return world_.rank(); }
  [[nodiscard]] int ranks() const { return world_.size(); }

  /// Runs `step` on every rank and agrees on the outcome. If `step` threw on any rank, all ranks throw: the lowest such
  /// rank its own exception, the others a PeerError.
  void together(const std::function<void()>& step);

  /// Throws UsageError unless `value` is the same on all ranks. The message names the first rank that differs from
  /// rank 0.
  void same(const std::string& what, const Public<std::string>& value);
  /// Whether `value` is the same on all ranks.
  [[nodiscard]] bool alike(const Public<std::string>& value);

  /// Whether `value` is true on at least one rank.
  [[nodiscard]] bool any(const Public<bool>& value);
  /// Whether `value` is true on every rank.
  [[nodiscard]] bool all(const Public<bool>& value);
  /// The least value of any rank.
  [[nodiscard]] std::int64_t min(const Public<std::int64_t>& value);
  /// The largest value of any rank.
  [[nodiscard]] std::int64_t max(const Public<std::int64_t>& value);
  /// The sum of all ranks' values.
  [[nodiscard]] std::int64_t sum(const Public<std::int64_t>& value);

  /// Rank 0's value, on every rank.
  [[nodiscard]] bool broadcast(const Public<bool>& value);
  [[nodiscard]] double broadcast(const Public<double>& value);
  [[nodiscard]] std::string broadcast(const Public<std::string>& text);
  /// Every rank's values, in rank order, on every rank.
  [[nodiscard]] std::vector<std::string> all_gather(const Public<std::string>& text);
  [[nodiscard]] std::vector<std::vector<std::int64_t>> all_gather(const Public<std::vector<std::int64_t>>& numbers);
  [[nodiscard]] std::vector<Vector> all_gather(const Released<Vector>& numbers);
  /// Personalised exchange: part r goes to rank r. Returns the parts for this rank, in rank order. Every rank gives a
  /// part for every rank.
  [[nodiscard]] std::vector<Vector> exchange(const std::vector<Released<Vector>>& parts);
  /// Every rank's values, in rank order, on rank 0; empty elsewhere.
  [[nodiscard]] std::vector<Vector> gather(const Released<Vector>& numbers);
  [[nodiscard]] std::vector<std::string> gather(const Released<std::string>& text);
  /// Sum of all clients' columns, on every rank. Columns are added in client order for any layout, because a reduction
  /// tree would differ in the last bit between layouts. All ranks give columns of the same length; a rank without
  /// clients gives none.
  [[nodiscard]] Vector ordered_sum(const Released<Columns>& columns);
  /// No rank leaves before all ranks have entered.
  void barrier();

  /// Sends a report to rank 0 without waiting. The k-th reports of all ranks belong together.
  void report(const Released<Vector>& numbers);
  /// On rank 0: the next set of reports, in rank order, if all `ranks` that take part have sent theirs. `wait` waits
  /// for this set.
  [[nodiscard]] std::optional<std::vector<Vector>> collect(const std::vector<int>& ranks, bool wait);

  /// Bytes that this rank has sent with this interface. Reductions and broadcasts do not count.
  [[nodiscard]] std::int64_t bytes() const;

 private:
  World& world_;
};

}  // namespace starling
