// Scales of the columns of `starling infer` without protection, and the constants that would make them alike.
#include "infer_run.hpp"
#include <algorithm>
#include <cmath>

#include "starling/files/text_files.hpp"

namespace starling {

namespace {

/// A column whose mean or deviation is beyond this, or whose deviation is below its inverse, is far from standardised.
constexpr double far = 10;

}  // namespace

/// Whether a run may look at its records before the first step: without protection there is nobody to ask.
bool InferRun::may_look_at_records() const {
  return unprotected() && metrics_policy().shared() && dataset_.replayable && !dataset_.is_public;
}

bool InferRun::watches_scales() const {
  const DataSettings& data = config_.data;
  return may_look_at_records() && !data.scales_columns() && data.scale == 1 && !dataset_.shape.sparse &&
         data.features == ReadSettings::Features::raw;
}

/// Adds a batch of client k to sums of all columns, the label last: 1, then value and square of each.
void InferRun::add_scales(Columns& sums, std::size_t k, const Batch& batch) const {
  const MutableView own = sums[k];
  const std::size_t p = dataset_.shape.features;
  const auto add = [&](std::size_t column, double value) {
    own[1 + 2 * column] += value;
    own[2 + 2 * column] += value * value;
  };
  for (std::size_t i = 0; i < batch.size(); ++i) {
    own[0] += 1;
    for (std::size_t j = 0; j < p; ++j) add(j, batch.row(i).values[j]);
    add(p, batch.label(i));
  }
}

/// Finds constants to propose where a column is far from standardised. **Collective.**
void InferRun::propose_constants() {
  if (!agreement_.all(declare_public(watches_scales()))) return;
  const Vector sums = agreement_.ordered_sum(scales_);
  const auto deviates = [](const Standardisation& each) {
    return each.deviation > far || each.deviation < 1 / far || std::abs(each.mean) > far;
  };
  const std::size_t columns = dataset_.shape.features + (curved_->classifies() ? 0 : 1);
  for (std::size_t j = 0; j < columns; ++j) {
    const double mean = sums[1 + 2 * j] / sums[0];
    const double variance = sums[2 + 2 * j] / sums[0] - mean * mean;
    proposed_.push_back(variance > 1e-12 * mean * mean ? Standardisation{mean, std::sqrt(variance)}
                                                       : Standardisation{});
  }
  if (std::none_of(proposed_.begin(), proposed_.end(), deviates)) proposed_.clear();
}

/// Writes standardise.csv, and says so. Rank 0's.
void InferRun::write_proposed_constants() {
  if (proposed_.empty()) return;
  const std::string label = dataset_.constants ? dataset_.constants->label : "";
  std::string text = "feature,mean,sd\n";
  for (std::size_t j = 0; j < proposed_.size(); ++j) {
    const bool of_label = j == dataset_.shape.features;
    const std::string name = of_label                          ? (label.empty() ? "label" : label)
                             : j < dataset_.shape.names.size() ? dataset_.shape.names[j]
                                                               : fmt::format("{}", j);
    text += fmt::format("{},{:.6g},{:.6g}\n", csv_text(name), proposed_[j].mean, proposed_[j].deviation);
  }
  write_text(directory_->path() + "/standardise.csv", text);
  notes_.push_back(
      fmt::format("columns are far from mean 0 and deviation 1, which steps of one length suit: --standardise "
                  "{}/standardise.csv makes them so, by the means and deviations of these records",
                  directory_->path()));
}

}  // namespace starling
