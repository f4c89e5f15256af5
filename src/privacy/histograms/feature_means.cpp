#include "privacy/histograms/feature_means.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

constexpr double part_of_way_of_label = 0.25;
constexpr double part_of_way = 0.4;                        ///< of the way from the middle of a range to zero
constexpr double radius_of_records = 0.6;                  ///< times √d
constexpr double part_of_label = 1 / std::numbers::sqrt2;  ///< of the radius: a third of the price
constexpr double variance_of_means = 1.0 / 9;              ///< about the usual place
constexpr double variance_of_common_shift = 0.04;
constexpr double usual_variance = 0.1;      ///< of labels about their mean
constexpr double error_of_variance = 0.05;  ///< of that, at least
constexpr double least_variance = 0.03;     ///< of all features
constexpr double least_part = 0.15;         ///< of that, of a single one
constexpr double seen_from = 2;             ///< deviations of the noise
constexpr double half = 0.5;
/// Rounding moves no sum by more than what this leaves.
constexpr double whole = static_cast<double>(NoisyCounts::most_of_sum) * (1 - 0x1p-16);

/// A value whose mean lies `shift` from its usual place and is expected `expected` from it, and whose mean square about
/// the place is `square`, all as seen through noise.
struct SeenValue {
  double place;
  double shift;
  double square;
  double noise;
  double expected = 0;

  [[nodiscard]] double kept() const { return variance_of_means / (variance_of_means + noise * noise); }
  [[nodiscard]] double mean() const { return std::clamp(place + expected + kept() * (shift - expected), -1.0, 1.0); }
  /// About that mean.
  [[nodiscard]] double variance() const { return square - std::pow(mean() - place, 2); }
  /// The moments if variances are usually `usual`, give or take `error`.
  [[nodiscard]] FeatureMoments moments(double usual, double error) const {
    const double own_error = noise * (1 + 2 * std::abs(mean() - place) * std::sqrt(kept()));
    const double kept_of_own = error * error / (error * error + own_error * own_error);
    return {mean(), std::sqrt(std::max(std::lerp(usual, variance(), kept_of_own), least_part * usual))};
  }
};

/// Tells each value how far all together lie from their places, along the way from the middles of ranges to zeros.
void expect_common_shift(View places, double noise, std::vector<SeenValue>& seen) {
  double sum = 0;
  double ways = 0;
  for (std::size_t j = 0; j < seen.size(); ++j) {
    sum += places[j] * seen[j].shift;
    ways += places[j] * places[j];
  }
  if (ways == 0) return;
  const double error = (variance_of_means + noise * noise) / ways;
  const double variance = variance_of_common_shift / (part_of_way * part_of_way);
  for (std::size_t j = 0; j < seen.size(); ++j)
    seen[j].expected = places[j] * sum / ways * variance / (variance + error);
}

}  // namespace

NoisyCounts::Form FeatureMeans::form_of(const Parts& parts) {
  const std::size_t sums = 2 * (parts.features + (parts.label ? 1 : 0)) + std::max<std::size_t>(parts.classes, 1) - 1;
  return {"means of features", "--feature-share", "means", sums, 1, 1, true, true};
}

double FeatureMeans::place_of_label(double zero) {
  return part_of_way_of_label * std::clamp(zero, -1.0, 1.0);
}

Vector FeatureMeans::usual_places(const Parts& parts, View zeros) {
  Vector places;
  for (const double zero : zeros) places.push_back(part_of_way * std::clamp(zero, -1.0, 1.0));
  if (parts.label) places.back() = place_of_label(zeros.back());
  return places;
}

FeatureMeans::FeatureMeans(const Parts& parts, Vector places, double mu, std::int64_t records)
    : NoisyCounts(form_of(parts), ChargeKind::gaussian, mu, records),
      parts_(parts),
      places_(std::move(places)),
      radius_(radius_of_records * std::sqrt(static_cast<double>(parts.features))),
      weight_(parts.label ? part_of_label * radius_ : 0),
      class_weight_(parts.classes > 0 ? parts.part_of_classes * radius_ : 0) {
  const double moved_by_class = (parts.classes > 2 ? std::numbers::sqrt2 : 1) * class_weight_;
  moved_ = std::hypot(2 * radius_, 2 * weight_, moved_by_class);
}

