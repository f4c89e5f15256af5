/// Noisy histograms of the columns of a client's records within ranges, released once before the first round
/// (docs/methods/privacy.md, "Mean and deviation of labels" and "Constants of intervals").
///
/// Each range has 32 bins of one width. A record adds 1 to one of them for each column: values beyond the range count
/// in the last bins.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "privacy/histograms/feature_histograms.hpp"
#include "privacy/histograms/noisy_counts.hpp"

namespace starling {

class RangeHistograms : public NoisyCounts {
 public:
  static constexpr std::size_t bins = 32;

  [[nodiscard]] static Form form_of(std::size_t columns);
  /// A histogram for each range, all of which must be wider than 0. Further ranges and errors are those of NoisyCounts
  /// under Gaussian noise.
  RangeHistograms(std::vector<ValueRange> ranges, double mu, std::int64_t records);

  /// The bin of a value within this range; 0 of what is no number.
  [[nodiscard]] static std::size_t bin_of(double value, const ValueRange& range);
  /// Counts a record, whose value of column j is `values[j]`. `counts` has length() entries.
  void count(View values, Counts& counts) const;

 private:
  std::vector<ValueRange> ranges_;
};

/// The deviation of the noise on a sum, as a part of all records, at which a fifth of them in one bin would just count.
inline constexpr double noise_of_ranges = 1.0 / 15;

/// Mean and deviation of a column within a range, and where its values lie in that.
struct RangeSight {
  FeatureMoments moments;
  ValueRange range;      ///< of the bins that count, with another on each side
  bool resolved = true;  ///< false: values lie in about two neighbouring bins, any part of which they may fill
};

/// The sight of a column by its histogram, summed over clients, as if values lay evenly in bins; `deviation` is that of
/// the noise on a sum. A bin counts from four deviations on, from three beside one of two, and from two beside one that
/// counts. None where these have less than half of all `records`.
[[nodiscard]] std::optional<RangeSight> sight_within(View summed, const ValueRange& range, double deviation,
                                                     std::int64_t records);

/// The same where values are expected to fill little of the range: bins that count have 0.65 of all records, and
/// where they have not, neighbours are taken together, two and then four. None where values lie farther apart.
[[nodiscard]] std::optional<RangeSight> sight_of_close_values(View summed, const ValueRange& range, double deviation,
                                                              std::int64_t records);

}  // namespace starling
