/// Released constants of columns in the configuration of a run (docs/methods/privacy.md, "Means and deviations of
/// features").
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "releases/tuned_method.hpp"

namespace starling {

class FeatureRelease;
struct Dataset;

/// The decisions of a method between the releases of its constants. Functions are **collective**.
struct ConstantsChoices {
  std::function<bool()> have_one_scale;  ///< as FeatureRelease::release() has it
  std::function<bool()> refines;         ///< whether a second release, at --scale-share, follows the first
};

/// Has `features` release constants of columns. Takes them and their shares into the configuration, tells them, and
/// reads the records again by them; their batches are to be planned again. Returns the value of --standardise: `none`
/// where columns stay as they are in spite of a release; nothing without one. **Collective.**
[[nodiscard]] std::optional<TunedValue> take_constants(const TunedMethod& method, const TuningTerms& run,
                                                       FeatureRelease& features,
                                                       const std::optional<std::int64_t>& most_records,
                                                       const ConstantsChoices& choices);

/// Sets --histogram-price to the cost of the histograms that the configuration counts. **Collective.** Throws
/// UsageError.
void take_histogram_price(const TunedMethod& method, const TuningTerms& run);

/// The options by which a repeated or resumed run has the same constants and counts them at the same price.
[[nodiscard]] std::vector<TunedValue> settled_constants(const TunedConfig& config);

/// The features whose columns the constants of a run leave out, ascending. **Collective.**
[[nodiscard]] std::vector<std::size_t> features_left_out(Agreement& agreement, const Dataset& dataset);

}  // namespace starling
