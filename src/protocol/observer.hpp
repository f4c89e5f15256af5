/// The interface between protocols and observers. Observers measure and record; protocols neither print nor store.
#pragma once

#include <span>
#include <vector>

#include "core/boundary.hpp"
#include "core/links.hpp"
#include "core/round_set.hpp"
#include "model/model.hpp"

namespace starling {

/// A message that a client has mixed in, where rounds are not in step.
struct Arrival {
  Client to = 0;
  Round round = 0;  ///< round of the receiving rank
  Client from = 0;
  Round heard = 0;  ///< clock of the sender when it sent
};

/// The state of one rank's clients after some rounds.
class RoundView {
 public:
  virtual ~RoundView() = default;
  /// Rounds completed; 0 before the first. Where rounds are not in step: rounds of the fastest client known here. A
  /// rank may skip some.
  [[nodiscard]] virtual Round done() const = 0;
  /// A copy of the models: d × clients of this rank.
  [[nodiscard]] virtual Released<Columns> models() const = 0;
  /// A copy of the models of local clients first, …, first + count − 1, for runs in which a copy of all is too large.
  [[nodiscard]] virtual Released<Columns> some_models(std::size_t first, std::size_t count) const {
    return post_process(
        [&](const Columns& all) {
          Columns some(all.rows(), count);
          for (std::size_t k = 0; k < count; ++k) some.set(k, all[first + k]);
          return some;
        },
        models());
  }
  /// The model of local client k, d numbers. Valid until the next call.
  [[nodiscard]] virtual View model(std::size_t k) const = 0;
  /// Whether the last round changed the path of local client k by a step: its own step, or any if all share one model.
  [[nodiscard]] virtual bool stepped(std::size_t k) const = 0;
  /// Push-sum mass of each client; 1 under plain mixing. Depends on the graph only.
  [[nodiscard]] virtual View masses() const = 0;
  /// Whether local client k participated in the last round.
  [[nodiscard]] virtual bool was_present(std::size_t k) const = 0;
  /// Whether local client k is lost for good: it has neither mass nor model (NaN), and counts in no figure.
  [[nodiscard]] virtual bool is_lost(std::size_t /*k*/) const { return false; }
  /// Whether local client k is still in the run: neither lost, nor departed for good. The mean model is over those.
  [[nodiscard]] virtual bool is_there(std::size_t k) const { return !is_lost(k); }
  /// Mass of local client k in messages that have not been received, as far as it is known here.
  [[nodiscard]] virtual double mass_in_flight(std::size_t k) const = 0;
  /// Messages mixed in the last round; empty where rounds are in step.
  [[nodiscard]] virtual std::span<const Arrival> arrivals() const = 0;
  /// Progressive score of each client since the start. Private.
  [[nodiscard]] virtual const std::vector<Secret<Score>>& tallies() const = 0;
  /// Σ_t f_u,t(x_u,t) of each client u over the rounds that it has played. f_u,t(x) = (1/m) Σ_i ℓ_i(x) + (λ/2)‖x‖² is
  /// the objective of the step; the sum of a short batch is divided by m too. (A tally has a penalty per record.)
  /// Private.
  [[nodiscard]] virtual const std::vector<Secret<double>>& played() const = 0;
  /// The rounds in which each client has taken a step. Public: streams, budgets and attendance decide them.
  [[nodiscard]] virtual const std::vector<RoundSet>& rounds_played() const = 0;
};

/// A listener to a run. The protocol calls after() before the first round and after each round, unless due() allows it
/// to leave rounds out.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Looks at the state. Must not wait for other ranks.
  virtual void after(const RoundView& view) = 0;
  /// The next round after which the observer needs to be called, if all rounds are in step and complete. It may be
  /// called earlier too.
  [[nodiscard]] virtual Round due() const { return 0; }
};

}  // namespace starling
