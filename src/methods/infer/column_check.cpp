#include "column_check.hpp"

#include <algorithm>
#include <cmath>

#include "data/description/profile.hpp"
#include "data/preparation/column_variation.hpp"
#include "files/text_files.hpp"

namespace starling {

namespace {

/// A column whose mean or deviation is beyond this, or whose deviation is below its inverse, is far from standardised.
constexpr double far = 10;

/// A column whose variance is below this share of its squared mean varies by roundings only.
constexpr double least_variance = 1e-26;

/// Adds a batch to a client's moments of all columns, the label last: the number of records, then of each column the
/// mean and the sum of squares about it, in the manner of Welford.
void add_scales(MutableView moments, const Batch& batch, std::size_t features) {
  const auto add = [&](std::size_t column, double value) {
    double& mean = moments[1 + 2 * column];
    const double apart = value - mean;
    mean += apart / moments[0];
    moments[2 + 2 * column] += apart * (value - mean);
  };
  for (std::size_t i = 0; i < batch.size(); ++i) {
    moments[0] += 1;
    for (std::size_t j = 0; j < features; ++j) add(j, batch.row(i).values[j]);
    add(features, batch.label(i));
  }
}

/// The number of all clients' records, then the mean and the mean square about it of each column. **Collective.**
Vector scales_of_all(Agreement& agreement, const Released<Columns>& moments) {
  const auto with_each = [&](const auto& change) {
    return post_process(
        [&](const Columns& all) {
          Columns changed = all;
          for (std::size_t k = 0; k < changed.size(); ++k) change(changed[k]);
          return changed;
        },
        moments);
  };
  Vector result = agreement.ordered_sum(with_each([](MutableView own) {
    for (std::size_t at = 1; at < own.size(); at += 2) own[at] *= own[0];
  }));
  const double records = result[0];
  for (std::size_t at = 1; at < result.size(); at += 2) result[at] /= records;
  const Vector squares = agreement.ordered_sum(with_each([&](MutableView own) {
    for (std::size_t at = 1; at < own.size(); at += 2) {
      const double apart = own[at] - result[at];
      own[at + 1] += own[0] * apart * apart;
    }
  }));
  for (std::size_t at = 2; at < result.size(); at += 2) result[at] = squares[at] / records;
  return result;
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
  const Vector scales = scales_of_all(agreement, sums_);
  const auto deviates = [](const Standardisation& each) {
    return each.deviation > far || each.deviation < 1 / far || std::abs(each.mean) > far;
  };
  const std::size_t columns = shape_.features + (with_label ? 1 : 0);
  for (std::size_t j = 0; j < columns; ++j) {
    const double mean = scales[1 + 2 * j];
    const double variance = scales[2 + 2 * j];
    const bool varies = variance > least_variance * mean * mean;
    proposed_.push_back(varies ? Standardisation{mean, std::sqrt(variance)} : Standardisation{});
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
