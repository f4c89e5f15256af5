#include "exchange_plan.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "core/check.hpp"
#include "net/state.hpp"

namespace starling {

namespace {

/// MPI counts the numbers of a message in an int.
void require_countable(std::size_t vectors, std::size_t length, int rank) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  check(length == 0 || vectors <= most / length,
        "a message of {} vectors of {} numbers between this rank and rank {}: MPI counts to {}. Start more ranks, so "
        "that fewer clients share one.",
        vectors, length, rank, most);
}

/// Number of bits of a client's number.
constexpr int bits_of_clients = 31;

/// Marks the numbers of clients of other ranks.
constexpr std::uint32_t elsewhere = std::uint32_t{1} << bits_of_clients;

bool ascend(const std::vector<Arc>& arcs) {
  const auto falls = [](const Arc& a, const Arc& b) { return a.peer >= b.peer; };
  return std::adjacent_find(arcs.begin(), arcs.end(), falls) == arcs.end();
}

/// Sorts the keys and removes duplicates.
void sort_out(std::vector<std::uint64_t>& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

/// Enlarges the buffer; its content is lost.
void enlarge(BlockVector& buffer, std::size_t numbers) {
  if (buffer.size() >= numbers) return;
  buffer = BlockVector();
  buffer.resize(numbers);
}

}  // namespace

Neighbours::Plan::State::~State() {
  count_uses();
  free_requests();
}

void Neighbours::Plan::State::count_uses() {
  if (uses == 0) return;
  counts->add(edges, uses, uses * other_edges);
  uses = 0;
}

void Neighbours::Plan::State::free_requests() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  bool open = false;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    int done = 0;
    MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
    if (done == 0 && (owners.empty() ? i : owners[i]) < receives.size()) MPI_Cancel(&requests[i]);
    open = open || done == 0;
    MPI_Request_free(&requests[i]);
  }
  if (!open) return;
  // After a failure: a message of which a part is here cannot be called off, and MPI goes on until the run has ended.
  world->keep(buffers);
  world->keep(sent_from);
}

void Neighbours::Plan::State::lay_out(const LinksOf& links, const Layout& layout, int rank, std::size_t length) {
  const Client first = layout.first(rank);
  const auto clients = static_cast<std::size_t>(layout.count(rank));
  edges.clear();
  other_edges = 0;
  readers.clear();
  leaving_.clear();
  coming_.clear();
  column_begin_.clear();
  column_to_.clear();
  slots.clear();
  slot_begin.clear();
  slot_begin.reserve(clients);
  for (std::size_t k = 0; k < clients; ++k) {
    const Links& of_client = links(k);
    const Client u = first + static_cast<Client>(k);
    check(ascend(of_client.out) && ascend(of_client.in),
          "the neighbours of client {} do not ascend: each comes once, in the order of their numbers.", u);
    add_out_edges(of_client, layout, rank, u, k);
    add_in_edges(of_client, layout, rank, u);
  }
  columns = has_parcels_per_edge() ? column_to_.size() : clients;
  place_sends(layout);
  place_receives(layout, rank);
  place_slots(layout, first);
  for (const std::vector<Transfer>* transfers : {&sends, &receives}) {
    for (const Transfer& transfer : *transfers) require_countable(transfer.count, length, transfer.rank);
  }
}

void Neighbours::Plan::State::make_room(std::size_t length) {
  const bool packs = !std::all_of(sends.begin(), sends.end(), [](const Transfer& send) { return send.in_place; });
  if (packs) enlarge(buffers->packed, sent_columns.size() * length);
  enlarge(buffers->received, buffered * length);
}

void Neighbours::Plan::State::drop_scratch() {
  leaving_ = std::vector<Crossing>();  // `= {}` would keep its capacity
  coming_ = std::vector<std::uint64_t>();
  column_begin_ = std::vector<std::size_t>();
  column_to_ = std::vector<Client>();
  edges.shrink_to_fit();
  sent_columns.shrink_to_fit();
  slots.shrink_to_fit();
}

/// One of this rank's vectors more that another rank reads where it lies.
void Neighbours::Plan::State::add_reader(int rank, const Layout& layout) {
  auto reader = std::lower_bound(readers.begin(), readers.end(), rank,
                                 [](const Transfer& other, int sought) { return other.rank < sought; });
  if (reader == readers.end() || reader->rank != rank) {
    reader = readers.insert(reader, {rank, layout.first(rank), 0, 0, true});
  }
  ++reader->count;
}

/// Adds the key of a vector from another rank. Each receiving client names the vector, so duplicates are removed before
/// more memory is taken.
void Neighbours::Plan::State::add_coming(std::uint64_t key) {
  if (coming_.size() == coming_.capacity()) {
    sort_out(coming_);
    if (coming_.size() > coming_.capacity() / 2) coming_.reserve(2 * coming_.capacity());
  }
  coming_.push_back(key);
}

void Neighbours::Plan::State::add_out_edges(const Links& links, const Layout& layout, int rank, Client u,
                                            std::size_t k) {
  const bool counted = counts->counts(u);
  if (!counted) other_edges += static_cast<std::int64_t>(links.out.size() + links.lost.size());
  if (has_parcels_per_edge()) column_begin_.push_back(column_to_.size());
  int last = rank;  // neighbours ascend, and so do their ranks
  for (const Arc& arc : links.out) {
    if (counted) edges.emplace_back(u, arc.peer);
    const int other = layout.rank_of(arc.peer);
    if (has_parcels_per_edge()) {
      if (other != rank) leaving_.push_back({other, u, arc.peer, column_to_.size()});
      column_to_.push_back(arc.peer);
    } else if (other != rank && other != last) {
      if (through_window(other)) {
        add_reader(other, layout);
      } else {
        leaving_.push_back({other, u, -1, k});
      }
    }
    last = other;
  }
  for (const Arc& arc : links.lost) {
    if (counted) edges.emplace_back(u, arc.peer);
  }
}

