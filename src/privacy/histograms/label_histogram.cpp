#include "privacy/histograms/label_histogram.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace starling {

namespace {

constexpr double least_alone = 4;       ///< deviations of a bin that counts by itself
constexpr double least_of_labels = 3;   ///< likewise beside one that may count
constexpr double least_beside = 2;      ///< likewise beside one that counts
constexpr double part_of_labels = 0.5;  ///< of all records, that these bins must have

/// Bins that count; the others are 0. A lone bin of noise far from the labels would move their deviation by far.
Vector kept_labels(View summed, double deviation) {
  const auto beside = [&](std::size_t k, const auto& holds) {
    return (k > 0 && holds(k - 1)) || (k + 1 < summed.size() && holds(k + 1));
  };
  const auto reaches = [&](double least) {
    return [&, least](std::size_t k) { return summed[k] >= least * deviation; };
  };
  const auto counts = [&](std::size_t k) {
    return reaches(least_alone)(k) || (reaches(least_of_labels)(k) && beside(k, reaches(least_beside)));
  };
  Vector kept(summed.size(), 0.0);
  for (std::size_t k = 0; k < summed.size(); ++k) {
    if (counts(k) || (reaches(least_beside)(k) && beside(k, counts))) kept[k] = summed[k];
  }
  return kept;
}

double width_of(const ValueRange& range) {
  return (range.high - range.low) / static_cast<double>(LabelHistogram::bins);
}

}  // namespace

NoisyCounts::Form LabelHistogram::form() {
  return {"histogram of labels", "--scale-share", "label", 1, bins};
}

LabelHistogram::LabelHistogram(const ValueRange& range, double mu, std::int64_t records)
    : NoisyCounts(form(), ChargeKind::gaussian, mu, records), range_(range) {
  check<FailureError>(range.high > range.low, "a histogram of labels from {} to {}.", range.low, range.high);
}

void LabelHistogram::count(double label, Counts& counts) const {
  if (!std::isfinite(label)) return;
  const double place = std::clamp((label - range_.low) / width_of(range_), 0.0, static_cast<double>(bins) - 1);
  ++counts[static_cast<std::size_t>(place)];
}

std::optional<FeatureMoments> label_moments(View summed, const ValueRange& range, double deviation,
                                            std::int64_t records) {
  check<FailureError>(summed.size() == LabelHistogram::bins, "a histogram of {} bins: it has {}.", summed.size(),
                      LabelHistogram::bins);
  const double width = width_of(range);
  const auto centre = [&](std::size_t k) { return range.low + (static_cast<double>(k) + 0.5) * width; };
  const Vector kept = kept_labels(summed, deviation);
  const auto sum_of = [&](const auto& each) {
    double sum = 0;
    for (std::size_t k = 0; k < kept.size(); ++k) sum += kept[k] * each(centre(k));
    return sum;
  };
  const double all = sum_of([](double) { return 1.0; });
  if (!(all >= part_of_labels * static_cast<double>(records)) || !(all > 0)) return std::nullopt;
  const double mean = sum_of([](double value) { return value; }) / all;
  const double square = sum_of([mean](double value) { return (value - mean) * (value - mean); }) / all;
  return FeatureMoments{mean, std::sqrt(square + width * width / 12)};
}

}  // namespace starling
