/// A noisy histogram of the labels of a client's records within a range, released once before the first round
/// (docs/methods/privacy.md, "Mean and deviation of labels").
///
/// The range has 32 bins of one width. A record adds 1 to one of them: labels beyond the range count in the last bins.
#pragma once

#include <cstdint>
#include <optional>

#include "privacy/histograms/feature_histograms.hpp"
#include "privacy/histograms/noisy_counts.hpp"

namespace starling {

class LabelHistogram : public NoisyCounts {
 public:
  static constexpr std::size_t bins = 32;

  [[nodiscard]] static Form form();
  /// `range` must be wider than 0. Further ranges and errors are those of NoisyCounts under Gaussian noise.
  LabelHistogram(const ValueRange& range, double mu, std::int64_t records);

  /// Counts a record. `counts` has length() entries.
  void count(double label, Counts& counts) const;

 private:
  ValueRange range_;
};

/// The deviation of the noise on a sum, as a part of all records, at which a fifth of them in one bin would just count.
inline constexpr double noise_of_labels = 1.0 / 15;

/// Mean and deviation of the labels from their histogram, summed over clients, as if they lay evenly in bins;
/// `deviation` is that of the noise on a sum. A bin counts from four deviations on, from three beside one of two, and
/// from two beside one that counts. None where these have less than half of all `records`.
[[nodiscard]] std::optional<FeatureMoments> label_moments(View summed, const ValueRange& range, double deviation,
                                                          std::int64_t records);

}  // namespace starling
