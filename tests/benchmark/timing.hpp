/// What the benchmarks share: times of repetitions, and their median.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <functional>
#include <vector>

namespace starling::benchmark {

/// Seconds of the processor that `action` takes: not counting what it waits for while others use the core.
inline double seconds(const std::function<void()>& action) {
  const auto now = [] {
    std::timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  action();
  return now() - start;
}

/// The value that a share of `values` lies below.
inline double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

inline double median(const std::vector<double>& values) {
  return quantile(values, 0.5);
}

}  // namespace starling::benchmark
