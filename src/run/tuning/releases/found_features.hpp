/// Means and deviations of features that are numbers, as a release has shown them, and the value of --standardise that
/// they give.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "number_columns.hpp"
#include "privacy/histograms/feature_histograms.hpp"

namespace starling {

struct FoundFeatures {
  /// Where means and deviations come from.
  enum class Source {
    histograms,  ///< released ones
    means,       ///< released means within public ranges; deviations are taken to be those of even values
    moments,     ///< those of all records, without noise
  };

  NumberColumns columns;
  Source source = Source::histograms;
  std::vector<FeatureSight> sights;   ///< of these columns, in units of their ranges
  std::optional<FeatureSight> label;  ///< of labels, where they are standardised, likewise

  /// The columns that nothing is known of.
  [[nodiscard]] std::vector<std::size_t> dropped() const;
  /// How many feature columns of the source are kept, those that hold other things than numbers included.
  [[nodiscard]] std::size_t kept() const { return columns.source_columns - dropped().size(); }
  /// Whether these features may stay as they are: all are seen, have one scale, and are as large as an `intercept`'s 1,
  /// if there is one. Beside a label that is standardised all are standardised, and so they are within ranges, and by
  /// exact moments, which cost nothing.
  [[nodiscard]] bool have_scale_already(bool intercept) const;
};

/// How standardised features are used.
struct StandardisedUse {
  bool infers = false;  ///< coefficients are wanted, and not answers: values that are seen keep their sizes
  bool clips = false;   ///< to clip_of_standardised deviations
};

constexpr double clip_of_standardised = 5;  ///< deviations

/// The value of --standardise: six digits are more than the bins tell.
[[nodiscard]] std::string standardise_text(const FoundFeatures& found, const StandardisedUse& use);

/// The note that names what is dropped; empty where nothing is.
[[nodiscard]] std::string note_of_dropped(const FoundFeatures& found, bool infers);

/// Likewise what shows zeros alone.
[[nodiscard]] std::string note_of_zeros(const FoundFeatures& found);

}  // namespace starling
