/// A bound on the points that a run loses to noise, and the change that would lower it most
/// (docs/methods/learning-rule.md, "What to expect").
#pragma once

#include <optional>
#include <string>

namespace starling {

/// Public numbers of a run of a linear model.
struct LossFacts {
  double signal_to_noise = 0;  ///< ρ of all parameters, dropped ones included; infinite without noise
  double kept = 1;             ///< part of the features that is not dropped
  double records = 1;          ///< of all clients: records, or persons
  double scores = 1;           ///< of a record
  bool classifies = true;
  bool laplace = false;               ///< whether noise has heavy tails, which cost as much as half the signal
  bool means = false;                 ///< whether means within ranges tell all that is known of features
  std::string unknown = {};           ///< why the bound does not hold, with what to do; empty if it holds
  std::optional<double> hiding = {};  ///< clients that would hide each other by --trust pairs; none: it cannot be taken
  std::optional<double> feature_share =
      {};  ///< part of μ² that histograms of features have; none: public constants bring nothing
};

/// Points of accuracy, or of the share of the labels' variance that is explained, that models are expected to lose at
/// most, beside a linear model that is fitted to all records without noise. Rounded up to a tenth, or above 10 to a
/// whole number. None where it cannot be foretold.
[[nodiscard]] std::optional<double> most_lost(const LossFacts& facts);

/// The bound, or why there is none, and what would lower it most.
[[nodiscard]] std::string loss_outlook(const LossFacts& facts);

}  // namespace starling
