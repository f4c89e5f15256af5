// How all ranks agree on the round after which they act together: rank 0 takes the latest round that any of them names.
#include "state.hpp"

namespace starling {

void World::State::appoint(Appointment what) {
  if (of(what).told > of(what).heard || !of(what).agreed.empty()) return;
  for (const int r : active_) {
    if (r == rank) {
      reply_round(what);
    } else {
      send_notice(r, Notice{.kind = NoticeKind::round_query, .code = static_cast<std::int32_t>(what)});
    }
  }
}

void World::State::reply_round(Appointment what) {
  ++of(what).told;
  // A rank in the middle of a round finishes that round before it learns the agreed round. The next round is the first
  // after which it can act.
  const Round round = what == Appointment::stop ? round_ : round_ + 1;
  if (rank == 0) {
    handle_reply(what, round);
  } else {
    send_notice(0, Notice{.kind = NoticeKind::round_reply, .code = static_cast<std::int32_t>(what), .round = round});
  }
}

void World::State::handle_reply(Appointment what, Round round) {
  CommonRound& common = of(what);
  common.latest = std::max(common.latest, round);
  if (++common.replies < active_.size()) return;
  common.replies = 0;
  for (const int r : active_) {
    const Notice notice{
        .kind = NoticeKind::round_agreed, .code = static_cast<std::int32_t>(what), .round = common.latest};
    if (r != rank) send_notice(r, notice);
  }
  agree(what, common.latest);
}

void World::State::agree(Appointment what, Round round) {
  ++of(what).heard;
  of(what).agreed.push_back(round);
}

bool World::State::is_appointed(Appointment what, Round t) {
  std::deque<Round>& agreed = of(what).agreed;
  bool is = false;
  for (; !agreed.empty() && agreed.front() <= t; agreed.pop_front()) is = agreed.front() == t;
  return is;
}

void World::State::await_appointments() {
  PatienceClock clock;
  while (waits_for_an_appointment()) {
    poll();
    if (clock.seconds() > watchdog) {
      throw FailureError(
          fmt::format("round {}: no agreement on the round after which to stop or to write checkpoints within {} s: a "
                      "rank is silent. See which rank of the job has died.",
                      round_ + 1, watchdog));
    }
    clock.rest();
  }
}

}  // namespace starling
