/// Releases of labels, and of features beside them, before the first round: histograms within the ranges that others
/// have shown (docs/methods/privacy.md, "Mean and deviation of labels"), and the start that counts of classes give
/// ("Shares of classes").
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

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

/// `name` is that of the release in ledgers. The share is the one that was asked for, else 0.05, or as much as makes
/// the noise on a count of these columns noise_of_ranges of all records, at most 0.25. Nothing where that does not
/// suffice, or no budget allows the release. **Collective.**
[[nodiscard]] std::optional<RangeCounts> release_within(const TunedMethod& method, const TuningTerms& run,
                                                        const std::string& name, std::size_t columns,
                                                        std::int64_t most_records, const std::optional<double>& asked,
                                                        const std::function<Secret<Counts>(Stream&)>& count);

/// The number of classes whose shares are to be released, for a start at the constant that answers with them; 0 where
/// the model cannot start so, or the user said another start.
[[nodiscard]] std::size_t classes_of_start(const TunedConfig& config, const Loss* loss);
/// Whether the mean of labels is to be released, likewise, where scores are logarithms of means.
[[nodiscard]] bool starts_at_mean(const TunedConfig& config, const Loss* loss);
/// The value of --start at these counts of the classes, which have noise of this deviation. Counts of
/// more than two are drawn to even ones by what their noise says, and one below its deviation may be one of noise
/// alone.
[[nodiscard]] std::string start_at_counts(Vector counts, double noise);

/// The deviation of the noise on a count, summed over all clients: the same bits on all ranks. **Collective.**
[[nodiscard]] double noise_of_sum(const TunedMethod& method, const TuningTerms& run, const HistogramFacts& facts);

}  // namespace starling
