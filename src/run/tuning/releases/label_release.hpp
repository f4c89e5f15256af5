/// Starts of models at shares of classes or at a mean of labels, which clients release (docs/methods/privacy.md,
/// "Shares of classes").
#pragma once

#include <cstddef>
#include <string>

#include "tuned_method.hpp"

namespace starling {

/// The number of classes whose shares are to be released, for a start at the constant that answers with them; 0 where
/// the model cannot start so, or the user said another start.
[[nodiscard]] std::size_t classes_of_start(const TunedConfig& config, const Loss* loss);
/// Whether the mean of labels is to be released, likewise, where scores are logarithms of means.
[[nodiscard]] bool starts_at_mean(const TunedConfig& config, const Loss* loss);
/// The value of --start at these counts of the classes, which have noise of this deviation. Counts of
/// more than two are drawn to even ones by what their noise says, and one below its deviation may be one of noise
/// alone.
[[nodiscard]] std::string start_at_counts(Vector counts, double noise);

}  // namespace starling
