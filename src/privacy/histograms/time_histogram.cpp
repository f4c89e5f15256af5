#include "privacy/histograms/time_histogram.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace starling {

namespace {

/// The ascending numbers nearest to these in squares (pool adjacent violators; Ayer et al. 1955).
Vector ascending(View values) {
  struct Block {
    double sum;
    std::size_t size;
    [[nodiscard]] double mean() const { return sum / static_cast<double>(size); }
  };
  std::vector<Block> blocks;
  for (const double value : values) {
    blocks.push_back({value, 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() >= blocks.back().mean()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().size += last.size;
    }
  }
  Vector result;
  for (const Block& block : blocks) result.insert(result.end(), block.size, block.mean());
  return result;
}

}  // namespace

TimeHistogram::TimeHistogram(double longest, double epsilon, std::int64_t persons)
    : NoisyCounts({"histogram of times", "--epsilon", "time", 1, bins}, ChargeKind::laplace, epsilon, persons),
      longest_(longest) {
  check<FailureError>(longest > 0 && std::isfinite(longest), "a histogram of times up to {}.", longest);
}

void TimeHistogram::count(double time, Counts& counts) const {
  const double place = std::clamp(std::ceil(time / longest_ * static_cast<double>(bins)) - 1, 0.0,
                                  static_cast<double>(bins) - 1);  // bins end at their right, as intervals do
  ++counts[static_cast<std::size_t>(place)];
}

double TimeHistogram::deviation_of_sum() const {
  return std::sqrt(static_cast<double>(bins)) * deviation();
}

Vector TimeHistogram::ends(View noisy, std::size_t intervals) const {
  check<FailureError>(noisy.size() == bins, "a histogram of {} bins: it has {}.", bins, noisy.size());
  Vector sums(noisy.begin(), noisy.end());
  for (std::size_t k = 1; k < bins; ++k) sums[k] += sums[k - 1];
  sums = ascending(sums);
  Vector result;
  for (std::size_t j = 1; j <= intervals && sums.back() > 0; ++j) {
    const double wanted = sums.back() * part_of_events * static_cast<double>(j) / static_cast<double>(intervals);
    const auto place = std::lower_bound(sums.begin(), sums.end(), wanted) - sums.begin();
    const double end = longest_ * static_cast<double>(place + 1) / static_cast<double>(bins);
    if (result.empty() || end > result.back()) result.push_back(end);
  }
  return result.empty() ? Vector{longest_} : result;
}

}  // namespace starling
