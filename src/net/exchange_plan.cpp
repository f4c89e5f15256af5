#include "exchange_plan.hpp"

#include "state.hpp"
#include <algorithm>
#include <limits>
#include <tuple>

#include "starling/core/check.hpp"

namespace starling {

namespace {

/// MPI counts the numbers of a message in an int.
void require_countable(std::size_t vectors, std::size_t length, int rank) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  check(length == 0 || vectors <= most / length,
        "a message of {} vectors of {} numbers between this rank and rank {} (MPI counts to {}) start more ranks, so "
        "that "
        "fewer clients share one",
        vectors, length, rank, most);
}

/// What is in the buffer is lost.
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
    if (done == 0 && i < receives.size()) MPI_Cancel(&requests[i]);
    open = open || done == 0;
    MPI_Request_free(&requests[i]);
  }
  if (!open) return;
  // After a failure: a message of which a part is here cannot be called off, and MPI goes on until the run has ended.
  world->keep(buffers);
  world->keep(sent_from);
}

void Neighbours::Plan::State::lay_out(std::span<const Links> links, const Layout& layout, int rank, Client first,
                                      std::size_t length) {
  lay_out_sends(links, layout, rank, first);
  lay_out_receives(links, layout, rank, first);
  for (const std::vector<Transfer>* transfers : {&sends, &receives}) {
    for (const Transfer& transfer : *transfers) require_countable(transfer.count, length, transfer.rank);
  }
}

void Neighbours::Plan::State::make_room(std::size_t length) {
  const bool packs = !std::all_of(sends.begin(), sends.end(), [](const Transfer& send) { return send.in_place; });
  if (packs) enlarge(buffers->packed, sent_columns.size() * length);
  enlarge(buffers->received, buffered * length);
}

bool Neighbours::Plan::State::in_order(const Crossing& a, const Crossing& b) {
  return std::tie(a.through_window, a.rank, a.from, a.to) < std::tie(b.through_window, b.rank, b.from, b.to);
}

void Neighbours::Plan::State::drop_scratch() {
  crossings_ = std::vector<Crossing>();  // `= {}` would keep its room
  column_begin_ = std::vector<std::size_t>();
  edges.shrink_to_fit();
  sent_columns.shrink_to_fit();
}

void Neighbours::Plan::State::lay_out_sends(std::span<const Links> links, const Layout& layout, int rank,
                                            Client first) {
  edges.clear();
  other_edges = 0;
  crossings_.clear();
  column_begin_.clear();
  column_begin_.reserve(links.size());
  const bool each = parcels == Parcels::per_edge;
  std::size_t column = 0;
  for (std::size_t k = 0; k < links.size(); ++k) {
    const Client u = first + static_cast<Client>(k);
    column_begin_.push_back(column);
    const bool counted = counts->counts(u);
    if (!counted) other_edges += static_cast<std::int64_t>(links[k].out.size() + links[k].lost.size());
    for (const Arc& arc : links[k].out) {
      if (counted) edges.emplace_back(u, arc.peer);
      const int other = layout.rank_of(arc.peer);
      if (other != rank) {
        crossings_.push_back({through_window(other), other, u, each ? arc.peer : -1, each ? column : k});
      }
      ++column;
    }
    for (const Arc& arc : links[k].lost) {
      if (counted) edges.emplace_back(u, arc.peer);
    }
  }
  columns = each ? column : links.size();
  std::sort(crossings_.begin(), crossings_.end(), in_order);
  sends.clear();
  readers.clear();
  sent_columns.clear();
  for (std::size_t i = 0; i < crossings_.size(); ++i) {
    const Crossing& crossing = crossings_[i];
    if (i > 0 && !in_order(crossings_[i - 1], crossing)) continue;  // one vector for all receivers there
    std::vector<Transfer>& transfers = crossing.through_window ? readers : sends;
    if (transfers.empty() || transfers.back().rank != crossing.rank) {
      transfers.push_back({crossing.rank, layout.first(crossing.rank), sent_columns.size(), 0, true});
    }
    Transfer& send = transfers.back();
    ++send.count;
    if (crossing.through_window) continue;
    send.in_place = send.in_place && (send.count == 1 || sent_columns.back() + 1 == crossing.place);
    sent_columns.push_back(crossing.place);
  }
}

void Neighbours::Plan::State::lay_out_receives(std::span<const Links> links, const Layout& layout, int rank,
                                               Client first) {
  crossings_.clear();
  slots.clear();
  slot_begin.clear();
  std::size_t arcs = 0;
  for (const Links& each : links) arcs += each.in.size();
  slots.reserve(arcs);
  slot_begin.reserve(links.size());
  for (std::size_t k = 0; k < links.size(); ++k) {
    const Client u = first + static_cast<Client>(k);
    slot_begin.push_back(slots.size());
    for (const Arc& arc : links[k].in) {
      const int other = layout.rank_of(arc.peer);
      if (other == rank) {
        slots.push_back(static_cast<std::uint32_t>(local_column(links, first, arc.peer, u)));
      } else {
        crossings_.push_back(
            {through_window(other), other, arc.peer, parcels == Parcels::per_edge ? u : -1, slots.size()});
        slots.push_back(0);
      }
    }
  }
  std::sort(crossings_.begin(), crossings_.end(), in_order);
  place_receives(layout);
}

/// Gives a place to each vector that comes, and to each slot its vector.
void Neighbours::Plan::State::place_receives(const Layout& layout) {
  receives.clear();
  writers.clear();
  for (auto& vectors : in_windows) vectors.clear();
  buffered = 0;
  std::size_t vectors = 0;
  for (std::size_t i = 0; i < crossings_.size(); ++i) {
    const Crossing& crossing = crossings_[i];
    if (i == 0 || in_order(crossings_[i - 1], crossing)) {
      std::vector<Transfer>& transfers = crossing.through_window ? writers : receives;
      if (transfers.empty() || transfers.back().rank != crossing.rank) {
        transfers.push_back({crossing.rank, crossing.from, vectors, 0, false});
      }
      ++transfers.back().count;
      ++vectors;
      if (crossing.through_window) {
        const auto column = static_cast<std::size_t>(crossing.from - layout.first(crossing.rank));
        for (const std::size_t parity : {0U, 1U}) {
          in_windows[parity].push_back(windows->vector(crossing.rank, column, parity));
        }
      } else {
        ++buffered;
      }
    }
    check(vectors <= from_buffer, "more than {} vectors come to one rank (its clients have too many) start more ranks",
          from_buffer);
    slots[crossing.place] = from_buffer + static_cast<std::uint32_t>(vectors - 1);
  }
}

/// The outgoing column of an edge between two clients of this rank.
std::size_t Neighbours::Plan::State::local_column(std::span<const Links> links, Client first, Client from,
                                                  Client to) const {
  const auto k = static_cast<std::size_t>(from - first);
  if (parcels == Parcels::per_sender) return k;
  const auto& out = links[k].out;
  const auto arc =
      std::lower_bound(out.begin(), out.end(), to, [](const Arc& each, Client peer) { return each.peer < peer; });
  return column_begin_[k] + static_cast<std::size_t>(arc - out.begin());
}

}  // namespace starling
