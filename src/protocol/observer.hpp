/// The interface between protocols and observers. Observers measure and record; protocols neither print nor store.
#pragma once

#include <span>
#include <vector>

#include "core/boundary.hpp"
#include "core/links.hpp"
#include "core/round_set.hpp"
#include "model/score.hpp"

namespace starling {

/// A message that a client has mixed in, where rounds are not in step.
struct Arrival {
  Client to = 0;
  Round round = 0;  ///< round of the receiving rank
  Client from = 0;
  Round heard = 0;  ///< clock of the sender when it sent
};

/// What the clients of a rank have played since the start.
struct Played {
  explicit Played(std::size_t clients = 0) : tallies(clients), objectives(clients), rounds(clients) {}
  std::vector<Secret<Score>> tallies;  ///< progressive scores. Private.
  /// Σ_t f_u,t(x_u,t) of each client u over the rounds that it has played. f_u,t(x) = (1/m) Σ_i ℓ_i(x) + (λ/2)‖x‖² is
  /// the objective of the step; the sum of a short batch is divided by m too. (A tally has a penalty per record.)
  /// Private.
  std::vector<Secret<double>> objectives;
  /// The rounds in which each client has taken a step. Public: streams, budgets and attendance decide them.
  std::vector<RoundSet> rounds;
};

/// The place of a client in a run.
enum class Standing {
  present,   ///< participated in the last round
  absent,    ///< did not, and may come back
  departed,  ///< has left for good
  lost       ///< has neither mass nor model (NaN), and counts in no figure
};

/// The state of one rank's clients after some rounds.
class RoundView {
 public:
  virtual ~RoundView() = default;
  /// Rounds completed; 0 before the first. Where rounds are not in step: rounds of the fastest client known here. A
  /// rank may skip some.
  [[nodiscard]] virtual Round done() const = 0;
  /// A copy of the models of local clients first, …, first + count − 1: d × count.
  [[nodiscard]] virtual Released<Columns> some_models(std::size_t first, std::size_t count) const = 0;
  /// A copy of the models of all clients of this rank.
  [[nodiscard]] Released<Columns> models() const { return some_models(0, masses().size()); }
  /// The model of local client k, d numbers. Valid until the next call.
  [[nodiscard]] virtual View model(std::size_t k) const = 0;
  /// Whether the last round changed the path of local client k by a step: its own step, or any if all share one model.
  [[nodiscard]] virtual bool stepped(std::size_t k) const = 0;
  /// Push-sum mass of each client; 1 under plain mixing. Depends on the graph only.
  [[nodiscard]] virtual View masses() const = 0;
  [[nodiscard]] virtual Standing standing(std::size_t /*k*/) const { return Standing::present; }
  [[nodiscard]] bool was_present(std::size_t k) const { return standing(k) == Standing::present; }
  /// Whether local client k is still in the run. The mean model is over those.
  [[nodiscard]] bool is_there(std::size_t k) const { return standing(k) < Standing::departed; }
  /// Mass of local client k in messages that have not been received, as far as it is known here.
  [[nodiscard]] virtual double mass_in_flight(std::size_t /*k*/) const { return 0; }
  /// Messages mixed in the last round; empty where rounds are in step.
  [[nodiscard]] virtual std::span<const Arrival> arrivals() const { return {}; }
  [[nodiscard]] virtual const Played& played() const = 0;
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

/// A list of observers. Call notify() before the first round and after each.
class ObserverList {
 public:
  enum class Calls {
    every_round,  ///< participants of a round, or the number of rounds completed at once, may change
    when_due      ///< all rounds are in step and complete, so that Observer::due() holds
  };

  /// An empty list.
  ObserverList() = default;
  ObserverList(const std::vector<Observer*>& observers, Calls calls);

  /// Calls the observers that are due.
  void notify(const RoundView& view);

 private:
  struct Entry {
    Observer* observer;
    Round due;  ///< first round after which it is called
  };
  Calls calls_ = Calls::every_round;
  std::vector<Entry> entries_;
};

}  // namespace starling
