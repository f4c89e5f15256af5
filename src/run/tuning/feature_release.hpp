/// The release of histograms of features, and what comes of it (docs/methods/privacy.md, "Means and deviations of
/// features").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "privacy/histograms/feature_histograms.hpp"
#include "run/tuning/tuned_settings.hpp"
#include "tuned_method.hpp"

namespace starling {

class FeatureRelease {
 public:
  /// `share` is --feature-share; none: the usual one, where features are to be standardised. Keeps references.
  FeatureRelease(const TunedMethod& method, const TuningTerms& run, const std::optional<double>& share);

  [[nodiscard]] double share() const { return share_; }
  /// The value of --standardise that released means and deviations give, `none` where they say that features have one
  /// scale already; nothing where nothing was released.
  /// **Collective.**
  [[nodiscard]] std::optional<TunedValue> release(const std::optional<std::int64_t>& most_records);

 private:
  [[nodiscard]] std::string why_as_they_are(const std::optional<std::int64_t>& most_records) const;
  [[nodiscard]] std::string why_of_no_use() const;
  void choose_features();
  [[nodiscard]] bool is_worth_it(std::int64_t records, double least) const;
  [[nodiscard]] TunedValue value_of(const std::vector<std::optional<FeatureMoments>>& moments) const;

  const TunedMethod& method_;
  const TuningTerms& run_;
  const TunedConfig& config_;
  bool asked_for_;
  double share_;
  std::size_t columns_ = 0;             ///< feature columns of the source
  std::vector<std::size_t> features_;   ///< the features that are numbers of a column, on a rank with records
  std::vector<std::size_t> column_of_;  ///< the columns of these, on all ranks
};

}  // namespace starling
