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

/// From the lowest to the highest value that is expected.
struct ValueRange {
  double low = 0;
  double high = 0;
  [[nodiscard]] double middle() const { return (low + high) / 2; }
  [[nodiscard]] double radius() const { return (high - low) / 2; }
  /// From −1 at the lowest to 1 at the highest.
  [[nodiscard]] double place_of(double value) const { return (value - middle()) / radius(); }
};

class FeatureHistograms : public NoisyCounts {
 public:
  static constexpr std::size_t magnitudes = 64;
  static constexpr std::size_t bins = 1 + 2 * magnitudes;
  static constexpr int lowest_exponent = -20;
  static constexpr std::size_t most_classes = 44;  ///< that labels may have which are counted as values 2^k
  /// Deviations of the noise from which a count is taken for records.
  static constexpr double above_noise = 3.75;

  /// `weight` is that of the last feature.
  [[nodiscard]] static Form form_of(std::size_t features, std::size_t weight = 1);
  /// Histograms of `features` features under Gaussian noise at the price `mu`. Range and errors are those of
  /// NoisyCounts.
  FeatureHistograms(std::size_t features, double mu, std::int64_t records, std::size_t weight = 1);

  /// The counts of `classes` classes in a histogram of values 2^k.
  [[nodiscard]] static Vector counts_of_classes(View summed, std::size_t classes);
  /// The bin of a value: 0 of zero, 1 … 64 of positive ones, ascending, 65 … 128 of negative ones by magnitude; none of
  /// what is not finite.
  [[nodiscard]] static std::optional<std::size_t> bin_of(double value);
  /// Counts a record, whose value of feature j is `values[j]`. `counts` has length() entries.
  void count(View values, Counts& counts) const;

 private:
  std::int64_t weight_;
};

/// Whether features have like sizes and no common shift, so that they need not be standardised: no root mean square is
/// more than eight times another, and the means are together no longer than the deviations.
[[nodiscard]] bool have_one_scale(std::span<const FeatureMoments> features);

/// What the noisy histogram of a feature shows.
struct FeatureSight {
  enum class Kind {
    nothing,  ///< nothing stands out of the noise
    zeros,    ///< zeros alone: there may be a few other values, of any size
    values,   ///< values other than zero, with these moments
  };
  Kind kind = Kind::nothing;
  FeatureMoments moments = {};
  ValueRange range = {};                 ///< of these values, half as wide again, and of zeros that stand out
  std::optional<ValueRange> known = {};  ///< there are values at or below its low end, and at or above its high one
  double others = 1;  ///< the part of the records that may have other values than zero, where zeros alone are seen
};

/// What a feature's histogram shows, summed over clients; `deviation` is that of the noise on a sum. Values are taken
/// to lie evenly in their bins. They are looked for in windows of one to six octaves, of one sign or both: a window
/// whose count is `above_noise` deviations of the noise on it holds records. Of all windows the one of most signal
/// counts, with bins nearby that stand out themselves, and bins far away that have a fiftieth of its count besides.
/// Bins in it below a deviation count as empty. Windows beyond 2^-7 … 2^21 must stand out by two deviations more. Noise
/// alone is taken for values in about 2 % of histograms. `least` may be another number of deviations.
[[nodiscard]] FeatureSight feature_sight(View summed, double deviation, double least = FeatureHistograms::above_noise);

}  // namespace starling