void FeatureMeans::add(View values, std::size_t own_class, Counts& sums) const {
  constexpr std::int64_t middle = most_of_sum / 2;
  const double unit = whole / moved_;
  const std::size_t features = parts_.features;
  const auto distance = [&](std::size_t j) {
    return std::isnan(values[j]) ? 0 : std::clamp(values[j], -1.0, 1.0) - places_[j];
  };
  double length = 0;
  for (std::size_t j = 0; j < features; ++j) {
    const double square = std::min(std::pow(distance(j), 2), 1.0);
    length += std::pow(distance(j), 2) + square * square;
  }
  const double factor = unit * std::min(1.0, radius_ / std::sqrt(length));
  auto sum = sums.begin();
  const auto put = [&](double value) { *sum++ += static_cast<std::int64_t>(value); };  // towards 0: no farther apart
  for (std::size_t j = 0; j < features; ++j) {
    *sum += middle;
    put(factor * distance(j));
    put(factor * std::min(std::pow(distance(j), 2), 1.0));
  }
  if (parts_.label) {
    const double label = std::isnan(values[features]) ? 0 : std::clamp(values[features], -1.0, 1.0);
    *sum += middle;
    put(unit * weight_ * label);
    put(unit * weight_ * label * label);
  }
  if (own_class > 0)
    *(sum + static_cast<std::ptrdiff_t>(own_class) - 1) += static_cast<std::int64_t>(unit * class_weight_);
}

double FeatureMeans::noise_of_mean(double deviation, std::int64_t records) const {
  return moved_ * deviation / static_cast<double>(records);
}

FeatureMeans::Found FeatureMeans::found(View summed, double deviation, std::int64_t records) const {
  const double noise = noise_of_mean(deviation, records);
  const double of_unit = moved_ / static_cast<double>(records);
  std::vector<SeenValue> seen;
  for (std::size_t j = 0; j < parts_.features; ++j)
    seen.push_back({places_[j], of_unit * summed[2 * j] - half * moved_, of_unit * summed[2 * j + 1], noise});
  expect_common_shift(places_, noise, seen);
  Found found{};
  double variances = 0;
  double shown = 0;   // of variances, whatever means are taken to be
  double errors = 0;  // of these, squared
  for (const SeenValue& each : seen) {
    variances += each.variance();
    const double own = each.square - each.shift * each.shift + noise * noise;
    const double error = noise * noise * (1 + 4 * each.shift * each.shift);
    found.shown.push_back(own >= seen_from * std::sqrt(error));
    shown += own;
    errors += error;
  }
  const auto count = static_cast<double>(seen.size());
  const double usual = std::clamp(variances / count, least_variance, 1.0);
  found.shows_deviations = shown >= std::max(seen_from * std::sqrt(errors), count * least_variance / 2);
  for (const SeenValue& each : seen) found.features.push_back(each.moments(usual, std::max(usual, error_of_variance)));
  if (parts_.label) {
    const std::size_t first = 2 * parts_.features;
    const double place = places_.back();
    const double shift = (of_unit * summed[first] - half * moved_) / weight_ - place;
    const double square = of_unit * summed[first + 1] / weight_ - place * place - 2 * place * shift;
    found.label = SeenValue{place, shift, square, noise / weight_}.moments(usual_variance, error_of_variance);
  }
  if (parts_.classes > 0) {
    const View others = summed.last(parts_.classes - 1);
    found.noise_of_classes = noise_of_class(deviation);
    found.classes.push_back(static_cast<double>(records) - sum(others) * moved_ / class_weight_);
    for (const double each : others) found.classes.push_back(each * moved_ / class_weight_);
  }
  return found;
}

}  // namespace starling
