/// Second releases before the first round, of columns within the ranges that a first has shown
/// (docs/methods/privacy.md, "Within the ranges that were found").
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "privacy/histograms/feature_means.hpp"
#include "run/privacy/histogram_release.hpp"
#include "tuned_method.hpp"

namespace starling {

class Stream;

/// Columns of all clients, counted within ranges.
struct RangeCounts {
  Vector sum;                ///< of RangeHistograms::bins counts each, with noise; the same bits on all ranks
  double noise = 0;          ///< its deviation on a count
  std::int64_t records = 0;  ///< of all clients
  double share = 0;          ///< what it has had of what histograms of features have left of the squares of μ
};

/// Which of several looks at columns within ranges a release is.
struct Look {
  std::size_t earlier = 0;  ///< fewer than ends_of_looks.size()
  std::int64_t most_records = 0;
  std::optional<double> asked;  ///< the share of what histograms of features have left; none: as much as is needed
};

/// `name` is that of the release in ledgers. A share that nobody asked for is as much as makes the noise on a count of
/// these columns noise_of_ranges of all records, from 0.05 to 0.25, or 0.02 to 0.07 of a later look. Nothing where that
/// does not suffice, or no budget allows the release. **Collective.**
[[nodiscard]] std::optional<RangeCounts> release_within(const TunedMethod& method, const TuningTerms& run,
                                                        const Look& look, const std::string& name, std::size_t columns,
                                                        const std::function<Secret<Counts>(Stream&)>& count);

/// Features of dense records and their label.
struct RangedColumns {
  std::vector<std::size_t> features;
  std::vector<ValueRange> ranges;  ///< of these, and then of the label
  Vector places;                   ///< where values of these features usually lie in their ranges, as −1 … 1
};

/// Means of features within ranges, and a histogram of labels.
struct RangeMeans {
  FeatureMeans::Found found;
  RangeCounts labels;
};

/// One release of both. The share is the one that was asked for, else as much as shows means and labels, from 0.02 to
/// 0.2. Nothing where that does not suffice, or no budget allows the release. **Collective.**
[[nodiscard]] std::optional<RangeMeans> release_means_within(const TunedMethod& method, const TuningTerms& run,
                                                             const Look& look, const RangedColumns& columns);

/// The deviation of the noise on a count, summed over all clients: the same bits on all ranks. **Collective.**
[[nodiscard]] double noise_of_sum(const TunedMethod& method, const TuningTerms& run, const HistogramFacts& facts);

}  // namespace starling
