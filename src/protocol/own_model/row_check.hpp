/// A trial of own models on public random records, before they see private ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "protocol/own_model/own_model.hpp"

namespace starling {

/// Asks the own model for the gradients of at most 25 random records, which depend on the seed alone: each by itself,
/// again in the opposite order, all together, in another order, and by itself once more; at its start and beside it.
/// Labels are −1, 0, 1, 2 and 5; features 0, 1, 0 or 1, between 0 and 1, and normal.
///
/// Throws UsageError as RowModel does, if the model fails on each of them, if it changes what it is given, or if a
/// record's loss or gradient differs by more than 1e-4 of the largest: it depends on more than the parameters and the
/// record. A model that passes may still do so elsewhere.
void require_independent_rows(const std::shared_ptr<OwnModel>& own, std::size_t features, std::uint64_t seed);

}  // namespace starling
