#include "net/mailboxes/mailboxes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/numerics/kernels.hpp"
#include "net/edge_counts.hpp"
#include "net/sealed_parts.hpp"
#include "net/state.hpp"

namespace starling {

namespace {

/// Numbers before each vector: from, to and round as doubles, which hold them exactly (rounds up to 2^53).
constexpr std::size_t parcel_head = 3;

/// Calls visit(parcel) for all parcels of `packed`, whose vectors have `length` doubles.
template <class Visit>
void for_each_parcel(View packed, std::size_t length, Visit&& visit) {
  for (; !packed.empty(); packed = packed.subspan(parcel_head + length)) {
    visit(Mailboxes::Parcel{static_cast<Client>(packed[0]), static_cast<Client>(packed[1]),
                            static_cast<Round>(packed[2]), packed.subspan(parcel_head, length)});
  }
}

class Pile {
 public:
  /// Appends the parcel, or merges it with the waiting parcel of its edge. Returns whether it was appended.
  bool put(const Mailboxes::Parcel& parcel, Mailboxes::Merge merge) {
    const auto [place, opened] = places_.try_emplace(edge_of(parcel), packed_.size());
    if (opened) {
      for (const auto head : {static_cast<Round>(parcel.from), static_cast<Round>(parcel.to), parcel.round}) {
        packed_.push_back(static_cast<double>(head));
      }
      packed_.insert(packed_.end(), parcel.vector.begin(), parcel.vector.end());
      return true;
    }
    double* earlier = packed_.data() + place->second;
    earlier[parcel_head - 1] = static_cast<double>(parcel.round);
    const MutableView vector(earlier + parcel_head, parcel.vector.size());
    if (merge == Mailboxes::Merge::add) {
      axpy(1, parcel.vector, vector);
    } else {
      std::copy(parcel.vector.begin(), parcel.vector.end(), vector.begin());
    }
    return false;
  }
  [[nodiscard]] bool empty() const { return places_.empty(); }
  [[nodiscard]] std::size_t size() const { return places_.size(); }
  /// Moves all parcels to `packed`. The former memory of `packed` serves the next parcels.
  void hand_over(Vector& packed) {
    packed.clear();
    packed.swap(packed_);
    places_.clear();
  }

 private:
  static std::uint64_t edge_of(const Mailboxes::Parcel& parcel) {
    return static_cast<std::uint64_t>(parcel.from) << 32 | static_cast<std::uint64_t>(parcel.to);
  }

  Vector packed_;
  std::unordered_map<std::uint64_t, std::size_t> places_;  ///< by edge: offset in `packed_`
};

/// Tag of the messages of a run; Neighbours uses tag 0. A rank that has left a run may send for the next run to a rank
/// that has not left. It cannot send for the run after the next, so two alternating tags tell runs apart.
int tag_of(std::int64_t run) {
  return static_cast<int>(1 + run % 2);
}

using Time = std::chrono::steady_clock;

/// Short sleep: a waiting rank must not slow a working rank.
void nap() {
  std::this_thread::sleep_for(std::chrono::microseconds(50));
}

/// Outgoing messages to one other rank. MPI_Issend ends when the receiver has turned to the message. A slow receiver
/// thus finds one message, and later parcels wait in the pile.
struct Channel {
  Pile waiting;
  Vector under_way;
  std::shared_ptr<std::vector<std::byte>> sealed;  ///< in place of `under_way`, if messages to the rank are sealed
  MPI_Request request = MPI_REQUEST_NULL;
  bool closed = false;  ///< whether the final empty message has been sent
};

/// A message that has been matched and may not have arrived completely.
struct Arrival {
  int rank = 0;
  Vector packed;
  std::shared_ptr<std::vector<std::byte>> sealed;  ///< before it is opened into `packed`
  MPI_Request request = MPI_REQUEST_NULL;
};

}  // namespace

struct Mailboxes::State {
  World::State& world;
  Layout layout;
  std::size_t length;
  Merge merge;
  int tag;
  Client first;
  std::size_t count;
  std::vector<Pile> inboxes = {};  ///< per local client
  std::vector<int> others = {};    ///< the other ranks that host clients; none if this one does not
  std::map<int, Channel> channels = {};
  std::list<Arrival> arriving = {};
  std::set<int> closed = {};  ///< ranks whose last message has come
  EdgeCounts chosen = {};     ///< which edges are counted one by one, and messages over all others
  std::map<std::pair<Client, Client>, std::int64_t> counts = {};
  WireTraffic wire = {};
  Vector taken = {};
  bool news = false;  ///< something has arrived that no wait has told of
  bool ended = false;
  bool draining = false;
  bool drained = false;
  PatienceClock since_end = {};
  std::map<int, double> last_heard = {};  ///< of other ranks, on that clock
  Time::time_point last_told = Time::now();

