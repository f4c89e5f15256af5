/// A privacy loss as odds: how certain somebody may become of what a record says.
#pragma once

#include <string>
#include <vector>

#include "privacy/accounting/accounting.hpp"

namespace starling {

/// The most that a certainty in [0, 1] of something about one record may become, once all that is released is seen:
/// p·e^ε / (1 − p + p·e^ε). Except with probability δ (docs/how-to/privacy-in-plain-words.md).
[[nodiscard]] double most_certain(double before, double epsilon);

/// A probability in percent, rounded upwards, below 100 while it is: "73.2 %".
[[nodiscard]] std::string percent_text(double probability);

/// Sentences on the loss of a unit ("record", "person"), for readers without mathematics. Of an infinite loss they say
/// that there is no bound.
[[nodiscard]] std::vector<std::string> odds_in_words(const PrivacyLoss& loss, const std::string& unit);

/// A sentence on the loss of all records of a client together.
[[nodiscard]] std::string client_in_words(const PrivacyLoss& loss);

}  // namespace starling
