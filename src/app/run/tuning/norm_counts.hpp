/// Counts of a client's records by the norms of their rows.
#pragma once

#include "starling/core/boundary.hpp"
#include "starling/data/stream.hpp"
#include "starling/privacy/mechanism/norm_histogram.hpp"

namespace starling {

/// Reads all rounds of a stream, and counts its records in a histogram of this kind. With `intercept` a row has one
/// more feature, which is 1. Records that are left out are in no count. In batches of persons each person counts once,
/// by the mean of the norms of the person's records, or by their sum.
[[nodiscard]] Secret<NormCounts> count_norms(Stream& stream, const NormHistogram& histogram, bool intercept,
                                             bool person_mean);

}  // namespace starling
