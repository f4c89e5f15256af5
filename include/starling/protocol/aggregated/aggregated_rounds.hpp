/// What the modes in which rank 0 aggregates have in common: the model that all clients have, and who looks at it.
#pragma once

#include <algorithm>
#include <vector>

#include "starling/core/snapshot.hpp"
#include "starling/net/root/root.hpp"
#include "starling/protocol/aggregated/aggregated_clients.hpp"
#include "starling/protocol/decentralized/mixing.hpp"
#include "starling/protocol/observer.hpp"
#include "starling/protocol/watchers.hpp"

namespace starling {

class AggregatedRounds : public RoundView {
 public:
  /// `start` has d entries. Keeps references.
  AggregatedRounds(Root& root, AggregatedClients& clients, const Released<Vector>& start);

  /// **Collective.** Plays `rounds` rounds, or fewer if a signal stops the run.
  virtual void run(const std::vector<Observer*>& observers) = 0;

  [[nodiscard]] Round done() const override { return done_; }
  [[nodiscard]] Released<Columns> models() const override { return some_models(0, members_.count()); }
  [[nodiscard]] Released<Columns> some_models(std::size_t first, std::size_t count) const override;
  [[nodiscard]] View model(std::size_t) const override { return theta_.value(); }
  [[nodiscard]] bool stepped(std::size_t) const override { return stepped_; }
  [[nodiscard]] View masses() const override { return ones_; }
  [[nodiscard]] bool was_present(std::size_t) const override { return true; }
  [[nodiscard]] double mass_in_flight() const override { return 0; }
  [[nodiscard]] std::span<const Arrival> arrivals() const override { return {}; }
  [[nodiscard]] const std::vector<Secret<Score>>& tallies() const override { return members_.tallies(); }
  [[nodiscard]] const std::vector<Secret<double>>& played() const override { return played_; }
  [[nodiscard]] const std::vector<RoundSet>& rounds_played() const override { return members_.rounds_played(); }
  [[nodiscard]] const TimeShares& time_shares() const { return shares_; }
  /// The model, the same everywhere.
  [[nodiscard]] const Released<Vector>& theta() const { return theta_; }
  /// All that rounds depend on but streams, keys and accounts; what goes through the door included.
  virtual void persist(Snapshot& snapshot) { snapshot(theta_, done_, stepped_, shares_, played_, members_, root_); }
  /// Rounds before `end` that have not been played will not be; step lengths go by the number of the round.
  void leave_out(Round end) { done_ = std::max(done_, end); }

 protected:
  /// Whether round done() is played, of so many; starts it.
  [[nodiscard]] bool goes_on(Round rounds) {
    if (done_ == rounds || !root_.begin_round(done_)) return false;
    watch_ = Stopwatch(done_ % Stopwatch::timed_rounds_apart == 0);
    return true;
  }
  /// The observers of all rounds to come. Shows them the start, unless the run goes on where it was: then they have
  /// seen it.
  void begin(const std::vector<Observer*>& observers);
  void completed();
  /// f(), whose time counts as learning (clients' sums over records) or mixing (what rank 0 makes of them).
  template <class F>
  decltype(auto) timed(double TimeShares::*share, F&& f) {
    watch_.lap(shares_.exchange);
    const Lap lap{watch_, shares_.*share};
    return std::forward<F>(f)();
  }

  Root& root_;
  Released<Vector> theta_;
  Round done_ = 0;
  bool stepped_ = true;  ///< rank 0's, if some rounds are no steps
  TimeShares shares_;

 private:
  struct Lap {
    Stopwatch& watch;
    double& seconds;
    ~Lap() { watch.lap(seconds); }
  };

  AggregatedClients& members_;
  Stopwatch watch_{false};
  Watchers watchers_;
  Vector ones_;
  std::vector<Secret<double>> played_;
};

}  // namespace starling
