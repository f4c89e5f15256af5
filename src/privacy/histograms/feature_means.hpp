/// Noisy means of features with public ranges, released once before the first round where records are too few for
/// histograms (docs/methods/privacy.md, "Means within public ranges").
///
/// Values are of the range −1 … 1. A record adds (x + 1)/2, in steps of 2^−20 and rounded down, to the sum of each of d
/// features: a replaced record moves the sums by √d at most in L2.
#pragma once

#include <cstdint>

#include "privacy/histograms/noisy_counts.hpp"

namespace starling {

class FeatureMeans : public NoisyCounts {
 public:
  [[nodiscard]] static Form form_of(std::size_t features);
  /// Sums over `features` features under Gaussian noise at the price `mu`. Range and errors are those of NoisyCounts.
  FeatureMeans(std::size_t features, double mu, std::int64_t records);

  /// Adds a record with d values to `sums`. Values beyond −1 … 1 count as its ends, and one that is no number as 0.
  static void add(View values, Counts& sums);
};

/// Means of features from their sums over all clients.
struct MeansWithinRanges {
  Vector means;          ///< within −1 … 1, drawn to 0 by what their noise says
  double deviation = 1;  ///< of values about such a mean, as far as it can be known: typical values and the noise left
};

/// `summed` are the sums of `records` >= 1 records, with noise of this deviation on each. Means are taken to lie evenly
/// in −1 … 1 before anything is seen, and values to have a deviation of 0.3 about them.
[[nodiscard]] MeansWithinRanges means_within_ranges(View summed, double deviation, std::int64_t records);

}  // namespace starling