  void keep(const Parcel& parcel);
  bool advance(int rank, Channel& channel);
  bool fetch();
  bool deliver();
  bool move();
  void tell_those_who_wait(Round t);
  void watch_silence();
  [[nodiscard]] bool is_open(int rank) const;
  [[noreturn]] void give_up(int rank, const char* awaited, double waited) const;
};

/// For the client of this rank that it is addressed to.
void Mailboxes::State::keep(const Parcel& parcel) {
  inboxes[static_cast<std::size_t>(parcel.to - first)].put(parcel, merge);
  news = true;
}

/// Sends the next message to `rank` if the one before has been taken. Returns whether one was taken.
bool Mailboxes::State::advance(int rank, Channel& channel) {
  bool was_taken = false;
  if (channel.request != MPI_REQUEST_NULL) {
    int done = 0;
    MPI_Test(&channel.request, &done, MPI_STATUS_IGNORE);
    if (done == 0) return false;
    was_taken = true;
  }
  if (channel.waiting.empty() && (!draining || channel.closed)) return was_taken;
  channel.closed = channel.waiting.empty();
  channel.waiting.hand_over(channel.under_way);
  if (world.seals(rank)) {
    channel.sealed = std::make_shared<std::vector<std::byte>>(
        world.seal->closed(MessageKind::mailbox, rank, 0, std::as_bytes(std::span(channel.under_way))));
    MPI_Issend(channel.sealed->data(), static_cast<int>(channel.sealed->size()), MPI_BYTE, rank, tag, world.data,
               &channel.request);
  } else {
    MPI_Issend(channel.under_way.data(), static_cast<int>(channel.under_way.size()), MPI_DOUBLE, rank, tag, world.data,
               &channel.request);
  }
  ++wire.messages;
  wire.bytes += static_cast<std::int64_t>(channel.under_way.size() * sizeof(double));
  return was_taken;
}

/// Turns to messages from others: one of each at most, so that many fast senders cannot hold a receiver.
bool Mailboxes::State::fetch() {
  bool any = false;
  for (std::size_t i = 0; i < others.size(); ++i) {
    int matched = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, tag, world.data, &matched, &message, &status);
    if (matched == 0) break;
    any = true;
    int size = 0;
    Arrival& arrival = arriving.emplace_back();
    arrival.rank = status.MPI_SOURCE;
    if (world.seals(arrival.rank)) {
      MPI_Get_count(&status, MPI_BYTE, &size);
      arrival.sealed = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(size));
      MPI_Imrecv(arrival.sealed->data(), size, MPI_BYTE, &message, &arrival.request);
      continue;
    }
    MPI_Get_count(&status, MPI_DOUBLE, &size);
    arrival.packed.resize(static_cast<std::size_t>(size));
    // A long message comes in pieces as its sender finds time; that is no reason to wait here.
    MPI_Imrecv(arrival.packed.data(), size, MPI_DOUBLE, &message, &arrival.request);
  }
  return any;
}

/// Puts the messages that are here as a whole into the inboxes, those of one rank in their order.
bool Mailboxes::State::deliver() {
  bool any = false;
  std::set<int> unfinished;
  for (auto arrival = arriving.begin(); arrival != arriving.end();) {
    int done = 0;
    if (!unfinished.contains(arrival->rank)) MPI_Test(&arrival->request, &done, MPI_STATUS_IGNORE);
    if (done == 0) {
      unfinished.insert(arrival->rank);
      ++arrival;
      continue;
    }
    any = true;
    if (arrival->sealed) {
      arrival->packed = part_from<Vector>(world.seal->opened(MessageKind::mailbox, arrival->rank, 0, *arrival->sealed));
    }
    World::State::Peer& peer = world.peers[static_cast<std::size_t>(arrival->rank)];
    peer.heard = true;
    if (arrival->packed.empty()) closed.insert(arrival->rank);
    for_each_parcel(arrival->packed, length, [&](const Parcel& parcel) {
      peer.round = std::max(peer.round, parcel.round);
      keep(parcel);
    });
    arrival = arriving.erase(arrival);
  }
  return any;
}

