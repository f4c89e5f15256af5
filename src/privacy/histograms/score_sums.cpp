#include "privacy/histograms/score_sums.hpp"

#include <algorithm>
#include <cmath>

namespace starling {

namespace {

constexpr double least_excess = -2;
constexpr double excess_range = 2.25;
constexpr double most_slope = 0.32;  ///< s t (1 − t²)/2 has its largest value, 0.3199, at s = 2.03
constexpr std::size_t weight = 4;    ///< the part of the range that slopes fill

constexpr double deviation_of_logarithm = 0.5;      ///< of factors, before anything is seen
constexpr double most_logarithm = 1.3862943611199;  ///< log 4: beyond, one step is no guide
constexpr double typical_slope = 0.18;              ///< of a record; 0.07 to 0.28 on the tables of jobs/tables.py
constexpr double least_slope = 0.03;                ///< that counts: scores near 0
constexpr double sure = 2;                          ///< standard errors of a logarithm that is not 0

std::int64_t steps_of(double part, double most) {
  return static_cast<std::int64_t>(
      std::floor(std::clamp(part, 0.0, 1.0) * most * static_cast<double>(NoisyCounts::most_of_sum)));
}

}  // namespace

NoisyCounts::Form ScoreSums::form() {
  return {"sums of scores", "--score-share", "score", 2, 1, weight, true};
}

ScoreSums::ScoreSums(double mu, std::int64_t records) : NoisyCounts(form(), ChargeKind::gaussian, mu, records) {}

ScoreSums::Parts ScoreSums::parts_of(double score, double label) {
  if (std::isnan(score)) return {};
  const double t = std::tanh(score / 2);
  const double room = 1 - t * t;
  return {((label > 0 ? 1 : -1) - t) * t, room > 0 ? score * t * room / 2 : 0};
}

void ScoreSums::add(const Parts& means, Counts& sums) {
  sums[0] += steps_of((means.excess - least_excess) / excess_range, 1);
  sums[1] += steps_of(means.slope / most_slope, 1.0 / weight);
}

ScoreFactor score_factor(View summed, double deviation, std::int64_t records) {
  const auto count = static_cast<double>(records);
  const double excess = summed[0] * excess_range + least_excess * count;
  const double shown_slope = summed[1] * weight * most_slope;
  const double slope = std::max(shown_slope, least_slope * count);
  const double noise = deviation * excess_range / slope;
  const double variance = noise * noise + 1 / slope;
  constexpr double prior = deviation_of_logarithm * deviation_of_logarithm;
  const double logarithm = excess / slope * prior / (prior + variance);
  const bool is_short = shown_slope < slope && excess / slope > sure * std::sqrt(variance);
  return {std::exp(std::clamp(logarithm, -most_logarithm, most_logarithm)), std::sqrt(variance),
          is_short || std::abs(logarithm) > most_logarithm};
}

double error_of_score_factor(double deviation, double records) {
  return deviation * excess_range / (typical_slope * records);
}

}  // namespace starling
