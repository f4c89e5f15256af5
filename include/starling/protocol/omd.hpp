/// Decentralized, differentially private online mirror descent (method 1; dissertation, chapters 2 and 5, corrected).
///
/// The protocol holds the peer-to-peer door only: it cannot reach an aggregator.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "starling/data/stream.hpp"
#include "starling/graph/schedule.hpp"
#include "starling/mirror/mirror.hpp"
#include "starling/net/neighbours.hpp"
#include "starling/privacy/accounts.hpp"
#include "starling/protocol/observer.hpp"

namespace starling {

enum class Mixing {
  push_sum,  ///< sender weights sum to one; unbiased on any digraph
  plain,     ///< meant for receiver weights that sum to one; biased on an unbalanced digraph
};

struct OmdSettings {
  Mixing mixing = Mixing::push_sum;
  Round rounds = 1;
  double step = 1;          ///< c in η_t = c / (t + i0)^p, t from 1
  double step_power = 0.5;  ///< p
  double step_offset = 0;   ///< i0
  double step_cap = 1;      ///< κ: no step exceeds κ times the first round's (step debt)
  double lazy = 0;          ///< share of its mass that a client keeps before splitting
  int gossip_steps = 1;     ///< exchanges per round; the graph's schedule goes on with each
  double l2 = 0;  ///< λ of the penalty (λ/2)‖x‖², added after the release since it depends on no record
};

/// How a rank's clients learn from their streams; absent where the run only averages (`--loss none`).
struct Learning {
  Model& model;
  Mechanism& mechanism;
  Accounts& accounts;                            ///< of the local clients
  std::vector<NoiseKey> keys;                    ///< one per local client
  std::vector<std::unique_ptr<Stream>> streams;  ///< likewise
};

/// Where the time of a run went, in seconds, estimated from every 16th round.
struct TimeShares {
  double learning = 0;
  double exchange = 0;
  double mixing = 0;
  double observing = 0;
};

/// The clients of one rank.
class DecentralizedOmd final : public RoundView {
 public:
  /// `start` has a column (a model, d entries) per local client. Keeps references to all but the settings.
  DecentralizedOmd(Neighbours& neighbours, const Schedule& schedule, MirrorMap& mirror,
                   std::optional<Learning> learning, const OmdSettings& settings, const Released<Columns>& start);

  /// Doubles in a message: the state, and the mass under push-sum.
  [[nodiscard]] static std::size_t message_length(const MirrorMap& mirror, std::size_t d, Mixing mixing) {
    return mirror.state_size(d) + (mixing == Mixing::push_sum ? 1 : 0);
  }

  /// Plays settings.rounds rounds, or fewer if a signal stops the run (then all ranks stop after the same round).
  /// Collective among neighbours: each round waits for in-neighbours, never for everybody.
  void run(const std::vector<Observer*>& observers);

  [[nodiscard]] Round done() const override { return done_; }
  [[nodiscard]] Released<Columns> models() const override;
  [[nodiscard]] View masses() const override { return mass_; }
  [[nodiscard]] const std::vector<Secret<Score>>& tallies() const override { return tallies_; }

  /// Σ_t f_u,t(x_u,t) of each client u over the rounds in which it took a step: f_u,t(x) = (1/m) Σ_i ℓ_i(x) + (λ/2)‖x‖²
  /// is what the step goes down, a short batch's sum being divided by m too. (A tally has a penalty per record.)
  [[nodiscard]] const std::vector<Secret<double>>& played() const { return played_; }
  /// Step debt of each client; what is not yet repaid (method 1).
  [[nodiscard]] View debts() const { return debt_; }
  /// Releases that each client has made.
  [[nodiscard]] const std::vector<Round>& releases() const { return releases_; }
  [[nodiscard]] const TimeShares& time_shares() const { return shares_; }

 private:
  class Stopwatch;
  void learn(std::size_t k, Round t);
  [[nodiscard]] double take_step_length(std::size_t k, Round t);
  void prepare_message(std::size_t k);
  void mix(std::size_t k, const Neighbours::Plan& plan);
  void mix_push_sum(std::size_t k, const Neighbours::Plan& plan, Columns& state);
  void mix_plain(std::size_t k, const Neighbours::Plan& plan, Columns& state);
  /// Items 4 of the round: one exchange over the graph of step `step` of the schedule.
  void gossip(Round t, Round step, Stopwatch& watch);
  [[nodiscard]] Neighbours::Plan& plan_of(Round step);

  /// A plan with the links that it was made for.
  struct Stage {
    std::vector<Links> links;
    Neighbours::Plan plan;
  };
  [[nodiscard]] Stage make_stage(Round step);
  [[nodiscard]] double eta(Round t) const;

  Neighbours& neighbours_;
  const Schedule& schedule_;
  MirrorMap& mirror_;
  std::optional<Learning> learning_;
  OmdSettings settings_;
  std::size_t dimension_;

  Round done_ = 0;
  Released<Columns> state_;     ///< mirror states, a column per client
  Released<Columns> outgoing_;  ///< (w z, w) under push-sum, z under plain
  Vector mass_;                 ///< w
  Vector debt_;
  std::vector<Round> releases_;
  std::vector<Secret<Score>> tallies_;
  std::vector<Secret<double>> played_;
  Secret<Vector> gradient_;          ///< of the client at work: clipped, un-noised
  Released<Vector> noisy_gradient_;  ///< ĝ
  Vector scratch_;
  Vector left_;                               ///< what a client keeps of its own message
  std::vector<std::optional<Stage>> stages_;  ///< by round modulo the period, or one that is made anew
  Stage* stage_ = nullptr;
  TimeShares shares_;
};

}  // namespace starling
