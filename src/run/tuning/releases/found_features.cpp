#include "found_features.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "data/description/profile.hpp"

namespace starling {

namespace {

/// Other values than zero are made as large as a flag of half as many ones would be, standardised: as many may be
/// there.
double limit_of_others(double others) {
  return std::clamp(std::sqrt(2 / others), 2.0, clip_of_standardised);
}

std::vector<std::size_t> columns_of_kind(const std::vector<FeatureSight>& sights, FeatureSight::Kind kind) {
  std::vector<std::size_t> columns;
  for (std::size_t j = 0; j < sights.size(); ++j) {
    if (sights[j].kind == kind) columns.push_back(j);
  }
  return columns;
}

/// `mean/deviation` in the units of the source.
std::string text_of_moments(const FeatureMoments& moments, const Standardisation& range) {
  const double mean = range.mean + range.deviation * moments.mean;
  const double deviation = range.deviation * moments.deviation;
  return fmt::format("{}/{:.6g}", text_of_constant(mean, deviation), deviation);
}

/// The constants of a feature: its mean, deviation and, where it is clipped, the limit.
std::string text_of_feature(const FeatureSight& sight, const Standardisation& range, const StandardisedUse& use) {
  using Kind = FeatureSight::Kind;
  if (sight.kind == Kind::nothing) return "drop";
  FeatureMoments moments = sight.moments;
  double limit = clip_of_standardised;
  if (use.infers) {
    // As large as a flag of as many ones as there may be. Another size changes nothing of what is estimated.
    if (sight.kind == Kind::zeros) moments = {0, std::sqrt(std::min(sight.others, 1.0))};
  } else if (sight.kind == Kind::zeros) {  // there may be a few other values, of any size: the sign is what counts
    moments.deviation = std::ldexp(1.0, FeatureHistograms::lowest_exponent);
    limit = limit_of_others(sight.others);
  } else if (sight.known) {  // what is known to be there is not clipped, so that coefficients hold for it
    const double mean = moments.mean - range.of(0);
    const double reach = std::max(mean - sight.known->low, sight.known->high - mean);
    moments.deviation = std::max(moments.deviation, reach / clip_of_standardised);
  }
  const std::string text = text_of_moments(moments, range);
  if (use.clips || (sight.kind == Kind::zeros && !use.infers)) return fmt::format("{}/{:.3g}", text, limit);
  if (!range.is_clipped()) return text;
  return fmt::format("{}/{:.6g}", text, (1 + std::abs(moments.mean)) / moments.deviation);  // no value is clipped
}

}  // namespace

std::vector<std::size_t> FoundFeatures::dropped() const {
  return columns_of_kind(sights, FeatureSight::Kind::nothing);
}

bool FoundFeatures::have_scale_already(bool intercept) const {
  if (source == Source::moments || label || !dropped().empty()) return false;
  if (std::ranges::any_of(columns.ranges, &Standardisation::is_clipped) || columns.label_range.is_clipped())
    return false;
  std::vector<FeatureMoments> known;
  for (const FeatureSight& each : sights) {
    if (each.kind == FeatureSight::Kind::values) known.push_back(each.moments);
  }
  if (known.empty()) return false;
  if (intercept) known.push_back({.mean = 0, .deviation = 1});
  return have_one_scale(known);
}

std::string standardise_text(const FoundFeatures& found, const StandardisedUse& use) {
  const NumberColumns& columns = found.columns;
  std::vector<std::string> values(columns.source_columns, "0/1");
  for (std::size_t j = 0; j < found.sights.size(); ++j) {
    values[columns.column_of[j]] = text_of_feature(found.sights[j], columns.ranges[j], use);
  }
  if (found.label) {
    values.push_back(fmt::format("label={}", text_of_moments(found.label->moments, columns.label_range)));
  } else if (columns.label_range.is_clipped()) {
    values.push_back(fmt::format("label={}/1", text_of_moments({}, columns.label_range)));
  }
  return fmt::format("values:{}", fmt::join(values, ","));
}

std::string note_of_dropped(const FoundFeatures& found, bool infers) {
  const std::vector<std::size_t> dropped = found.dropped();
  if (dropped.empty()) return "";
  const std::string names = found.columns.some_of(dropped);
  if (found.source == FoundFeatures::Source::moments) {
    const bool has_ranges = std::ranges::any_of(found.columns.ranges, &Standardisation::is_clipped);
    return fmt::format("features with one value in all records{}, or without a finite deviation, are dropped: {}",
                       has_ranges ? ", clipped to their ranges" : "", names);
  }
  const bool all = dropped.size() == found.sights.size();
  const char* const result = infers ? "They have no coefficient, and the others are those of a regression without them"
                             : all  ? "The model answers a constant"
                                    : "They count as 0, in predictions too";
  return fmt::format(
      "{}: records are too few at this price to show how large {} values are. {}. --ranges says it and costs nothing; "
      "--feature-share 0 leaves features as they are",
      all ? "no feature is learned from"
          : fmt::format("{} of {} features are dropped ({})", dropped.size(), found.sights.size(), names),
      all ? "their" : "those", result);
}

std::string note_of_zeros(const FoundFeatures& found) {
  const std::vector<std::size_t> zeros = columns_of_kind(found.sights, FeatureSight::Kind::zeros);
  if (zeros.empty()) return "";
  return fmt::format(
      "of some columns histograms show zeros alone ({}): what few other values there are may give long intervals, or "
      "none",
      found.columns.some_of(zeros));
}

}  // namespace starling
