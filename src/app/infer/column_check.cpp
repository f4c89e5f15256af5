#include "column_check.hpp"

#include <algorithm>
#include <cmath>

#include "starling/data/description/profile.hpp"
#include "starling/data/preparation/column_variation.hpp"
#include "starling/files/text_files.hpp"

namespace starling {

namespace {

/// A column whose mean or deviation is beyond this, or whose deviation is below its inverse, is far from standardised.
constexpr double far = 10;

/// Adds a batch to a client's sums of all columns, the label last: 1, then value and square of each.
void add_scales(MutableView sums, const Batch& batch, std::size_t features) {
  const auto add = [&](std::size_t column, double value) {
    sums[1 + 2 * column] += value;
    sums[2 + 2 * column] += value * value;
  };
  for (std::size_t i = 0; i < batch.size(); ++i) {
    sums[0] += 1;
    for (std::size_t j = 0; j < features; ++j) add(j, batch.row(i).values[j]);
    add(features, batch.label(i));
  }
}

}  // namespace

ColumnCheck::ColumnCheck(const DataSettings& data, const DataShape& shape, bool may_look)
    : shape_(shape),
      watches_scales_(may_look && !data.scales_columns() && data.scale == 1 && !shape.sparse &&
                      data.features == ReadSettings::Features::raw) {}

std::vector<std::size_t> ColumnCheck::look(const std::vector<std::unique_ptr<Stream>>& streams, Round steps,
                                           const MetricsPolicy& policy) {
  Secret<ColumnVariation> variation;
  Secret<Columns> sums(Columns(2 * shape_.features + 3, streams.size()));
  for (std::size_t k = 0; k < streams.size(); ++k) {
    Stream& stream = *streams[k];
    for (Round t = 0; !stream.ended(t) && t < steps; ++t) {
      const Secret<Batch>& batch = stream.next(t);
      variation.update(
          [](ColumnVariation& seen, const Batch& records) {
            for (std::size_t i = 0; i < records.size(); ++i) seen.add(records.row(i));
          },
          batch);
      if (!watches_scales_) continue;
      sums.update([&](Columns& all, const Batch& records) { add_scales(all[k], records, shape_.features); }, batch);
    }
  }
  if (watches_scales_) sums_ = *policy.share(sums, SharedFigure::column_scales);
  return policy.share(variation, SharedFigure::varying_columns)->value().constant(shape_.features);
}

void ColumnCheck::propose(Agreement& agreement, bool with_label) {
  if (!agreement.all(declare_public(watches_scales_))) return;
  const Vector sums = agreement.ordered_sum(sums_);
  const auto deviates = [](const Standardisation& each) {
    return each.deviation > far || each.deviation < 1 / far || std::abs(each.mean) > far;
  };
  const std::size_t columns = shape_.features + (with_label ? 1 : 0);
  for (std::size_t j = 0; j < columns; ++j) {
    const double mean = sums[1 + 2 * j] / sums[0];
    const double variance = sums[2 + 2 * j] / sums[0] - mean * mean;
    proposed_.push_back(variance > 1e-12 * mean * mean ? Standardisation{mean, std::sqrt(variance)}
                                                       : Standardisation{});
  }
  if (std::none_of(proposed_.begin(), proposed_.end(), deviates)) proposed_.clear();
}

std::string ColumnCheck::write_proposal(const std::string& folder, const std::string& label) const {
  if (proposed_.empty()) return "";
  std::string text = "feature,mean,sd\n";
  for (std::size_t j = 0; j < proposed_.size(); ++j) {
    const bool of_label = j == shape_.features;
    const std::string name = of_label                  ? (label.empty() ? "label" : label)
                             : j < shape_.names.size() ? shape_.names[j]
                                                       : fmt::format("{}", j);
    const auto& [mean, deviation] = proposed_[j];
    text += fmt::format("{},{},{:.6g}\n", csv_text(name), text_of_constant(mean, deviation), deviation);
  }
  write_text(folder + "/standardise.csv", text);
  return fmt::format(
      "columns are far from mean 0 and deviation 1, which steps of one length suit: --standardise {}/standardise.csv "
      "makes them so, by the means and deviations of these records",
      folder);
}

}  // namespace starling
