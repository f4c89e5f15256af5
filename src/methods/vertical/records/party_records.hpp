/// Agreement of ranks on records whose columns are at several parties.
#pragma once

#include "data/vertical/vertical.hpp"
#include "net/agreement.hpp"
#include "run/inputs/rank_key.hpp"

namespace starling {

/// The shape of a data set on all ranks together. **Collective.** Throws DataError for ranks that do not fit.
[[nodiscard]] VerticalShape joined_shape(Agreement& agreement, const VerticalDataset& dataset);

/// Puts the records of a data set, whose shape is that of all ranks, into the order of the ids of the first rank that
/// has read the label source, of which all ranks then have digests (`VerticalDataset::ids`). **Collective.** Throws
/// DataError for ids that do not match.
void align_records(Agreement& agreement, RankKey& key, VerticalDataset& dataset);

/// Groups the records by persons with so many places each, by the persons of the first rank that has read them; the
/// shape then counts persons. **Collective.** Throws DataError for another number of records.
void group_records(Agreement& agreement, RankKey& key, std::size_t places, VerticalDataset& dataset);

}  // namespace starling
