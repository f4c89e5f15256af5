/// Text of privacy losses, rounded upwards.
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "starling/privacy/accounting/accounting.hpp"

namespace starling {

/// Non-negative loss in six digits; "unbounded" if infinite.
inline std::string upper(double loss) {
  if (std::isinf(loss)) return "unbounded";
  std::string text = fmt::format("{:.6g}", loss);
  if (std::stod(text) >= loss) return text;
  return fmt::format("{:.6g}", loss * (1 + 6e-6));  // rounding to six digits takes away at most 5e-6 of it
}

/// "mu = 0.5 (which is epsilon = 1.7 with delta = 1e-05)"; "an unbounded loss".
inline std::string in_words(const PrivacyLoss& loss) {
  if (std::isinf(loss.epsilon)) return "an unbounded loss";
  const std::string epsilon =
      "epsilon = " + upper(loss.epsilon) + (loss.delta == 0 ? "" : " with delta = " + upper(loss.delta));
  return loss.mu ? "mu = " + upper(*loss.mu) + " (which is " + epsilon + ")" : epsilon;
}

}  // namespace starling
