/// Item 4 of the round: how models meet (method 1, "One round" and "Time-varying graphs, opting out, stragglers").
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "starling/core/boundary.hpp"
#include "starling/core/numerics/weighted_sum.hpp"
#include "starling/core/snapshot.hpp"
#include "starling/graph/schedule.hpp"
#include "starling/net/neighbours/neighbours.hpp"
#include "starling/protocol/decentralized/running_sums.hpp"
#include "starling/protocol/observer.hpp"

namespace starling {

enum class Mixing {
  push_sum,  ///< sender weights sum to one; unbiased on any digraph
  plain,     ///< meant for receiver weights that sum to one; biased on an unbalanced digraph
};

/// What the clients of a rank hold, and mixing averages.
struct Holdings {
  Released<Columns> state;  ///< mirror states, a column per client
  Vector mass;              ///< w, one per client; stays 1 under plain mixing
  void persist(Snapshot& snapshot) { snapshot(state, mass); }
};

/// Where the time of a run went, in seconds, estimated from every 16th round.
struct TimeShares {
  double learning = 0;
  double exchange = 0;
  double mixing = 0;
  double observing = 0;
  void persist(Snapshot& snapshot) { snapshot(learning, exchange, mixing, observing); }
};

/// Splits time over the parts of a round, on some rounds only: a clock costs as much as a small exchange.
class Stopwatch {
 public:
  static constexpr Round timed_rounds_apart = 16;
  explicit Stopwatch(bool running) : running_(running) {
    if (running_) last_ = std::chrono::steady_clock::now();
  }
  void lap(double& seconds) {
    if (!running_) return;
    const auto now = std::chrono::steady_clock::now();
    seconds += std::chrono::duration<double>(now - last_).count() * static_cast<double>(timed_rounds_apart);
    last_ = now;
  }

 private:
  bool running_;
  std::chrono::steady_clock::time_point last_;
};

/// How the clients of this rank mix with their neighbours.
class Mixer {
 public:
  virtual ~Mixer() = default;
  /// First client of this rank, and how many it hosts.
  [[nodiscard]] virtual Client first() const = 0;
  [[nodiscard]] virtual std::size_t count() const = 0;
  /// Starts this rank's round t. False when a signal has asked the run to end before it.
  [[nodiscard]] virtual bool begin_round(Round t) = 0;
  /// Rounds that the fastest client known here has begun by now, this one's included: t + 1 where rounds are in step.
  [[nodiscard]] virtual Round clock() const = 0;
  /// Whether rounds are in step and every client takes part in each of them, as far as is known beforehand.
  [[nodiscard]] virtual bool has_all_in_step() const { return false; }
  /// Of local client k in the round that has begun.
  [[nodiscard]] virtual Attendance attendance(std::size_t k) const = 0;
  /// Before the first round, where the graph is the same in all of them: asks for its links now, and never again. False
  /// where they are asked for as rounds go on. No communication.
  [[nodiscard]] virtual bool plan_ahead() { return false; }
  /// Mixes once the round's steps are taken. Throws FailureError and PeerError as the doors do; the holdings are of no
  /// use then.
  virtual void mix(Holdings& holdings, Stopwatch& watch, TimeShares& shares) = 0;
  /// After this rank's last round: mixes on until all have ended, and takes in what is still under way.
  virtual void finish(Holdings& holdings) = 0;
  /// Mass that has left local clients in messages which nobody has got yet, as far as it is known here.
  [[nodiscard]] virtual double in_flight() const { return 0; }
  /// Of the last round, in order; none where rounds are in step.
  [[nodiscard]] virtual std::span<const Arrival> arrivals() const { return {}; }
  /// What it keeps between rounds, traffic included.
  virtual void persist(Snapshot& snapshot) = 0;
};

struct MixingSettings {
  Mixing mixing = Mixing::push_sum;
  double lazy = 0;       ///< share of its mass that a client keeps before splitting
  int gossip_steps = 1;  ///< exchanges per round; the graph's schedule goes on with each
  /// Messages may get lost without anybody knowing: they are `RunningSums`. Push-sum only.
  bool running_sums = false;
  /// Seconds that a round waits for in-neighbours at most; 0 waits for nothing. None waits for everybody: only then are
  /// rounds in step, and the bits the same in every run.
  std::optional<double> deadline;
  /// How vectors get from rank to rank where rounds are in step; changes no result. Running sums go as messages.
  ExchangeWay exchange = ExchangeWay::automatic;
};

/// Mass below this is not split any further, and no model is made from it: rounding leaves as much of an average mass
/// of 1 that was given away. The client shows its last model until it has more.
constexpr double negligible_mass = 0x1p-44;

/// Doubles in a message: the state, and the mass under push-sum.
[[nodiscard]] inline std::size_t message_length(std::size_t state_size, Mixing mixing) {
  return state_size + (mixing == Mixing::push_sum ? 1 : 0);
}

/// Likewise, for messages that may be running sums.
[[nodiscard]] inline std::size_t message_length(std::size_t state_size, const MixingSettings& settings) {
  const std::size_t length = message_length(state_size, settings.mixing);
  return settings.running_sums ? RunningSums::message_length(length) : length;
}

/// Every client waits for its in-neighbours' messages of the same round: the same bits on any number of ranks.
class SynchronousMixer final : public Mixer {
 public:
  /// Keeps references to the door, whose vectors have message_length(state size, settings) entries, and to the
  /// schedule.
  SynchronousMixer(Neighbours& neighbours, const Schedule& schedule, const MixingSettings& settings);

