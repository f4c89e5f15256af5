// The control channel: notices of failures, stops, rounds and life between any two ranks.
#include <algorithm>

#include "state.hpp"

namespace starling {

void World::State::post_inbox() {
  MPI_Irecv(inbox_.data(), static_cast<int>(inbox_.size()), MPI_BYTE, MPI_ANY_SOURCE, 0, control, &inbox_request_);
}

void World::State::send_notice(int to, const Notice& notice) {
  drop_delivered(outbox_);
  Outgoing& outgoing = outbox_.emplace_back();
  const std::span<const std::byte> plain = std::as_bytes(std::span(&notice, 1));
  const std::size_t bytes = seal ? seal->size(to, plain.size()) : plain.size();
  if (seal) {
    seal->close(MessageKind::notice, to, 0, plain, std::span(outgoing.bytes).first(bytes));
  } else {
    std::copy(plain.begin(), plain.end(), outgoing.bytes.begin());
  }
  MPI_Isend(outgoing.bytes.data(), static_cast<int>(bytes), MPI_BYTE, to, 0, control, &outgoing.request);
}

void World::State::open_notice(int from, std::span<const std::byte> way, Notice& notice) const {
  const std::span<std::byte> plain = std::as_writable_bytes(std::span(&notice, 1));
  if (seal) return seal->open(MessageKind::notice, from, 0, way, plain);
  check<FailureError>(way.size() == plain.size(),
                      "a notice of {} bytes came from rank {}: it has {}. This is a fault of the program.", way.size(),
                      from, plain.size());
  std::copy(way.begin(), way.end(), plain.begin());
}

bool World::State::take_notice(Notice& notice, int& from) {
  while (true) {
    int arrived = 0;
    MPI_Status status;
    MPI_Test(&inbox_request_, &arrived, &status);
    if (arrived == 0) return false;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    from = status.MPI_SOURCE;
    const NoticeBytes came = inbox_;
    post_inbox();
    // The length is that of the sender, who may have sent more than there is room for.
    const std::span<const std::byte> way =
        std::span(came).first(std::min(came.size(), static_cast<std::size_t>(bytes)));
    if (!seal && way.size() == longest_notice) {
      early_.emplace_back(from, std::vector<std::byte>(way.begin(), way.end()));
      continue;
    }
    open_notice(from, way, notice);
    return true;
  }
}

void World::State::set_seal(std::unique_ptr<Seal> of_run) {
  seal = std::move(of_run);
  for (; !early_.empty(); early_.pop_front()) {
    Notice notice;
    open_notice(early_.front().first, early_.front().second, notice);
    handle(notice, early_.front().first);
  }
}

void World::State::handle(const Notice& notice, int from) {
  switch (notice.kind) {
    case NoticeKind::failure:
      failed = static_cast<ExitCode>(notice.code);
      if (notice.silence != 0)
        throw SilenceHeardOf(*failed, fmt::format("rank {}: {}", from, notice.text), notice.round);
      throw PeerError(*failed, fmt::format("rank {}: {}", from, notice.text));
    case NoticeKind::step_failed:
      step_failed = true;
      break;
    case NoticeKind::stop_request:
      appoint(Appointment::stop);
      break;
    case NoticeKind::round_query:
      reply_round(static_cast<Appointment>(notice.code));
      break;
    case NoticeKind::round_reply:
      handle_reply(static_cast<Appointment>(notice.code), notice.round);
      break;
    case NoticeKind::round_agreed:
      agree(static_cast<Appointment>(notice.code), notice.round);
      break;
    case NoticeKind::asks_count:
      if (!seals(from)) break;
      send_notice(from,
                  Notice{.kind = NoticeKind::count,
                         .code = notice.code,
                         .round = static_cast<std::int64_t>(seal->sent(static_cast<MessageKind>(notice.code), from))});
      break;
    case NoticeKind::count:
      sent_counts_[{from, static_cast<MessageKind>(notice.code)}] = static_cast<std::uint64_t>(notice.round);
      break;
    case NoticeKind::ended:
    case NoticeKind::alive: {
      Peer& peer = peers[static_cast<std::size_t>(from)];
      peer.heard = true;
      if (notice.kind == NoticeKind::ended) {
        peer.ended = true;
        peer.rounds_at_end = notice.round + 1;
      }
      peer.round = std::max(peer.round, notice.round);
      break;
    }
  }
}

std::uint64_t World::State::sent_count(int from, MessageKind kind) const {
  const auto found = sent_counts_.find({from, kind});
  return found == sent_counts_.end() ? 0 : found->second;
}

bool World::State::is_nearest_to_the_cause() {
  constexpr double others_have_spoken = 0.3;
  bool nearest = true;
  for (PatienceClock clock; size > 1 && clock.seconds() < others_have_spoken;) {
    Notice notice;
    int from = 0;
    if (!take_notice(notice, from)) {
      clock.rest();
      continue;
    }
    if (notice.kind != NoticeKind::failure) continue;
    nearest = nearest && std::pair(round_, rank) < std::pair(notice.round, from);
  }
  return nearest;
}

void World::State::show_life() {
  const auto now = std::chrono::steady_clock::now();
  if (std::chrono::duration<double>(now - life_shown).count() < watchdog / 4) return;
  life_shown = now;
  const Notice alive{.kind = NoticeKind::alive, .round = round_};
  if (rank != 0) send_notice(0, alive);
  for (int r = 1; rank == 0 && r < size; ++r) send_notice(r, alive);
}

}  // namespace starling
