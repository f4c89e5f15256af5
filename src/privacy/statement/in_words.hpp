/// Text of privacy losses for statements.
#pragma once

#include "privacy/upper.hpp"
#include <cmath>
#include <string>

#include "starling/privacy/accounting/accounting.hpp"

namespace starling {

/// "mu = 0.5 (which is epsilon = 1.7 with delta = 1e-05)", rounded up; "an unbounded loss".
inline std::string in_words(const PrivacyLoss& loss) {
  if (std::isinf(loss.epsilon)) return "an unbounded loss";
  const std::string epsilon =
      "epsilon = " + upper(loss.epsilon) + (loss.delta == 0 ? "" : " with delta = " + upper(loss.delta));
  return loss.mu ? "mu = " + upper(*loss.mu) + " (which is " + epsilon + ")" : epsilon;
}

}  // namespace starling