void Neighbours::Plan::State::place_sends(const Layout& layout) {
  std::sort(leaving_.begin(), leaving_.end(), [](const Crossing& a, const Crossing& b) {
    return std::tie(a.rank, a.from, a.to) < std::tie(b.rank, b.from, b.to);
  });
  sends.clear();
  sent_columns.clear();
  for (const Crossing& crossing : leaving_) {
    if (sends.empty() || sends.back().rank != crossing.rank) {
      sends.push_back({crossing.rank, layout.first(crossing.rank), sent_columns.size(), 0, true});
    }
    Transfer& send = sends.back();
    ++send.count;
    send.in_place = send.in_place && (send.count == 1 || sent_columns.back() + 1 == crossing.column);
    sent_columns.push_back(crossing.column);
  }
}

/// Slots hold the senders' numbers at first.
void Neighbours::Plan::State::add_in_edges(const Links& links, const Layout& layout, int rank, Client u) {
  slot_begin.push_back(slots.size());
  for (const Arc& arc : links.in) {
    const bool comes = layout.rank_of(arc.peer) != rank;
    slots.push_back(static_cast<std::uint32_t>(arc.peer) + (comes ? elsewhere : 0));
    if (comes) add_coming(key(arc.peer, u, layout));
  }
}

std::uint64_t Neighbours::Plan::State::key(Client from, Client to, const Layout& layout) const {
  const std::uint64_t last = through_window(layout.rank_of(from)) ? 1 : 0;
  const auto receiver = static_cast<std::uint64_t>(has_parcels_per_edge() ? to : 0);
  return (last << (2 * bits_of_clients)) + (static_cast<std::uint64_t>(from) << bits_of_clients) + receiver;
}

Client Neighbours::Plan::State::sender(std::uint64_t key) {
  return static_cast<Client>((key >> bits_of_clients) & std::numeric_limits<Client>::max());
}

/// Gives a place to each vector that comes.
void Neighbours::Plan::State::place_receives(const Layout& layout, int rank) {
  sort_out(coming_);
  receives.clear();
  writers.clear();
  buffered = 0;
  for (std::size_t vector = 0; vector < coming_.size(); ++vector) add_receive(vector, sender(coming_[vector]), layout);
  std::size_t most = std::max({columns, buffered, static_cast<std::size_t>(layout.count(rank))});
  for (const Transfer& writer : writers) most = std::max(most, static_cast<std::size_t>(layout.count(writer.rank)));
  column_bits = static_cast<unsigned>(std::bit_width(most));
  check((first_window + writers.size()) << column_bits <= std::uint64_t{1} << 32U,
        "vectors of up to {} clients from each of {} places: a rank tells 2^32 of them apart. Start more ranks, on "
        "more hosts.",
        most, first_window + writers.size());
  for (std::size_t turn = 0; turn < blocks.size(); ++turn) {
    blocks[turn].assign(first_window, nullptr);
    for (const Transfer& writer : writers)
      blocks[turn].push_back(windows->vector(writer.rank, 0, turn % windows->blocks()));
  }
}

void Neighbours::Plan::State::add_receive(std::size_t vector, Client from, const Layout& layout) {
  const int rank = layout.rank_of(from);
  const bool in_window = through_window(rank);
  std::vector<Transfer>& transfers = in_window ? writers : receives;
  if (transfers.empty() || transfers.back().rank != rank) transfers.push_back({rank, from, vector, 0, false});
  ++transfers.back().count;
  if (!in_window) ++buffered;
}

/// Gives its vector to each slot.
void Neighbours::Plan::State::place_slots(const Layout& layout, Client first) {
  for (std::size_t k = 0; k < slot_begin.size(); ++k) {
    const Client u = first + static_cast<Client>(k);
    const std::size_t end = k + 1 < slot_begin.size() ? slot_begin[k + 1] : slots.size();
    for (std::size_t i = slot_begin[k]; i < end; ++i) {
      const auto from = static_cast<Client>(slots[i] & ~elsewhere);
      slots[i] = slots[i] < elsewhere
                     ? static_cast<std::uint32_t>(local_column(static_cast<std::size_t>(from - first), u))
                     : slot_of(from, u, layout);
    }
  }
}

/// Slot of a vector from another rank.
std::uint32_t Neighbours::Plan::State::slot_of(Client from, Client to, const Layout& layout) const {
  const int rank = layout.rank_of(from);
  if (!through_window(rank)) {
    const auto place = std::lower_bound(coming_.begin(), coming_.end(), key(from, to, layout));
    return (received_block << column_bits) + static_cast<std::uint32_t>(place - coming_.begin());
  }
  const auto writer = std::lower_bound(writers.begin(), writers.end(), rank,
                                       [](const Transfer& other, int sought) { return other.rank < sought; });
  const std::uint32_t block = first_window + static_cast<std::uint32_t>(writer - writers.begin());
  return (block << column_bits) + static_cast<std::uint32_t>(from - layout.first(rank));
}

/// The outgoing column of what local client k sends to another client of this rank.
std::size_t Neighbours::Plan::State::local_column(std::size_t k, Client to) const {
  if (!has_parcels_per_edge()) return k;
  const auto begin = column_to_.begin() + static_cast<std::ptrdiff_t>(column_begin_[k]);
  const auto end = k + 1 < column_begin_.size() ? column_to_.begin() + static_cast<std::ptrdiff_t>(column_begin_[k + 1])
                                                : column_to_.end();
  return static_cast<std::size_t>(std::lower_bound(begin, end, to) - column_to_.begin());
}

}  // namespace starling
