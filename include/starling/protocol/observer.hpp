/// What an observer may see of a protocol between rounds. Observers measure and record; protocols neither print nor
/// store.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "starling/core/boundary.hpp"
#include "starling/core/links.hpp"
#include "starling/core/round_set.hpp"
#include "starling/model/model.hpp"

namespace starling {

/// What a client has mixed in where rounds are not in step: a message of client `from`, whose clock stood at `heard`
/// when it sent.
struct Arrival {
  Client to = 0;
  Round round = 0;  ///< of the receiving rank
  Client from = 0;
  Round heard = 0;
};

/// State of one rank's clients after some rounds.
class RoundView {
 public:
  virtual ~RoundView() = default;
  /// Rounds completed; 0 before the first. Where rounds are not in step, those of the fastest client known here: a rank
  /// may skip some.
  [[nodiscard]] virtual Round done() const = 0;
  /// d × clients of this rank, a copy.
  [[nodiscard]] virtual Released<Columns> models() const = 0;
  /// Those of local clients first … first + count − 1 alone: for very many clients all of them take as much room again.
  [[nodiscard]] virtual Released<Columns> some_models(std::size_t first, std::size_t count) const {
    return post_process(
        [&](const Columns& all) {
          Columns some(all.rows(), count);
          for (std::size_t k = 0; k < count; ++k)
            std::copy(all[first + k].begin(), all[first + k].end(), some[k].begin());
          return some;
        },
        models());
  }
  /// That of local client k alone, d numbers. They hold until the next call.
  [[nodiscard]] virtual View model(std::size_t k) const = 0;
  /// Whether the last round held a step for the path of local client k: its own, or anybody's where all have one model.
  [[nodiscard]] virtual bool stepped(std::size_t k) const = 0;
  /// Push-sum mass of each client; 1 under plain mixing. Depends on the graph alone.
  [[nodiscard]] virtual View masses() const = 0;
  /// Whether local client k took part in the last round.
  [[nodiscard]] virtual bool was_present(std::size_t k) const = 0;
  /// Mass of local clients that is in messages under way, as far as it is known here.
  [[nodiscard]] virtual double mass_in_flight() const = 0;
  /// What was mixed in the last round, where rounds are not in step; empty elsewhere.
  [[nodiscard]] virtual std::span<const Arrival> arrivals() const = 0;
  /// Progressive score of each client since the start. Private: it is computed from records.
  [[nodiscard]] virtual const std::vector<Secret<Score>>& tallies() const = 0;
  /// Σ_t f_u,t(x_u,t) of each client u over the rounds that it has played: f_u,t(x) = (1/m) Σ_i ℓ_i(x) + (λ/2)‖x‖² is
  /// what the step goes down, a short batch's sum being divided by m too. (A tally has a penalty per record.) Private.
  [[nodiscard]] virtual const std::vector<Secret<double>>& played() const = 0;
  /// The rounds in which each client has taken a step. Public: streams, budgets and attendance decide.
  [[nodiscard]] virtual const std::vector<RoundSet>& rounds_played() const = 0;
};

class Observer {
 public:
  virtual ~Observer() = default;
  /// Called before the first round and after each, but for those that due() leaves out. Local: must not wait for other
  /// ranks.
  virtual void after(const RoundView& view) = 0;
  /// The next round after which it wants to be called, if nothing else happens than that rounds are completed, in step
  /// and with all clients. It may be called after those before it too.
  [[nodiscard]] virtual Round due() const { return 0; }
};

}  // namespace starling
