#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/stream.hpp"
#include "feature_release.hpp"
#include "histogram_counts.hpp"
#include "run/privacy/owners_release.hpp"

namespace starling {

namespace {

constexpr double least_seen_of_range = 0.04;  ///< deviation of labels that fill more than one bin of 1/16
/// The most noise on a count, in parts of all records, with which values that no bin shows are known to lie far apart.
constexpr double most_noise_that_shows = 2 * noise_of_ranges;
/// End of a range of labels that reaches into no octave but the lowest, with zeros.
constexpr double smallest_seen = 0x1.8p-19;

}  // namespace

std::optional<TunedValue> FeatureRelease::refine(std::int64_t most_records, const std::optional<double>& asked) {
  if (is_exact() || asked == 0) return std::nullopt;
  const bool with_label = found_.label && found_.label->kind == FeatureSight::Kind::values;
  std::vector<std::size_t> all(found_.sights.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Seen seen = seen_columns(all);
  Look look{.most_records = most_records, .asked = asked};
  bool looked = !method_.looks_within && with_label && !seen.columns.empty() && refine_by_means(seen, look);
  if (!looked)
    looked = refine_by_histograms(method_.looks_within ? seen : Seen{}, with_label && (asked || !has_means()), look);
  bool looks_closer = !asked && !has_means();
  while (looks_closer) {
    agree_on_one_size();
    look.earlier += looked ? 1 : 0;
    looks_closer = look.earlier < ends_of_looks.size() && refine_by_histograms(seen_columns(of_one_size_), false, look);
    looked = looked || looks_closer;
  }
  return looked ? std::optional(value_of()) : std::nullopt;
}

/// Processors may round differently. **Collective.**
void FeatureRelease::agree_on_one_size() {
  const std::vector<std::int64_t> own(of_one_size_.begin(), of_one_size_.end());
  const std::vector<std::int64_t> first = run_.agreement.all_gather(declare_public(own)).front();
  of_one_size_.assign(first.begin(), first.end());
}

/// The number columns among these whose values a release has shown, with ranges in units of the source.
/// **Collective.**
FeatureRelease::Seen FeatureRelease::seen_columns(const std::vector<std::size_t>& among) const {
  Seen seen;
  for (const std::size_t j : among) {
    const FeatureSight& sight = found_.sights[j];
    if (sight.kind != FeatureSight::Kind::values || !(sight.range.high > sight.range.low)) continue;
    const double origin = found_.columns.ranges[j].of(0);
    seen.columns.push_back(j);
    seen.features.push_back(found_.columns.features[j]);
    seen.ranges.push_back(agreed({sight.range.low + origin, sight.range.high + origin}));
  }
  return seen;
}

/// Processors may round differently. **Collective.**
ValueRange FeatureRelease::agreed(const ValueRange& range) const {
  return {run_.agreement.broadcast(declare_public(range.low)), run_.agreement.broadcast(declare_public(range.high))};
}

/// Means and deviations of features, and a histogram of labels, in one release. Returns whether there was one.
/// **Collective.**
bool FeatureRelease::refine_by_means(const Seen& seen, const Look& look) {
  RangedColumns columns{seen.features, seen.ranges, {}};
  for (std::size_t k = 0; k < seen.columns.size(); ++k) {
    columns.places.push_back(
        run_.agreement.broadcast(declare_public(seen.ranges[k].place_of(found_.sights[seen.columns[k]].moments.mean))));
  }
  const ValueRange of_label = agreed(found_.label->range);
  columns.ranges.push_back(of_label);
  const std::optional<RangeMeans> released = release_means_within(method_, run_, look, columns);
  if (!released) return false;
  share_within_ += released->labels.share;
  for (std::size_t k = 0; k < seen.columns.size(); ++k) {
    FeatureSight& sight = found_.sights[seen.columns[k]];
    const FeatureMoments& moments = released->found.features[k];
    sight.moments = {seen.ranges[k].middle() + seen.ranges[k].radius() * moments.mean,
                     seen.ranges[k].radius() * moments.deviation};
    if (released->found.shown[k]) std::erase(of_one_size_, seen.columns[k]);
  }
  take_label_within(released->labels.sum, of_label, released->labels);
  return true;
}

/// Histograms of these features and of the label. Returns whether there was a release. **Collective.**
bool FeatureRelease::refine_by_histograms(const Seen& seen, bool label, const Look& look) {
  std::vector<ValueRange> ranges = seen.ranges;
  if (label) ranges.push_back(agreed(found_.label->range));
  if (ranges.empty()) return false;
  const RangeHistograms histograms(ranges, 1, 0);
  const std::optional<RangeCounts> counts =
      release_within(method_, run_, look, seen.columns.empty() ? "histogram of labels" : "histograms within ranges",
                     ranges.size(), [&](Stream& stream) { return count_within(stream, histograms, seen.features); });
  if (!counts) return false;
  share_within_ += counts->share;
  const auto part = [&](std::size_t k) {
    return View(counts->sum).subspan(RangeHistograms::bins * k, RangeHistograms::bins);
  };
  const auto sight_of = method_.looks_within && look.earlier == 0 ? sight_within : sight_of_close_values;
  const bool shows_all = counts->noise <= most_noise_that_shows * static_cast<double>(counts->records);
  for (std::size_t k = 0; k < seen.columns.size(); ++k) {
    const std::optional<RangeSight> sight = sight_of(part(k), ranges[k], counts->noise, counts->records);
    if (sight || shows_all) take_sight(seen.columns[k], sight);
  }
  if (label) take_label_within(part(seen.columns.size()), ranges.back(), *counts);
  return true;
}

/// Values that lie far apart are as the earlier release has shown them.
void FeatureRelease::take_sight(std::size_t column, const std::optional<RangeSight>& sight) {
  std::erase(of_one_size_, column);
  if (!sight) return;
  const double origin = found_.columns.ranges[column].of(0);
  found_.sights[column].moments = sight->moments;
  found_.sights[column].range = {sight->range.low - origin, sight->range.high - origin};
  if (!sight->resolved) of_one_size_.push_back(column);
}

void FeatureRelease::take_label_within(View summed, const ValueRange& range, const RangeCounts& counts) {
  const std::optional<RangeSight> found = sight_within(summed, range, counts.noise, counts.records);
  if (found_.columns.label_range.is_clipped() && (!found || found->moments.deviation < least_seen_of_range)) {
    guesses_labels_ = true;
    run_.notes.emplace_back(
        "labels fill too little of their range to show how large they are: the constants of labels are a guess. A "
        "narrower range in --ranges says them and costs nothing");
  } else if (std::max(-range.low, range.high) <= smallest_seen) {
    guesses_labels_ = true;
    run_.notes.emplace_back(
        "labels are too small for histograms to show how small: the constants of labels are a guess. Give them in "
        "a smaller unit, so that they are larger numbers");
  }
  if (found) found_.label->moments = found->moments;
}

}  // namespace starling
