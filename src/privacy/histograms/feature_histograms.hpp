/// Noisy histograms of every feature of a client's records, released once before the first round
/// (docs/methods/privacy.md, "Means and deviations of features").
///
/// A feature has 129 bins: zero, and [2^k, 2^(k+1)) for k = −20 … 43 with either sign. Larger magnitudes count in the
/// last bins, smaller ones in the first. A record adds 1 to one bin of each feature.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "privacy/histograms/noisy_counts.hpp"

namespace starling {

/// The constants by which a feature is standardised: x becomes (x − mean)/deviation.
struct FeatureMoments {
  double mean = 0;
  double deviation = 1;
  [[nodiscard]] bool operator==(const FeatureMoments&) const = default;
};

class FeatureHistograms : public NoisyCounts {
 public:
  static constexpr std::size_t magnitudes = 64;
  static constexpr std::size_t bins = 1 + 2 * magnitudes;
  static constexpr int lowest_exponent = -20;

  [[nodiscard]] static Form form_of(std::size_t features);
  /// Histograms of `features` features under Gaussian noise at the price `mu`. Range and errors are those of
  /// NoisyCounts.
  FeatureHistograms(std::size_t features, double mu, std::int64_t records);

  /// The bin of a value: 0 of zero, 1 … 64 of positive ones, ascending, 65 … 128 of negative ones by magnitude; none of
  /// what is not finite.
  [[nodiscard]] static std::optional<std::size_t> bin_of(double value);
  /// Counts a record, whose value of feature j is `values[j]`. `counts` has length() entries.
  void count(View values, Counts& counts) const;
};

/// The least count in a sum of histograms of `features` features that is taken for records: z times the deviation of
/// the sum, where noise alone exceeds z in any of the bins with a probability of 0.1 %. `variances` are those of the
/// noise on one client's counts each.
[[nodiscard]] double least_count_of_features(View variances, std::size_t features);

/// The records of all clients that are enough: eight times the least count.
[[nodiscard]] std::int64_t records_for_features(double least);

/// Whether features have like sizes and no common shift, so that they need not be standardised: no root mean square is
/// more than eight times another, and the means are together no longer than the deviations.
[[nodiscard]] bool have_one_scale(std::span<const FeatureMoments> features);

/// Mean and deviation of a feature from its histogram, summed over clients, as if values lay evenly in their bins.
/// Bins below `least` count as empty. So does a group of bins apart from others (more than four octaves), of which none
/// has 4/3 of `least`, unless the fullest bin is among them: noise alone fills such a group in fewer than one of a
/// million releases, and among large magnitudes it would move the mean far. Where those that are left have less than
/// half of all `records`, the mean is 0 and the deviation the root mean square of their values other than zero. None
/// where no value but zero is left.
[[nodiscard]] std::optional<FeatureMoments> feature_moments(View summed, double least, std::int64_t records);

}  // namespace starling
