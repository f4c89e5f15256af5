/// Time of a run by its parts: learning, exchange, mixing, observing.
#pragma once

#include <chrono>
#include <utility>

#include "core/links.hpp"
#include "core/snapshot.hpp"

namespace starling {

/// Seconds of a run by what they were spent on, estimated from every 16th round.
struct TimeShares {
  double learning = 0;
  double exchange = 0;
  double mixing = 0;
  double observing = 0;
  void persist(Snapshot& snapshot) { snapshot.sums(learning, exchange, mixing, observing); }
};

/// A stopwatch that splits a round's time over its parts. Only some rounds are timed, since reading a clock costs as
/// much as a small exchange. Construct one in each round, then call lap() at the end of each part.
class Stopwatch {
 public:
  static constexpr Round timed_rounds_apart = 16;

  /// The watch of round t.
  [[nodiscard]] static Stopwatch of_round(Round t) { return Stopwatch(t % timed_rounds_apart == 0); }
  explicit Stopwatch(bool running) : running_(running) {
    if (running_) last_ = std::chrono::steady_clock::now();
  }
  /// Adds the time since the last call to `seconds`, scaled up to all rounds.
  void lap(double& seconds) {
    if (!running_) return;
    const auto now = std::chrono::steady_clock::now();
    seconds += std::chrono::duration<double>(now - last_).count() * static_cast<double>(timed_rounds_apart);
    last_ = now;
  }
  /// Returns f(). The time since the last lap counts as `before`, the time of f() as `share`.
  template <class F>
  decltype(auto) timed(double& before, double& share, F&& f) {
    lap(before);
    const LapAtEnd end{*this, share};
    return std::forward<F>(f)();
  }

 private:
  struct LapAtEnd {
    Stopwatch& watch;
    double& seconds;
    ~LapAtEnd() { watch.lap(seconds); }
  };

  bool running_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace starling
