/// The release of histograms of features, and what comes of it (docs/methods/privacy.md, "Means and deviations of
/// features"). A run that protects nobody has exact moments in their place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "found_features.hpp"
#include "privacy/histograms/range_histograms.hpp"
#include "report/tuning.hpp"
#include "run/privacy/histogram_release.hpp"
#include "tuned_method.hpp"
#include "within_ranges.hpp"

namespace starling {

class FeatureRelease {
 public:
  /// `share` is --feature-share; none: what records and price ask for. Keeps references.
  FeatureRelease(const TunedMethod& method, const TuningTerms& run, const std::optional<double>& share);

  /// The value of --standardise that released means and deviations give: features that the release has not shown are
  /// dropped, without a release all, unless their ranges are public. `none` where features have one scale already;
  /// nothing where they are not asked for, or where `have_one_scale` (collective) says that histograms bring nothing.
  /// **Collective.**
  [[nodiscard]] std::optional<TunedValue> release(const std::optional<std::int64_t>& most_records,
                                                  const std::function<bool()>& have_one_scale);

  /// Looks again, within the ranges that columns were found in, at the share of what the first release has left that
  /// was asked for, else that shows them: at labels that are numbers, by a histogram, and at features beside these, by
  /// means, or by histograms where coefficients are wanted. Unless a share was asked for, it then looks more closely,
  /// by histograms, at features which may fill little of their ranges. Returns the value with their means and
  /// deviations; nothing without a release. **Collective.**
  [[nodiscard]] std::optional<TunedValue> refine(std::int64_t most_records, const std::optional<double>& asked);

  /// Says of which features no release has shown how their values differ, all of which are of one size.
  void note_unresolved();

  // Of a release with a value.
  /// The share of μ² that it has cost; 0: nothing was released.
  [[nodiscard]] double share() const { return share_; }
  /// The share that the histograms within ranges have cost, of what the first ones leave of μ².
  [[nodiscard]] double share_within() const { return share_within_; }
  /// The norm of a typical standardised record, its intercept included.
  [[nodiscard]] double norm() const { return norm_; }
  /// The part of the feature columns that is not dropped.
  [[nodiscard]] double kept() const { return kept_; }
  /// Whether standardised features are clipped, so that no record moves a model far. Labels that are numbers may be
  /// linear in features with heavy tails, and intervals of time may be rare: without noise such features stay as they
  /// are, and so do all where a model is fitted to the end.
  [[nodiscard]] bool clips() const;
  [[nodiscard]] bool standardises_labels() const { return found_.label.has_value(); }
  /// The start by shares of the classes or the mean of labels, where these were released.
  [[nodiscard]] const std::optional<TunedValue>& start() const { return start_; }
  /// The part of the feature columns of which histograms, or means within ranges, do not show how values differ. 1
  /// where ranges seem wrong.
  [[nodiscard]] double unresolved() const { return unresolved_; }
  /// Whether means within ranges were released in place of histograms.
  [[nodiscard]] bool has_means() const { return found_.source == FoundFeatures::Source::means; }
  /// Whether nothing has shown how large labels are.
  [[nodiscard]] bool guesses_labels() const { return guesses_labels_; }
  /// Whether streams show missing values until they are opened again.
  [[nodiscard]] bool shows_missing() const { return shows_missing_; }

 private:
  /// Features, by their places among number columns and among all features, and their ranges.
  struct Seen {
    std::vector<std::size_t> columns;
    std::vector<std::size_t> features;
    std::vector<ValueRange> ranges;
  };

  [[nodiscard]] std::string why_as_they_are(const std::optional<std::int64_t>& most_records) const;
  [[nodiscard]] std::string why_of_no_use() const;
  [[nodiscard]] static double wanted_share(double noise, std::int64_t records);
  [[nodiscard]] std::optional<double> share_for(double noise, std::int64_t records) const;
  [[nodiscard]] double share_of_label_alone(HistogramFacts facts) const;
  [[nodiscard]] bool is_of_use(const std::optional<std::int64_t>& most_records);
  [[nodiscard]] double take_share(HistogramFacts& facts, double share) const;
  [[nodiscard]] std::size_t weight_of_label(std::size_t features, double noise) const;
  void take_classes(Vector counts, double noise);
  void take_mean(const FeatureSight& label);
  [[nodiscard]] Vector zeros_of_ranges() const;
  [[nodiscard]] std::optional<Vector> counts_of(HistogramFacts facts, std::size_t weight);
  [[nodiscard]] std::optional<TunedValue> exact(std::int64_t most_records);
  [[nodiscard]] bool has_label() const;
  void take_label(View summed, double noise);
  [[nodiscard]] Seen seen_columns(const std::vector<std::size_t>& among) const;
  [[nodiscard]] ValueRange agreed(const ValueRange& range) const;
  [[nodiscard]] bool refine_by_means(const Seen& seen, const Look& look);
  [[nodiscard]] bool refine_by_histograms(const Seen& seen, bool label, const Look& look);
  void agree_on_one_size();
  void take_sight(std::size_t column, const std::optional<RangeSight>& sight);
  void take_label_within(View summed, const ValueRange& range, const RangeCounts& counts);
  void note(std::string text) const;
  [[nodiscard]] std::optional<TunedValue> histograms(HistogramFacts facts, const std::optional<double>& share,
                                                     std::size_t labels, std::size_t weight);
  [[nodiscard]] bool wants_constant_alone(std::int64_t most_records) const;
  [[nodiscard]] TunedValue constant_alone();
  [[nodiscard]] std::optional<TunedValue> means(HistogramFacts facts, std::int64_t records);
  [[nodiscard]] std::optional<Vector> release_of(HistogramFacts facts,
                                                 const std::function<Secret<Counts>(Stream&)>& count);
  [[nodiscard]] TunedValue value_of();
  [[nodiscard]] std::string cost_text() const;
  [[nodiscard]] std::string reason_of_constants(std::size_t kept) const;
  [[nodiscard]] bool is_exact() const { return found_.source == FoundFeatures::Source::moments; }

  const TunedMethod& method_;
  const TuningTerms& run_;
  const TunedConfig& config_;
  bool asked_for_;
  double share_;
  FoundFeatures found_;
  std::size_t classes_ = 0;  ///< of labels, where their shares are released
  bool shows_mean_ = false;  ///< of labels, where scores are logarithms of means
  std::optional<TunedValue> start_;
  bool guesses_labels_ = false;
  bool shows_missing_ = false;
  double share_within_ = 0;
  double norm_ = 1;
  double kept_ = 1;
  std::vector<std::size_t> of_one_size_;  ///< features whose values may fill little of their ranges
  std::vector<std::size_t> at_ends_;      ///< features of which no other value is seen than an end of their ranges
  double unresolved_ = 0;
};

}  // namespace starling
