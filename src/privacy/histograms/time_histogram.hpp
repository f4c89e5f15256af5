/// A noisy histogram of the times of events of a client's persons, released once, and quantiles from it
/// (docs/methods/counts-and-times.md, "Released intervals").
///
/// The times from 0 to a public longest one have 64 bins of one width. A person with an event adds 1 to one of them, a
/// person without one adds nothing: replacing a person moves counts by 2 at most in L1, as NoisyCounts takes it.
#pragma once

#include <cstdint>

#include "privacy/histograms/noisy_counts.hpp"

namespace starling {

class TimeHistogram : public NoisyCounts {
 public:
  static constexpr std::size_t bins = 64;
  /// The part of all events that lie before the last end: later, few persons are left at risk.
  static constexpr double part_of_events = 0.95;

  /// `longest` is a time above 0. Under Laplace noise at the price `epsilon` of a person; errors are those of
  /// NoisyCounts.
  TimeHistogram(double longest, double epsilon, std::int64_t persons);

  /// Counts an event. A later time than the longest counts in the last bin. `counts` has length() entries.
  void count(double time, Counts& counts) const;
  /// The deviation of the noise on the sum of all counts.
  [[nodiscard]] double deviation_of_sum() const;
  /// Ends of `intervals` intervals with as many events in each, by the noisy counts: ascending ends of bins. Fewer
  /// where several fall into one bin; the longest time alone where noise leaves no event.
  [[nodiscard]] Vector ends(View noisy, std::size_t intervals) const;

 private:
  double longest_;
};

}  // namespace starling
