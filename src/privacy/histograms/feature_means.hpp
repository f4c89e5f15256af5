/// Noisy means and mean squares of features with public ranges, released once before the first round where records are
/// too few for histograms (docs/methods/privacy.md, "Means within public ranges").
///
/// Values are of the range −1 … 1. About the place where values usually lie, two fifths of the way from the middle to
/// the place of zero (a quarter for labels), a record has the distances v of d features, and their squares, up to 1.
/// Both together are shortened to r = 0.6 √d, since records hardly reach the corners of all ranges: a replaced record
/// moves these sums by 2 r at most in L2. A label that is a number weighs r/√2, so that its place and the square of
/// that move by √2 r. Classes but the first are counted with a weight of r/2, or another
/// part of r. All sums are in units of what they move
/// by together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "privacy/histograms/feature_histograms.hpp"

namespace starling {

class FeatureMeans : public NoisyCounts {
 public:
  /// The sums of a release: those of features, of a label that is a number, and of classes.
  struct Parts {
    std::size_t features = 1;
    bool label = false;
    std::size_t classes = 0;
    double part_of_classes = 0.5;  ///< of r, that a class weighs
  };
  /// What the sums over all clients show.
  struct Found {
    /// Means are within −1 … 1, drawn by their noise to where values usually lie.
    std::vector<FeatureMoments> features;
    std::vector<bool> shown;  ///< whether the deviation of a feature stands out of its noise
    std::optional<FeatureMoments> label;
    Vector classes;               ///< counts
    double noise_of_classes = 0;  ///< on each count
    /// Whether deviations of features stand out of the noise. Values may else lie anywhere, close together.
    bool shows_deviations = false;
  };

  [[nodiscard]] static Form form_of(const Parts& parts);
  /// Where labels usually lie in a range −1 … 1 with zero at this place: less far from the middle than features.
  [[nodiscard]] static double place_of_label(double zero);
  /// Where values usually lie, of features and then of a label that is a number; `zeros` are the places of zero in
  /// their ranges, or the ends that are nearest.
  [[nodiscard]] static Vector usual_places(const Parts& parts, View zeros);
  /// Sums under Gaussian noise at the price `mu`, about `places`. Range and errors are those of NoisyCounts.
  FeatureMeans(const Parts& parts, Vector places, double mu, std::int64_t records);

  [[nodiscard]] const Parts& parts() const { return parts_; }
  /// Adds a record with these values of features, and then of the label, to `sums`. Values beyond −1 … 1 count as its
  /// ends, and one that is no number as lying where values usually do.
  void add(View values, std::size_t own_class, Counts& sums) const;
  /// `summed` are the sums of `records` >= 1 records, with noise of this deviation on each. What noise hides is taken
  /// to be usual: means have a deviation of a third about their place, and features the deviation of all.
  [[nodiscard]] Found found(View summed, double deviation, std::int64_t records) const;
  /// The noise of a mean, of `records` records, if sums have this deviation.
  [[nodiscard]] double noise_of_mean(double deviation, std::int64_t records) const;
  /// Likewise on the count of a class.
  [[nodiscard]] double noise_of_class(double deviation) const { return moved_ * deviation / class_weight_; }

 private:
  Parts parts_;
  Vector places_;        ///< where values usually lie
  double radius_;        ///< r
  double weight_;        ///< of the label
  double class_weight_;  ///< of a class
  double moved_;         ///< what a replaced record moves all sums by
};

}  // namespace starling
