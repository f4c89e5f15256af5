/// Columns of several owners' files, matched by name.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace starling {

class Agreement;
struct DataSettings;

/// Columns that all sources have.
struct MatchedColumns {
  std::vector<std::string> names;  ///< of features, in the order of the first client; empty if no source has names
  std::set<std::string> dropped;   ///< columns of --drop that one source at least has
};

/// The columns of this rank's `sources` and those of all other ranks. Pipes, generators and memory have no names. Tells
/// the user of columns that are left out. **Collective.** Throws DataError for a source without some of the columns.
[[nodiscard]] MatchedColumns match_columns(Agreement& agreement, const std::vector<std::string>& sources,
                                           const DataSettings& data);

}  // namespace starling
