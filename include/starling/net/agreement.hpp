/// The door that is open before the first round and after the last: validation together, digests, gathering of results;
/// and the one-way reports that progress is made of.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/boundary.hpp"
#include "starling/net/world.hpp"

namespace starling {

/// All members but `report` and `collect` are **collective** over all ranks.
class Agreement {
 public:
  explicit Agreement(World& world) : world_(world) {}

  /// Of this rank, and how many there are; not collective.
  [[nodiscard]] int rank() const { return world_.rank(); }
  [[nodiscard]] int ranks() const { return world_.size(); }

  /// Runs `step` here and agrees on the outcome: if it threw on any rank, it throws on all: the lowest such rank gets
  /// its own exception back, the others a PeerError.
  void together(const std::function<void()>& step);

  /// Throws UsageError unless `value` is the same on all ranks; the message names the first rank that differs from rank
  /// 0.
  void same(const std::string& what, const Public<std::string>& value);

  /// Rank 0's text, everywhere.
  [[nodiscard]] std::string broadcast(const Public<std::string>& text);
  /// Every rank's text, in rank order, everywhere.
  [[nodiscard]] std::vector<std::string> all_gather(const Public<std::string>& text);
  /// Every rank's numbers, in rank order, everywhere.
  [[nodiscard]] std::vector<Vector> all_gather(const Released<Vector>& numbers);
  /// Part r of each rank's goes to rank r: what has come here, in rank order. All ranks give a part for every rank.
  [[nodiscard]] std::vector<Vector> exchange(const std::vector<Released<Vector>>& parts);
  /// Every rank's numbers, in rank order, on rank 0; empty elsewhere.
  [[nodiscard]] std::vector<Vector> gather(const Released<Vector>& numbers);
  /// Sum of all clients' columns, added in client order whatever the layout (a reduction tree would differ in the last
  /// bit between layouts), everywhere. All ranks give columns of the same length; a rank without clients gives none.
  [[nodiscard]] Vector ordered_sum(const Released<Columns>& columns);
  /// No rank leaves before all have entered.
  void barrier();

  /// Sends a report to rank 0 without waiting; rank r's k-th report belongs with every other rank's k-th.
  void report(const Released<Vector>& numbers);
  /// Rank 0: the next set of reports if all `ranks` that take part have sent theirs (waiting for it if `wait`), in rank
  /// order.
  [[nodiscard]] std::optional<std::vector<Vector>> collect(const std::vector<int>& ranks, bool wait);

  /// Bytes that this rank has sent through this door.
  [[nodiscard]] std::int64_t bytes() const;

 private:
  World& world_;
};

}  // namespace starling
