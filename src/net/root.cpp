#include "starling/net/root.hpp"

#include "door_message.hpp"
#include "state.hpp"
#include <algorithm>
#include <list>

#include "starling/core/kernels.hpp"

namespace starling {

namespace {

/// Of messages; Neighbours has 0, Mailboxes 1 and 2.
constexpr int tag_up = 3;
constexpr int tag_down = 4;

/// How much a rank other than 0 may have on its way, if that is more than two contributions.
constexpr std::size_t most_under_way = std::size_t{16} << 20;
/// Receives that rank 0 posts ahead.
constexpr Client ahead = 2;

/// To the front of `to`. Both may be empty, with null pointers that memcpy must not see.
void copy_bytes(std::span<const std::byte> from, std::span<std::byte> to) {
  std::copy(from.begin(), from.end(), to.begin());
}

std::string aggregator_silent(const World::State& state, const char* what) {
  return fmt::format("round {}: rank 0, which aggregates, {}", state.current_round() + 1, what);
}

void check_length(std::size_t given, std::size_t expected, Client u) {
  check<FailureError>(given == expected,
                      "client {} contributes {} numbers to a sum of {} (all clients give equally many) this is a fault "
                      "of the program",
                      u, given, expected);
}

/// "client 3 (rank 1), client 4 (rank 1)"; the first few if there are many.
std::string named(const std::vector<Client>& clients, const Layout& layout) {
  constexpr std::size_t most_named = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(clients.size(), most_named); ++i) {
    text += fmt::format("{}client {} (rank {})", i == 0 ? "" : ", ", clients[i], layout.rank_of(clients[i]));
  }
  return text + (clients.size() > most_named ? ", …" : "");
}

}  // namespace

Root::Root(World& world, const Layout& layout)
    : world_(world),
      layout_(layout),
      first_(layout.first(world.rank())),
      aggregates_(world.rank() == 0),
      up_(static_cast<std::size_t>(layout.count(world.rank()))) {
  // Ranks without clients wait for the aggregate too.
  world.state().set_active(Layout(world.size(), world.size()));
  for (std::size_t k = 0; k < count(); ++k) up_[k].from = first() + static_cast<Client>(k);
}

bool Root::begin_round(Round t) {
  return world_.state().begin_round(t);
}

void Root::still_here() {
  world_.state().poll();
  world_.state().show_life();
}

void Root::count(std::size_t k, std::size_t bytes) {
  ++up_[k].messages;
  up_[k].bytes += static_cast<std::int64_t>(bytes);
  if (aggregates()) return;
  ++wire_.messages;
  wire_.bytes += static_cast<std::int64_t>(bytes);
}

void Root::send_all(std::size_t most, const Write& write) {
  World::State& state = world_.state();
  const auto not_taken = [&] { return aggregator_silent(state, "takes no contributions"); };
  const std::size_t buffers = std::clamp<std::size_t>(most_under_way / std::max<std::size_t>(most, 1), 2, count() + 2);
  std::list<DoorMessage> messages;
  for (std::size_t k = 0; k < count(); ++k) {
    state.poll();
    if (messages.size() < buffers) {
      messages.emplace_back(state, most);
    } else {
      messages.front().wait(not_taken);
      messages.splice(messages.end(), messages, messages.begin());
    }
    DoorMessage& message = messages.back();
    const std::size_t length = write(k, message.buffer());
    message.send(length, 0, tag_up);
    count(k, length);
  }
  for (DoorMessage& message : messages) message.wait(not_taken);
}

void Root::take_all(std::size_t most, const Write& write, const Take& take) {
  World::State& state = world_.state();
  const Client first_remote = layout_.count(0);
  std::list<DoorMessage> messages;  // that of the client whose turn it is stands first
  for (Client u = first_remote; u < std::min(first_remote + ahead, layout_.clients()); ++u) {
    messages.emplace_back(state, most).receive(layout_.rank_of(u), tag_up);
  }
  std::vector<std::byte> own(most);
  for (std::size_t k = 0; k < count(); ++k) {
    still_here();
    const std::size_t length = write(k, own);
    take(static_cast<Client>(k), Bytes(own).first(length));
    count(k, length);
  }
  for (Client u = first_remote; u < layout_.clients(); ++u) {
    DoorMessage& message = messages.front();
    const std::size_t length = message.wait([&] {
      return fmt::format("round {}: client {} (rank {}) has sent nothing", state.current_round() + 1, u,
                         layout_.rank_of(u));
    });
    take(u, Bytes(message.buffer()).first(length));
    if (u + ahead < layout_.clients()) message.receive(layout_.rank_of(u + ahead), tag_up);
    messages.splice(messages.end(), messages, messages.begin());
  }
}

void Root::pass(std::size_t most, const Write& write, const Take& take) {
  if (aggregates()) {
    take_all(most, write, take);
  } else {
    send_all(most, write);
  }
}