/// All that can be done without waiting. Returns whether any other rank has shown that it lives.
bool Mailboxes::State::move() {
  bool moved = fetch();
  moved = deliver() || moved;
  for (auto& [rank, channel] : channels) moved = advance(rank, channel) || moved;
  return moved;
}

/// To ranks that have ended and wait: nothing else might tell them that this one still works.
void Mailboxes::State::tell_those_who_wait(Round t) {
  const auto now = Time::now();
  if (std::chrono::duration<double>(now - last_told).count() < world.watchdog / 4) return;
  last_told = now;
  for (const int r : others) {
    if (!world.peers[static_cast<std::size_t>(r)].ended) continue;
    world.send_notice(r, Notice{.kind = NoticeKind::alive, .round = t});
  }
}

void Mailboxes::State::watch_silence() {
  const double now = since_end.seconds();
  for (const int r : others) {
    World::State::Peer& peer = world.peers[static_cast<std::size_t>(r)];
    double& last = last_heard[r];
    if (peer.heard || peer.ended) last = now;
    peer.heard = false;
    if (now - last > world.watchdog) give_up(r, "end", now - last);
  }
}

bool Mailboxes::State::is_open(int rank) const {
  const Channel& channel = channels.at(rank);
  return !closed.contains(rank) || !channel.closed || channel.request != MPI_REQUEST_NULL;
}

void Mailboxes::State::give_up(int rank, const char* awaited, double waited) const {
  world.waited_in_vain = true;
  const Round last = world.peers[static_cast<std::size_t>(rank)].round;
  const std::string seen = last < 0 ? "in no round at all" : fmt::format("last in round {}", last + 1);
  throw FailureError(
      fmt::format("round {}: waiting for the {} of rank {} (client {}), which was heard of {}: nothing came for {:.3g} "
                  "s. See whether that rank still runs, or raise --watchdog.",
                  world.current_round() + 1, awaited, rank, layout.first(rank), seen, waited));
}

Mailboxes::Mailboxes(World& world, const Layout& layout, std::size_t length, Merge merge)
    : state_(new State{.world = world.state(),
                       .layout = layout,
                       .length = length,
                       .merge = merge,
                       .tag = tag_of(world.state().asynchronous_runs++),
                       .first = layout.first(world.rank()),
                       .count = static_cast<std::size_t>(layout.count(world.rank()))}) {
  world.state().set_active(layout);
  state_->inboxes.resize(state_->count);
  for (int r = 0; r < layout.ranks() && state_->count > 0; ++r) {
    if (r != world.rank() && layout.count(r) > 0) state_->others.push_back(r);
  }
}

Mailboxes::~Mailboxes() {
  for (auto& [rank, channel] : state_->channels) {
    if (channel.sealed) state_->world.abandon(channel.request, channel.sealed);
    state_->world.abandon(channel.request, std::move(channel.under_way));
  }
  for (Arrival& arrival : state_->arriving) {
    if (arrival.sealed) state_->world.abandon(arrival.request, arrival.sealed);
    state_->world.abandon(arrival.request, std::move(arrival.packed));
  }
}

Client Mailboxes::first() const {
  return state_->first;
}
std::size_t Mailboxes::count() const {
  return state_->count;
}

bool Mailboxes::go_on(Round t) {
  const bool on = state_->world.begin_own_round(t);
  state_->tell_those_who_wait(t);
  return on;
}

