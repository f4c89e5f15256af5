/// Snapshots of one group of clients, made of the snapshots of other groups: what a run needs that goes on with other
/// clients on each rank.
#pragma once

#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "core/links.hpp"
#include "core/snapshot.hpp"

namespace starling {

/// The clients first, first + 1, …, first + count − 1 of a rank.
struct ClientGroup {
  Client first = 0;
  Client count = 0;
  [[nodiscard]] Client end() const { return first + count; }
  [[nodiscard]] bool has(Client u) const { return first <= u && u < end(); }
  [[nodiscard]] bool meets(const ClientGroup& other) const { return first < other.end() && other.first < end(); }
  friend bool operator==(const ClientGroup&, const ClientGroup&) = default;
};

/// The snapshot of one group.
struct GroupSnapshot {
  ClientGroup group;
  Secret<std::string> content;
};

/// The snapshot of `group`, whose clients are all in the groups of `parts`: ascending snapshots after one round. The
/// sums of a part go to the group that has the part's first client. Clients that are `lost` (ascending) may be in no
/// part: their entries are empty, so that reading leaves their state as it was. A group whose clients are all lost
/// needs the part of any other. Throws DataError for parts that do not fit together, with the reason.
[[nodiscard]] Secret<std::string> regroup(const std::vector<GroupSnapshot>& parts, const ClientGroup& group,
                                          const std::vector<Client>& lost = {});

}  // namespace starling
