/// The release of a histogram of labels alone, before the first round (docs/methods/privacy.md, "Mean and deviation of
/// labels" and "Shares of classes").
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "run/privacy/histogram_release.hpp"
#include "run/tuning/tuned_settings.hpp"
#include "tuned_method.hpp"

namespace starling {

/// Labels of all clients, counted.
struct LabelCounts {
  Vector sum;                ///< of LabelHistogram::bins counts, with noise; the same bits on all ranks
  double noise = 0;          ///< its deviation on a count
  std::int64_t records = 0;  ///< of all clients
  double share = 0;          ///< what it has had of what histograms of features have left of the squares of μ
};

/// The least and greatest share of the squares of μ that a histogram of labels may have, and the noise that decides
/// between them.
struct LabelShares {
  double least = 0;
  double greatest = 0;
  // Deviations of the noise on a count, as parts of all records:
  double wanted_noise = 0;  ///< larger noise asks for a larger share
  double most_noise = 0;    ///< at the greatest share: beyond it the histogram is of no use
};

/// The share is the one that was asked for, else as much as `shares` allow. Nothing where these do not suffice, or no
/// budget allows the release. **Collective.**
[[nodiscard]] std::optional<LabelCounts> release_labels(const TunedMethod& method, const TuningTerms& run,
                                                        std::int64_t most_records, const std::optional<double>& asked,
                                                        const LabelShares& shares,
                                                        const std::function<Secret<Counts>(Stream&)>& count);

/// Released shares of the classes, as --start has them.
struct ClassStart {
  TunedValue start;
  double share = 0;  ///< what they have cost, as above
};
/// The start at the constant that answers the classes with their shares. Nothing where the model cannot start so, the
/// user said another start, or nothing is released. **Collective.**
[[nodiscard]] std::optional<ClassStart> start_by_classes(const TunedMethod& method, const TuningTerms& run,
                                                         std::int64_t most_records, const std::optional<double>& asked);

/// The deviation of the noise on a count, summed over all clients: the same bits on all ranks. **Collective.**
[[nodiscard]] double noise_of_sum(const TunedMethod& method, const TuningTerms& run, const HistogramFacts& facts);

}  // namespace starling
