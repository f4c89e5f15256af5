/// Text of privacy losses, rounded upwards.
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "privacy/accounting/accounting.hpp"

namespace starling {

/// Non-negative loss in so many digits, less than `loss` by a share of `slack` at most; "unbounded" if infinite.
inline std::string upper(double loss, int digits = 6, double slack = 0) {
  if (std::isinf(loss)) return "unbounded";
  std::string text = fmt::format("{:.{}g}", loss, digits);
  if (std::stod(text) >= loss * (1 - slack)) return text;
  const double more = 6 * std::pow(10.0, -digits);  // rounding takes away at most 5·10^-digits of it
  return fmt::format("{:.{}g}", loss * (1 + more), digits);
}

/// "mu = 0.5 (which is epsilon = 1.7 with delta = 1e-05)"; "an unbounded loss".
inline std::string in_words(const PrivacyLoss& loss) {
  if (std::isinf(loss.epsilon)) return "an unbounded loss";
  const std::string epsilon =
      "epsilon = " + upper(loss.epsilon) + (loss.delta == 0 ? "" : " with delta = " + upper(loss.delta));
  return loss.mu ? "mu = " + upper(*loss.mu) + " (which is " + epsilon + ")" : epsilon;
}

}  // namespace starling