  [[nodiscard]] Client first() const override { return neighbours_.first(); }
  [[nodiscard]] std::size_t count() const override { return neighbours_.count(); }
  [[nodiscard]] bool begin_round(Round t) override;
  [[nodiscard]] Round clock() const override { return round_ + 1; }
  /// Who leaves or stays away makes a schedule endless.
  [[nodiscard]] bool has_all_in_step() const override { return schedule_.period() > 0; }
  [[nodiscard]] Attendance attendance(std::size_t k) const override;
  [[nodiscard]] bool plan_ahead() override;
  /// Collective among neighbours: waits for in-neighbours, never for everybody.
  void mix(Holdings& holdings, Stopwatch& watch, TimeShares& shares) override;
  void finish(Holdings& holdings) override;
  [[nodiscard]] double in_flight() const override;
  void persist(Snapshot& snapshot) override;

 private:
  /// The weights of each local client's in-edges, or out-edges. Most graphs give many clients the same ones, which are
  /// kept once then.
  class WeightRows {
   public:
    void clear(std::size_t clients);
    void add(const std::vector<Arc>& arcs);
    [[nodiscard]] View operator[](std::size_t k) const {
      return View(values_).subspan(begin_[row_[k]], begin_[row_[k] + 1] - begin_[row_[k]]);
    }

   private:
    std::vector<double> values_;        ///< of all rows that differ, one after the other
    std::vector<std::uint32_t> begin_;  ///< of each, and where the next would begin
    std::vector<std::uint32_t> row_;    ///< of each client
    std::vector<std::uint32_t> seen_;   ///< some of the rows, to be found again by their content
  };
  /// The weights of all local clients' links.
  struct Weights {
    WeightRows in;
    WeightRows out;
    std::vector<std::uint32_t> own_place;  ///< in-neighbours before the client itself
    std::vector<double> own;
    std::vector<double> share;

    void clear(std::size_t clients);
    /// Those of the next client, which is u.
    void add(const Links& links, Client u);
    [[nodiscard]] bool is_alone(std::size_t k) const { return in[k].empty() && out[k].empty(); }
  };
  /// A plan with what the links that it was made for weigh; with running sums also the links.
  struct Stage {
    Weights weights;
    std::vector<Links> links;
    Neighbours::Plan plan;
  };
  void gossip(Round step, Holdings& holdings, Stopwatch& watch, TimeShares& shares);
  Stage& stage_of(Round step);
  [[nodiscard]] PlanUse use_of_plans() const;
  void make_stage(std::optional<Stage>& stage, Round step);
  [[nodiscard]] Links links_of(Client u, Round step) const;
  /// A client that may get so little mass that it stays with its model, and its mass before it gave some away.
  struct Staying {
    std::size_t client = 0;
    double mass = 0;
  };
  void prepare(const Stage& stage, Holdings& holdings);
  void split(const Stage& stage, std::size_t k, MutableView z, double& mass, MutableView message);
  void prepare_sums(const Stage& stage, Holdings& holdings);
  void mix_block(const Stage& stage, Columns& state, Vector& mass);
  void mix_plain(MutableView x);
  void mix_push_sum(const Stage& stage, std::size_t k, MutableView x, double& mass);
  void mix_staying(const Stage& stage, const Staying& staying, MutableView x, double& mass);
  void mix_running_sums(const Stage& stage, std::size_t k, MutableView x, double& mass);
  [[nodiscard]] double new_mass(const Links& links, const Received& received, std::size_t k) const;
  void list_terms(const Stage& stage, const Received& received, std::size_t k, const double* own);

  Neighbours& neighbours_;
  const Schedule& schedule_;
  MixingSettings settings_;
  std::size_t length_;  ///< of a pair (s, w)
  Round round_ = 0;
  Released<Columns>* outgoing_ = nullptr;     ///< the door's: a column per sender or, with running sums, per edge
  std::vector<std::optional<Stage>> stages_;  ///< by step modulo the period, or one that is made anew
  std::vector<Staying> staying_;              ///< of the exchange at work, ascending
  Vector left_;                               ///< what such a client keeps of its own; with running sums, news
  std::vector<Term> terms_;                   ///< of its sum, in the order of senders, itself included
  Vector sum_;                                ///< (s, w) of the client at work, with running sums
  std::vector<RunningSums> sums_;             ///< one per client, if messages carry sums
};

}  // namespace starling
