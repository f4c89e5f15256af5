/// Mixing in step: step 4 of a decentralized round, where every client waits for its in-neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/columns.hpp"
#include "core/links.hpp"
#include "core/numerics/weighted_sum.hpp"
#include "graph/schedule.hpp"
#include "net/neighbours/neighbours.hpp"
#include "protocol/decentralized/mixer.hpp"
#include "protocol/decentralized/rounded_messages.hpp"
#include "protocol/decentralized/running_sums.hpp"

namespace starling {

/// One row of weights per client. Most graphs give many clients equal rows, and an equal row is stored once.
class WeightRows {
 public:
  void clear(std::size_t clients);
  /// Adds the row of the next client.
  void add(const std::vector<Arc>& arcs);
  [[nodiscard]] View operator[](std::size_t k) const {
    return View(values_).subspan(begin_[row_[k]], begin_[row_[k] + 1] - begin_[row_[k]]);
  }

 private:
  std::vector<double> values_;        ///< all distinct rows, one after the other
  std::vector<std::uint32_t> begin_;  ///< where each row begins, and the end of the last
  std::vector<std::uint32_t> row_;    ///< number of each client's row
  std::vector<std::uint32_t> seen_;   ///< hash table of some of the rows
};

/// The weights of all local clients' links.
struct LinkWeights {
  WeightRows in;
  WeightRows out;
  std::vector<std::uint32_t> own_place;  ///< number of in-neighbours before the client itself
  std::vector<double> own;
  std::vector<double> share;

  void clear(std::size_t clients);
  /// Adds the links of the next client, which is u.
  void add(const Links& links, Client u);
  [[nodiscard]] bool is_alone(std::size_t k) const { return in[k].empty() && out[k].empty(); }
};

/// Mixing in step: every client waits for its in-neighbours' messages of the same round. Same bits on any number of
/// ranks.
class SynchronousMixer final : public Mixer {
 public:
  /// Vectors of `neighbours` have message_length(state_size, settings) entries. Keeps references.
  SynchronousMixer(Neighbours& neighbours, std::size_t state_size, const Schedule& schedule,
                   const MixingSettings& settings);

  [[nodiscard]] bool begin_round(Round t) override;
  [[nodiscard]] Round clock() const override { return round_ + 1; }
  /// True on schedules that repeat: a schedule on which clients leave or sit out has no period.
  [[nodiscard]] bool has_all_in_step() const override { return schedule_.period() > 0; }
  [[nodiscard]] Attendance attendance(std::size_t k) const override;
  [[nodiscard]] bool has_left(std::size_t k) const override {
    return attendance(k) == Attendance::gone && schedule_.anyone_there(round_);
  }
  [[nodiscard]] bool plan_ahead() override;
  /// **Collective** among neighbours: waits for in-neighbours, never for all ranks.
  void mix(Holdings& holdings, Stopwatch& watch, TimeShares& shares) override;
  void finish(Holdings& holdings) override;
  [[nodiscard]] double in_flight(std::size_t k) const override;
  void begin_anew() override { sums_.assign(sums_.size(), RunningSums()); }
  void persist(Snapshot& snapshot) override;

 private:
  /// One step of the schedule: its exchange plan and weights; with running sums also the links.
  struct Stage {
    LinkWeights weights;
    std::vector<Links> links;
    Neighbours::Plan plan;
  };
  void gossip(Round step, Holdings& holdings, Stopwatch& watch, TimeShares& shares);
  Stage& stage_of(Round step);
  [[nodiscard]] PlanUse use_of_plans() const;
  void make_stage(std::optional<Stage>& stage, Round step);
  [[nodiscard]] Links links_of(Client u, Round step) const;
  /// A client that may get so little mass that it keeps its model, and its mass before the split.
  struct Staying {
    std::size_t client = 0;
    double mass = 0;
  };
  void prepare(const Stage& stage, Holdings& holdings);
  void split(const Stage& stage, std::size_t k, MutableView z, double& mass, MutableView column);
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
  std::size_t length_;  ///< numbers of a pair (s, w)
  Round round_ = 0;
  Released<Columns>* outgoing_ = nullptr;     ///< of neighbours_: a column per sender or, with running sums, per edge
  std::vector<std::optional<Stage>> stages_;  ///< by step modulo the period, or one that is made anew
  std::vector<Staying> staying_;              ///< in this exchange, ascending
  Vector left_;                               ///< scratch: the part of z that a client keeps, or a new pair (s, w)
  std::optional<RoundedMessages> rounded_;    ///< if messages have few bits
  Vector pair_;                               ///< scratch: a pair (s, w) as its receivers get it
  Vector pairs_;                              ///< scratch: pairs that a client has got
  std::vector<Term> terms_;                   ///< terms of a client's sum in sender order, its own included
  Vector sum_;                                ///< (s, w) of the current client, with running sums
  std::vector<RunningSums> sums_;             ///< one per client, if messages carry sums
};

}  // namespace starling
