#include "privacy/statement/odds.hpp"

#include <cmath>

#include <fmt/format.h>

namespace starling {

namespace {

constexpr double hardly_anything = 1000;  ///< odds to one, from which on a bound says hardly anything
constexpr double unlikely = 0.01;

/// A positive number with so many decimals, rounded upwards.
std::string rounded_up(double value, int decimals) {
  const double unit = std::pow(10, -decimals);
  return fmt::format("{:.6g}", std::ceil(value / unit) * unit);
}

std::string odds_text(double odds) {
  return odds < 100 ? rounded_up(odds, odds < 10 ? 2 : 1) : fmt::format("{:.0f}", std::ceil(odds));
}

/// "1 in 100,000".
std::string one_in(double probability) {
  constexpr double rounding = 1e-9;
  std::string digits = fmt::format("{:.0f}", std::floor((1 + rounding) / probability));
  for (auto at = std::ssize(digits) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return "1 in " + digits;
}

}  // namespace

double most_certain(double before, double epsilon) {
  return before / (before + (1 - before) * std::exp(-epsilon));
}

std::string percent_text(double probability) {
  constexpr int most_decimals = 4;
  for (int decimals = probability < 0.1 ? 2 : 1; decimals <= most_decimals; ++decimals) {
    const std::string text = rounded_up(100 * probability, decimals);
    if (probability >= 1 || std::stod(text) < 100) return text + " %";
  }
  return "nearly 100 %";
}

std::vector<std::string> odds_in_words(const PrivacyLoss& loss, const std::string& unit) {
  if (std::isinf(loss.epsilon)) {
    return {fmt::format("No bound holds: whoever sees what was sent may become certain of what a {} says.", unit)};
  }
  const double odds = std::exp(loss.epsilon);
  std::vector<std::string> sentences{
      fmt::format("Suppose somebody suspects something of one {}, and thinks it as likely as not: odds of 1 to 1, a "
                  "certainty of 50 %.",
                  unit),
      fmt::format(
          "Whatever this person then sees of messages and results, the odds become at most {} to 1: a certainty of {}.",
          odds_text(odds), percent_text(most_certain(0.5, loss.epsilon))),
      fmt::format("Whoever held it for unlikely, with a certainty of {}, has one of {} at most.",
                  percent_text(unlikely), percent_text(most_certain(unlikely, loss.epsilon)))};
  if (loss.delta > 0) {
    sentences.push_back(fmt::format("The bound may fail with a probability of about {}.", one_in(loss.delta)));
  }
  if (odds > hardly_anything) sentences.emplace_back("A bound as weak as this says hardly anything.");
  return sentences;
}

std::string client_in_words(const PrivacyLoss& loss) {
  if (std::exp(loss.epsilon) > hardly_anything) {
    return "What all records of one client have in common is not hidden: no bound of use holds for a client as a "
           "whole.";
  }
  return fmt::format("All records of one client together: odds of 1 to 1 become at most {} to 1.",
                     odds_text(std::exp(loss.epsilon)));
}

}  // namespace starling
