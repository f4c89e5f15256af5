/// The common part of protocols in which rank 0 combines what clients send.
#pragma once

#include <utility>

#include "protocol/observer.hpp"
#include "protocol/time_shares.hpp"

namespace starling {

class Root;

/// Rounds that all clients play together. In each round a derived class calls goes_on(), and raises done_ at its end.
class CentralRounds : public RoundView {
 public:
  /// Rounds whose view has so many models on this rank. Keeps a reference.
  CentralRounds(Root& root, std::size_t models) : root_(root), ones_(models, 1.0) {}

  [[nodiscard]] Round done() const override { return done_; }
  [[nodiscard]] bool stepped(std::size_t) const override { return stepped_; }
  [[nodiscard]] View masses() const override { return ones_; }
  [[nodiscard]] const TimeShares& time_shares() const { return shares_; }

 protected:
  /// Starts round done(). False if all `rounds` are played or a signal stops the run.
  [[nodiscard]] bool goes_on(Round rounds);
  /// Returns f(). Its time counts as `share`, the time since the last call as exchange.
  template <class F>
  decltype(auto) timed(double TimeShares::*share, F&& f) {
    return watch_.timed(shares_.exchange, shares_.*share, std::forward<F>(f));
  }

  Root& root_;
  Round done_ = 0;
  bool stepped_ = false;  ///< on rank 0: whether the last round was a step
  TimeShares shares_;
  Stopwatch watch_{false};

 private:
  Vector ones_;
};

}  // namespace starling