void Mailboxes::put(Client from, Client to, Round round, const Released<Columns>& block, std::size_t column) {
  State& here = *state_;
  check<FailureError>(!here.drained,
                      "round {}: a message from client {} to client {} after the exchange has ended: nobody would take "
                      "it. This is a fault of the program.",
                      round + 1, from, to);
  const Parcel parcel{from, to, round, block.value()[column]};
  const int rank = here.layout.rank_of(to);
  bool opened = false;
  if (rank == here.world.rank) {
    opened = here.inboxes[static_cast<std::size_t>(to - here.first)].put(parcel, here.merge);
    here.news = true;
  } else {
    opened = here.channels[rank].waiting.put(parcel, here.merge);
  }
  if (opened && here.chosen.counts(from)) {
    ++here.counts[{from, to}];
  } else if (opened) {
    here.chosen.add({}, 0, 1);
  }
}

bool Mailboxes::is_free(Client to) const {
  const auto channel = state_->channels.find(state_->layout.rank_of(to));
  if (channel == state_->channels.end()) return true;
  return channel->second.waiting.empty() && channel->second.request == MPI_REQUEST_NULL;
}

void Mailboxes::progress() {
  state_->move();
}

std::size_t Mailboxes::take(Client to, const Visitor& visit) {
  Pile& inbox = state_->inboxes[static_cast<std::size_t>(to - state_->first)];
  const std::size_t parcels = inbox.size();
  inbox.hand_over(state_->taken);
  for_each_parcel(state_->taken, state_->length, visit);
  return parcels;
}

void Mailboxes::announce_end() {
  State& here = *state_;
  here.ended = true;
  here.since_end = PatienceClock();
  for (const int r : here.others) {
    here.last_heard[r] = 0;
    here.world.send_notice(r, Notice{.kind = NoticeKind::ended, .round = here.world.current_round()});
  }
}

Round Mailboxes::rounds_of_the_ended() const {
  Round rounds = 0;
  for (const int r : state_->others) {
    const World::State::Peer& peer = state_->world.peers[static_cast<std::size_t>(r)];
    if (peer.ended) rounds = std::max(rounds, peer.rounds_at_end);
  }
  return rounds;
}

bool Mailboxes::all_ended() {
  const State& here = *state_;
  if (here.drained || here.count == 0) return true;
  here.world.poll();
  return here.ended && std::all_of(here.others.begin(), here.others.end(),
                                   [&](int r) { return here.world.peers[static_cast<std::size_t>(r)].ended; });
}

void Mailboxes::wait_for_more(double seconds) {
  State& here = *state_;
  const auto start = Time::now();
  while (true) {
    here.move();
    if (std::exchange(here.news, false) || all_ended()) return;
    if (here.ended) here.watch_silence();
    if (std::chrono::duration<double>(Time::now() - start).count() >= seconds) return;
    nap();
  }
}

void Mailboxes::drain() {
  State& here = *state_;
  // Before this rank's last message is out, none can begin another run and announce the end of that.
  for (World::State::Peer& peer : here.world.peers) peer.ended = false;
  here.draining = true;
  for (const int r : here.others) here.channels.try_emplace(r);
  const auto is_open = [&](int r) { return here.is_open(r); };
  PatienceClock patience;
  double last = 0;
  while (true) {
    const bool moved = here.move();
    const auto open = std::find_if(here.others.begin(), here.others.end(), is_open);
    if (open == here.others.end()) break;
    here.world.poll();
    const double now = patience.seconds();
    if (moved) last = now;
    if (now - last > here.world.watchdog) here.give_up(*open, "last message", now - last);
    if (!moved) nap();
  }
  here.drained = true;
}

void Mailboxes::count_edges_of(const std::vector<Client>& senders) {
  state_->chosen.only_of(senders);
}

std::vector<EdgeTraffic> Mailboxes::edge_traffic() const {
  std::vector<EdgeTraffic> result;
  const auto bytes = static_cast<std::int64_t>(state_->length * sizeof(double));
  for (const auto& [edge, parcels] : state_->counts) {
    result.push_back({edge.first, edge.second, parcels, parcels * bytes});
  }
  for (const EdgeTraffic& others : state_->chosen.list(bytes)) result.push_back(others);
  return result;
}

WireTraffic Mailboxes::wire_traffic() const {
  return state_->wire;
}

void Mailboxes::persist(Snapshot& snapshot) {
  snapshot(state_->counts, state_->chosen, state_->wire);
}

std::size_t Mailboxes::waiting_parcels() const {
  std::size_t total = 0;
  for (const auto& [rank, channel] : state_->channels) total += channel.waiting.size();
  return total;
}

}  // namespace starling
