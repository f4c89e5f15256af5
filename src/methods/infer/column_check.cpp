#include "column_check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/description/profile.hpp"
#include "data/preparation/column_variation.hpp"
#include "data/serving/dataset.hpp"
#include "files/text_files.hpp"
#include "run/tuning/releases/exact_moments.hpp"

namespace starling {

namespace {

/// A column whose mean or deviation is beyond this, or whose deviation is below its inverse, is far from standardised.
constexpr double far = 10;

}  // namespace

ColumnCheck::ColumnCheck(const DataSettings& data, const DataShape& shape, bool may_look)
    : shape_(shape),
      watches_scales_(may_look && !data.scales_columns() && data.scale == 1 && !shape.sparse &&
                      data.features == ReadSettings::Features::raw) {}

std::vector<std::size_t> ColumnCheck::look(const std::vector<std::unique_ptr<Stream>>& streams, Round steps,
                                           const MetricsPolicy& policy) {
  Secret<ColumnVariation> variation;
  std::vector<std::size_t> features(shape_.features);
  std::iota(features.begin(), features.end(), std::size_t{0});
  Secret<Columns> moments(Columns(moments_of(features.size() + 1), streams.size()));
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
      moments.update([&](Columns& all, const Batch& records) { add_moments(all[k], records, features); }, batch);
    }
  }
  if (watches_scales_) moments_ = *policy.share(moments, SharedFigure::column_scales);
  return policy.share(variation, SharedFigure::varying_columns)->value().constant(shape_.features);
}

void ColumnCheck::propose(Agreement& agreement, bool with_label) {
  if (!agreement.all(declare_public(watches_scales_))) return;
  const std::vector<ColumnMoments> columns = moments_of_all(agreement, moments_);
  const auto deviates = [](const Standardisation& each) {
    return each.deviation > far || each.deviation < 1 / far || std::abs(each.mean) > far;
  };
  for (std::size_t j = 0; j < shape_.features + (with_label ? 1 : 0); ++j) {
    proposed_.push_back(columns[j].deviation > 0 ? Standardisation{columns[j].mean, columns[j].deviation}
                                                 : Standardisation{});
  }
  if (std::ranges::none_of(proposed_, deviates)) proposed_.clear();
}

std::string ColumnCheck::write_proposal(const std::string& folder, const std::string& label) const {
  if (proposed_.empty()) return "";
  std::string text = "feature,mean,sd\n";
  for (std::size_t j = 0; j < proposed_.size(); ++j) {
    const bool of_label = j == shape_.features;
    const std::string name = of_label                  ? (label.empty() ? "label" : label)
                             : j < shape_.names.size() ? shape_.names[j]
                                                       : fmt::format("{}", j);
    const auto& [mean, deviation, limit] = proposed_[j];
    text += fmt::format("{},{},{:.6g}\n", csv_text(name), text_of_constant(mean, deviation), deviation);
  }
  write_text(folder + "/standardise.csv", text);
  return fmt::format(
      "columns are far from mean 0 and deviation 1, which steps of one length suit: --standardise {}/standardise.csv "
      "makes them so, by the means and deviations of these records",
      folder);
}

}  // namespace starling
