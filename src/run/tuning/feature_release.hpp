/// The release of histograms of features, and what comes of it (docs/methods/privacy.md, "Means and deviations of
/// features").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "privacy/histograms/feature_histograms.hpp"
#include "run/privacy/histogram_release.hpp"
#include "run/tuning/tuned_settings.hpp"
#include "tuned_method.hpp"

namespace starling {

class FeatureRelease {
 public:
  /// `share` is --feature-share; none: what records and price ask for. Keeps references.
  FeatureRelease(const TunedMethod& method, const TuningTerms& run, const std::optional<double>& share);

  /// The value of --standardise that released means and deviations give: features that the release has not shown are
  /// dropped, without a release all. `none` where features have one scale already; nothing where they are not asked
  /// for.
  /// **Collective.**
  [[nodiscard]] std::optional<TunedValue> release(const std::optional<std::int64_t>& most_records);

  // Of a release with a value.
  /// What it has had of the squares of μ; 0: nothing was released.
  [[nodiscard]] double share() const { return share_; }
  /// The norm of a typical standardised record, its intercept included.
  [[nodiscard]] double norm() const { return norm_; }
  /// The part of the feature columns that is not dropped.
  [[nodiscard]] double kept() const { return kept_; }

 private:
  [[nodiscard]] std::string why_as_they_are(const std::optional<std::int64_t>& most_records) const;
  [[nodiscard]] std::string why_of_no_use() const;
  void choose_features();
  [[nodiscard]] std::optional<double> share_for(double noise, std::int64_t records) const;
  [[nodiscard]] double noise_of_sum(const HistogramFacts& facts) const;
  [[nodiscard]] std::string names_of(const std::vector<std::size_t>& features) const;
  void note_dropped(const std::vector<std::size_t>& dropped) const;
  [[nodiscard]] TunedValue value_of(const std::vector<FeatureSight>& sights);

  const TunedMethod& method_;
  const TuningTerms& run_;
  const TunedConfig& config_;
  bool asked_for_;
  double share_;
  double norm_ = 1;
  double kept_ = 1;
  std::size_t columns_ = 0;             ///< feature columns of the source
  std::vector<std::size_t> features_;   ///< the features that are numbers of a column, on a rank with records
  std::vector<std::size_t> column_of_;  ///< the columns of these, on all ranks
};

}  // namespace starling
