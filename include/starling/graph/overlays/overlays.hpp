/// What befalls a schedule: clients that sit out rounds or leave, and links that lose messages.
#pragma once

#include <cstdint>
#include <memory>

#include "starling/graph/overlays/attendance.hpp"
#include "starling/graph/schedule.hpp"

namespace starling {

/// Who keeps the weight of an edge that is not there in a round (method 1, "Opting out" and "Loss").
enum class MissingWeight {
  split_anew,      ///< every sender splits equally over itself and those present: for graphs whose rule is `sender`
  sender_keeps,    ///< the sender's own share grows: sender sums stay what they are
  receiver_keeps,  ///< the receiver's own share grows: receiver sums stay what they are
};

/// A schedule some of whose clients are absent or gone. Only what is common to both ends of an edge decides whether it
/// is there, so both ends agree. Under `split_anew` links have a `share` and arcs of weight 1. A row costs as many
/// looks at clients as it has arcs; what was found of a client is kept for its round, in eight bytes a client, so that
/// its neighbours need not draw again. Not for several threads at once.
class AttendedSchedule final : public Schedule {
 public:
  /// `absences` may be null (nobody is absent), `departures` empty (nobody leaves). `steps_per_round` is the number of
  /// exchanges per round: links are asked for by exchange, attendance by round.
  AttendedSchedule(std::unique_ptr<Schedule> schedule, std::unique_ptr<AbsenceModel> absences, Departures departures,
                   MissingWeight missing, Round steps_per_round = 1);

  [[nodiscard]] Client clients() const override { return schedule_->clients(); }
  /// 0, unless nobody is ever absent or gone.
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
  bool changes_;  ///< whether anybody is ever absent or gone
  /// By client: twice the round that was asked for last, and one more if it is absent then; −1 before any.
  mutable std::vector<Round> known_;
};

/// Whether the sender learns that a message was lost.
enum class LossModel {
  acknowledged,    ///< it does, in time to keep that mass: the edge is not there
  unacknowledged,  ///< it does not: the edge is in its `Links.lost`, and not in the receiver's `in`
};

struct LinkLossSettings {
  double probability = 0;  ///< of each (from, to, exchange), independent, in [0, 1)
  LossModel model = LossModel::acknowledged;
  std::uint64_t seed = 1;
};

/// A schedule whose messages get lost. With `receiver_keeps` the receiver, which sees that nothing came, keeps the
/// weight under either model; else the sender keeps it, where it knows (it does not split it anew).
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
