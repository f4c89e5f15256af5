/// Overlays of a schedule: absent and departed clients, and message loss.
#pragma once

#include <cstdint>
#include <memory>

#include "graph/graph.hpp"
#include "graph/overlays/attendance.hpp"
#include "graph/schedule.hpp"

namespace starling {

/// Where the weight of a missing edge goes in a round (docs/methods/decentralized.md).
enum class MissingWeight {
  split_anew,      ///< every sender splits equally over itself and the present receivers: for the rule `sender`
  sender_keeps,    ///< the sender's own share grows: sender sums stay the same
  receiver_keeps,  ///< the receiver's own share grows: receiver sums stay the same
};

/// Settings of a run on which overlays depend.
struct OverlayTerms {
  MissingWeight missing = MissingWeight::split_anew;
  Round steps_per_round = 1;
  std::uint64_t seed = 1;  ///< of attendance and of losses
};

/// A schedule with absent and departed clients. Both ends of an edge agree whether the edge is there, because the
/// decision uses common knowledge alone. Under `split_anew` links have a `share` and arcs of weight 1. A row costs one
/// attendance check for each arc. The last check of a client is cached in eight bytes. Not thread-safe.
class AttendedSchedule final : public Schedule {
 public:
  /// `absences` may be null (nobody is absent), `departures` empty (nobody leaves). `steps_per_round`: exchanges per
  /// round; links are indexed by exchange, attendance by round.
  AttendedSchedule(std::unique_ptr<Schedule> schedule, std::unique_ptr<AbsenceModel> absences, Departures departures,
                   MissingWeight missing, Round steps_per_round = 1);

  [[nodiscard]] Client clients() const override { return schedule_->clients(); }
  /// 0, unless nobody is ever absent, and nobody leaves after the first round.
  [[nodiscard]] Round period() const override;
  [[nodiscard]] Links links(Client u, Round t) const override;
  [[nodiscard]] Attendance attendance(Client u, Round t) const override;
  [[nodiscard]] std::string digest() const override;

 private:
  [[nodiscard]] bool present(Client u, Round t) const;
  [[nodiscard]] bool gone(Client u, Round t) const;

  std::unique_ptr<Schedule> schedule_;
  std::unique_ptr<AbsenceModel> absences_;
  Departures departures_;
  MissingWeight missing_;
  Round steps_per_round_;
  bool changes_;  ///< whether any client is ever absent or leaves after the first round
  /// By client: twice the round of the last check, plus one if the client is absent in it; −1 without a check.
  mutable std::vector<Round> known_;
};

/// A graph of some clients among all: the others are gone, and have no edges.
class GraphOfSome final : public Schedule {
 public:
  /// `graph` has a client for each of `some`, which ascend and are below `clients`.
  GraphOfSome(std::unique_ptr<Graph> graph, std::vector<Client> some, Client clients);

  [[nodiscard]] Client clients() const override { return static_cast<Client>(place_.size()); }
  [[nodiscard]] Round period() const override { return graph_->period(); }
  [[nodiscard]] Links links(Client u, Round t) const override;
  [[nodiscard]] Attendance attendance(Client u, Round t) const override;
  [[nodiscard]] std::string digest() const override;
  /// The graph, whose clients have the numbers 0, 1, …
  [[nodiscard]] const Graph& graph() const { return *graph_; }

 private:
  std::unique_ptr<Graph> graph_;
  std::vector<Client> some_;
  std::vector<Client> place_;  ///< of each client among `some`; −1 for the others
};

/// Whether the sender learns of a lost message.
enum class LossModel {
  acknowledged,    ///< yes, in time to keep the mass: the edge is not there
  unacknowledged,  ///< no: the edge is in the sender's `Links.lost`, and not in the receiver's `in`
};

struct LinkLossSettings {
  double probability = 0;  ///< loss probability of each (from, to, exchange), independent, in [0, 1)
  LossModel model = LossModel::acknowledged;
  std::uint64_t seed = 1;
};

/// A schedule with message loss. With `receiver_keeps` the receiver keeps the weight under either model, because it
/// notices the missing message. Otherwise an informed sender keeps the weight, without splitting it anew.
class LossySchedule final : public Schedule {
 public:
  LossySchedule(std::unique_ptr<Schedule> schedule, const LinkLossSettings& settings, MissingWeight missing);

  [[nodiscard]] Client clients() const override { return schedule_->clients(); }
  /// 0, unless nothing is ever lost.
  [[nodiscard]] Round period() const override { return settings_.probability > 0 ? 0 : schedule_->period(); }
  [[nodiscard]] Links links(Client u, Round t) const override;
  [[nodiscard]] Attendance attendance(Client u, Round t) const override { return schedule_->attendance(u, t); }
  [[nodiscard]] std::string digest() const override;

 private:
  [[nodiscard]] bool lost(Client from, Client to, Round t) const;

  std::unique_ptr<Schedule> schedule_;
  LinkLossSettings settings_;
  MissingWeight missing_;
};

}  // namespace starling
