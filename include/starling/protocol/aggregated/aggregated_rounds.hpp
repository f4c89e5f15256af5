/// The common part of the modes in which rank 0 aggregates.
#pragma once

#include <algorithm>
#include <vector>

#include "starling/core/snapshot.hpp"
#include "starling/net/root/root.hpp"
#include "starling/protocol/aggregated/aggregated_clients.hpp"
#include "starling/protocol/observer.hpp"
#include "starling/protocol/observer_list.hpp"
#include "starling/protocol/time_shares.hpp"

namespace starling {

/// A protocol whose clients all have the same model θ. A derived run() calls begin(), then in each round goes_on(), its
/// own steps, and completed().
class AggregatedRounds : public RoundView {
 public:
  /// `start` has d entries. Keeps references.
  AggregatedRounds(Root& root, AggregatedClients& clients, const Released<Vector>& start);

  /// **Collective.** Plays all rounds, or fewer if a signal stops the run.
  virtual void run(const std::vector<Observer*>& observers) = 0;

  [[nodiscard]] Round done() const override { return done_; }
  [[nodiscard]] Released<Columns> models() const override { return some_models(0, members_.count()); }
  [[nodiscard]] Released<Columns> some_models(std::size_t first, std::size_t count) const override;
  [[nodiscard]] View model(std::size_t) const override { return theta_.value(); }
  [[nodiscard]] bool stepped(std::size_t) const override { return stepped_; }
  [[nodiscard]] View masses() const override { return ones_; }
  [[nodiscard]] bool was_present(std::size_t) const override { return true; }
  [[nodiscard]] double mass_in_flight(std::size_t /*k*/) const override { return 0; }
  [[nodiscard]] std::span<const Arrival> arrivals() const override { return {}; }
  [[nodiscard]] const std::vector<Secret<Score>>& tallies() const override { return members_.tallies(); }
  [[nodiscard]] const std::vector<Secret<double>>& played() const override { return played_; }
  [[nodiscard]] const std::vector<RoundSet>& rounds_played() const override { return members_.rounds_played(); }
  [[nodiscard]] const TimeShares& time_shares() const { return shares_; }
  /// The model θ, the same on all ranks.
  [[nodiscard]] const Released<Vector>& theta() const { return theta_; }
  /// The whole state between rounds, traffic included; without streams, keys and accounts.
  virtual void persist(Snapshot& snapshot) {
    snapshot(theta_, done_, shares_, members_, root_);
    snapshot.of_clients(played_);
    snapshot.of_first_rank(root_.aggregates(), stepped_);
  }
  /// Skips the rounds before `end` that have not been played. Step lengths go by the number of the round.
  virtual void leave_out(Round end) { done_ = std::max(done_, end); }

 protected:
  /// Starts the run for these observers. Shows them the start, unless the run is resumed.
  void begin(const std::vector<Observer*>& observers);
  /// Starts round done(). False if all `rounds` are played or a signal stops the run.
  [[nodiscard]] bool goes_on(Round rounds) {
    if (done_ == rounds || !root_.begin_round(done_)) return false;
    watch_ = Stopwatch::of_round(done_);
    return true;
  }
  /// Ends the round, and calls the observers.
  void completed();
  /// Returns f(). Its time counts as learning (clients' sums over records) or mixing (work of rank 0 on them).
  template <class F>
  decltype(auto) timed(double TimeShares::*share, F&& f) {
    return watch_.timed(shares_.exchange, shares_.*share, std::forward<F>(f));
  }

  Root& root_;
  Released<Vector> theta_;
  Round done_ = 0;
  bool stepped_ = true;  ///< on rank 0: whether the last round was a step
  TimeShares shares_;

 private:
  AggregatedClients& members_;
  Stopwatch watch_{false};
  ObserverList observers_;
  Vector ones_;
  std::vector<Secret<double>> played_;
};

}  // namespace starling