template <class Numbers>
void Root::add_up(std::size_t length, const Numbers& numbers, const Codec& codec, Vector& total) {
  total.assign(aggregates() ? length : 0, 0.0);
  const std::size_t bytes = codec.bytes(length);
  if (world_.state().size == 1 && &codec == &plain_codec()) {  // as below, without the copies
    for (std::size_t k = 0; k < count(); ++k) {
      const View own = numbers(k);
      check_length(own.size(), length, first() + static_cast<Client>(k));
      axpy(1, own, total);
      count(k, bytes);
    }
    return;
  }
  Vector decoded(total.size());
  pass(
      bytes,
      [&](std::size_t k, std::span<std::byte> buffer) {
        const View own = numbers(k);
        check_length(own.size(), length, first() + static_cast<Client>(k));
        codec.encode(own, buffer);
        return bytes;
      },
      [&](Client, Bytes message) {
        codec.decode(message, decoded);
        axpy(1, decoded, total);
      });
}

void Root::sum(std::size_t length, const std::function<const Released<Vector>&(std::size_t k)>& contribution,
               Released<Vector>& total, const Codec& codec) {
  total.update([&](Vector& sum) {
    add_up(
        length, [&](std::size_t k) -> View { return contribution(k).value(); }, codec, sum);
  });
}

Released<Vector> Root::sum(std::size_t length,
                           const std::function<const Released<Vector>&(std::size_t k)>& contribution,
                           const Codec& codec) {
  Released<Vector> total = declare_public(Vector());
  sum(length, contribution, total, codec);
  return total;
}

Secret<Vector> Root::sum_entrusted(std::size_t length,
                                   const std::function<const Entrusted<Vector>&(std::size_t k)>& contribution,
                                   const Codec& codec) {
  Vector total;
  add_up(
      length, [&](std::size_t k) -> View { return contribution(k).value_; }, codec, total);
  return Secret<Vector>(std::move(total));
}

std::vector<std::uint64_t> Root::sum_masked(std::size_t length,
                                            const std::function<const Masked&(std::size_t k)>& contribution) {
  std::vector<std::uint64_t> total(aggregates() ? length : 0);
  std::vector<std::uint64_t> words(total.size());
  std::vector<Client> missing;
  pass(
      length * sizeof(std::uint64_t),
      [&](std::size_t k, std::span<std::byte> buffer) {
        const std::vector<std::uint64_t>& own = contribution(k).words();
        if (!own.empty()) check_length(own.size(), length, first() + static_cast<Client>(k));
        const auto bytes = std::as_bytes(std::span(own));
        copy_bytes(bytes, buffer);
        return bytes.size();
      },
      [&](Client u, Bytes message) {
        if (message.size() < length * sizeof(std::uint64_t)) return missing.push_back(u);
        copy_bytes(message, std::as_writable_bytes(std::span(words)));
        for (std::size_t i = 0; i < length; ++i) total[i] += words[i];
      });
  check<FailureError>(missing.empty(),
                      "round {}: {} of {} masked shares have come, not that of {} (their masks do not cancel without "
                      "it) start again with the clients that are there",
                      world_.state().current_round() + 1, static_cast<std::size_t>(layout_.clients()) - missing.size(),
                      layout_.clients(), named(missing, layout_));
  return total;
}

Columns Root::gather(const Released<Columns>& block) {
  World::State& state = world_.state();
  const std::size_t rows = block.value().rows();
  std::vector<int> counts;
  std::vector<int> offsets;
  for (int r = 0; r < layout_.ranks(); ++r) {
    counts.push_back(static_cast<int>(rows) * layout_.count(r));
    offsets.push_back(static_cast<int>(rows) * layout_.first(r));
  }
  Columns all(rows, state.rank == 0 ? static_cast<std::size_t>(layout_.clients()) : 0);
  const View own = block.value().flat();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Igatherv(own.data(), static_cast<int>(own.size()), MPI_DOUBLE, all.flat().data(), counts.data(), offsets.data(),
               MPI_DOUBLE, 0, state.agreement, &request);
  state.wait_collective(request, "aggregation");
  return all;
}

void Root::broadcast(Released<Vector>& value) {
  World::State& state = world_.state();
  const std::size_t bytes = value.value().size() * sizeof(double);
  std::list<DoorMessage> messages;
  if (!aggregates()) {
    DoorMessage& message = messages.emplace_back(state, bytes);
    message.receive(0, tag_down);
    message.wait([&] { return aggregator_silent(state, "has sent no aggregate"); });
    value.update([&](Vector& numbers) { copy_bytes(message.buffer(), std::as_writable_bytes(std::span(numbers))); });
    return;
  }
  for (int r = 1; r < state.size; ++r) {
    DoorMessage& message = messages.emplace_back(state, bytes);
    copy_bytes(std::as_bytes(std::span(value.value())), message.buffer());
    message.send(bytes, r, tag_down);
  }
  int r = 0;
  for (DoorMessage& message : messages) {
    ++r;
    message.wait([&] {
      return fmt::format("round {}: rank {} (client {}) does not take the aggregate", state.current_round() + 1, r,
                         layout_.first(r));
    });
  }
  ++broadcasts_;
  broadcast_bytes_ += static_cast<std::int64_t>(bytes);
  wire_.messages += state.size - 1;
  wire_.bytes += (state.size - 1) * static_cast<std::int64_t>(bytes);
}

std::vector<EdgeTraffic> Root::edge_traffic() const {
  std::vector<EdgeTraffic> edges;
  for (Client u = 1; aggregates() && u < layout_.clients(); ++u) {
    edges.push_back({0, u, broadcasts_, broadcast_bytes_});
  }
  for (const EdgeTraffic& edge : up_) {
    if (edge.from > 0) edges.push_back(edge);
  }
  return edges;
}

}  // namespace starling
