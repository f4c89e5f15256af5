#include "privacy/histograms/range_histograms.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/check.hpp"

namespace starling {

namespace {

constexpr double least_alone = 4;              ///< deviations of a bin that counts by itself
constexpr double least_of_two = 3;             ///< likewise beside one that may count
constexpr double least_beside = 2;             ///< likewise beside one that counts
constexpr double part_of_records = 0.5;        ///< of all records, that these bins must have
constexpr double part_of_close_values = 0.65;  ///< likewise, where values fill little of the range
constexpr double resolved_variance = 0.5;      ///< in squares of bins; two neighbours have 0.25
constexpr std::size_t fewest_bins = 8;         ///< that are left where neighbours are taken together

/// Bins that count; the others are 0. A lone bin of noise far from the values would move their deviation by far.
Vector kept_bins_within(View summed, double deviation) {
  const auto beside = [&](std::size_t k, const auto& holds) {
    return (k > 0 && holds(k - 1)) || (k + 1 < summed.size() && holds(k + 1));
  };
  const auto reaches = [&](double least) {
    return [&, least](std::size_t k) { return summed[k] >= least * deviation; };
  };
  const auto counts = [&](std::size_t k) {
    return reaches(least_alone)(k) || (reaches(least_of_two)(k) && beside(k, reaches(least_beside)));
  };
  Vector kept(summed.size(), 0.0);
  for (std::size_t k = 0; k < summed.size(); ++k) {
    if (counts(k) || (reaches(least_beside)(k) && beside(k, counts))) kept[k] = summed[k];
  }
  return kept;
}

double width_of(const ValueRange& range) {
  return (range.high - range.low) / static_cast<double>(RangeHistograms::bins);
}

/// A sight, and the number of records that it is of.
struct CountedSight {
  RangeSight sight;
  double records = 0;
};

/// The sight by the bins that count; none where no bin does.
std::optional<CountedSight> sight_of(View summed, const ValueRange& range, double deviation) {
  const double width = (range.high - range.low) / static_cast<double>(summed.size());
  const auto centre = [&](std::size_t k) { return range.low + (static_cast<double>(k) + 0.5) * width; };
  const Vector kept = kept_bins_within(summed, deviation);
  const auto sum_of = [&](const auto& each) {
    double sum = 0;
    for (std::size_t k = 0; k < kept.size(); ++k) sum += kept[k] * each(centre(k));
    return sum;
  };
  const double all = sum_of([](double) { return 1.0; });
  if (!(all > 0)) return std::nullopt;
  const double mean = sum_of([](double value) { return value; }) / all;
  const double square = sum_of([mean](double value) { return (value - mean) * (value - mean); }) / all;
  const auto counts = [](double each) { return each > 0; };
  const auto first = static_cast<std::size_t>(std::ranges::find_if(kept, counts) - kept.begin());
  const auto end = static_cast<std::size_t>(std::find_if(kept.rbegin(), kept.rend(), counts).base() - kept.begin());
  return CountedSight{{{mean, std::sqrt(square + width * width / 12)},
                       {centre(first) - 1.5 * width, centre(end - 1) + 1.5 * width},
                       square >= resolved_variance * width * width || summed.size() < RangeHistograms::bins},
                      all};
}

Vector pairs_of(View bins) {
  Vector pairs;
  for (std::size_t k = 0; k < bins.size(); k += 2) pairs.push_back(bins[k] + bins[k + 1]);
  return pairs;
}

}  // namespace

NoisyCounts::Form RangeHistograms::form_of(std::size_t columns) {
  return {"histogram within a range", "--scale-share", "label", columns, bins};
}

RangeHistograms::RangeHistograms(std::vector<ValueRange> ranges, double mu, std::int64_t records)
    : NoisyCounts(form_of(ranges.size()), ChargeKind::gaussian, mu, records), ranges_(std::move(ranges)) {
  for (const ValueRange& each : ranges_)
    check<FailureError>(each.high > each.low, "a histogram of values from {} to {}.", each.low, each.high);
}

std::size_t RangeHistograms::bin_of(double value, const ValueRange& range) {
  const double place = std::isfinite(value) ? (value - range.low) / width_of(range) : 0;
  return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(bins) - 1));
}

void RangeHistograms::count(View values, Counts& counts) const {
  for (std::size_t j = 0; j < ranges_.size(); ++j) {
    if (!std::isfinite(values[j])) continue;
    ++counts[bins * j + bin_of(values[j], ranges_[j])];
  }
}

std::optional<RangeSight> sight_within(View summed, const ValueRange& range, double deviation, std::int64_t records) {
  const std::optional<CountedSight> sight = sight_of(summed, range, deviation);
  const bool suffices = sight && sight->records >= part_of_records * static_cast<double>(records);
  return suffices ? std::optional(sight->sight) : std::nullopt;
}

std::optional<RangeSight> sight_of_close_values(View summed, const ValueRange& range, double deviation,
                                                std::int64_t records) {
  Vector together(summed.begin(), summed.end());
  for (;; together = pairs_of(together), deviation *= std::numbers::sqrt2) {
    const std::optional<CountedSight> sight = sight_of(together, range, deviation);
    if (sight && sight->records >= part_of_close_values * static_cast<double>(records)) return sight->sight;
    if (together.size() <= fewest_bins) return std::nullopt;
  }
}

}  // namespace starling
