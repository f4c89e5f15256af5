/// The survival curve of a model of discrete hazards.
#pragma once

#include <string>
#include <vector>

#include "output/model_file/saved_model.hpp"
#include "report/pictures/pictures.hpp"

namespace starling {

/// The curve of a person.
struct SurvivalReport {
  std::string person;  ///< the features and their values
  std::string text;    ///< the table
  std::vector<SurvivalPoint> points;
};

/// The table has a line for each interval: the probability of an event in it, and that of no event until its end, with
/// a 95 % band where the model has the covariance of its coefficients (docs/methods/counts-and-times.md).
///
/// The model is linear, of one score with the link logit or hazard, and has the features that `starling data convert
/// --survival` makes. `profile` says whose curve it is, as NAME=VALUE,… in the units of the data. Other features have
/// their public mean where the model standardises them, else 0. Throws UsageError for another model or profile.
[[nodiscard]] SurvivalReport survival_report(const SavedModel& model, const std::string& profile);

}  // namespace starling
