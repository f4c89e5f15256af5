#include "net/root/root.hpp"

#include <algorithm>
#include <list>
#include <string_view>

#include "core/numerics/kernels.hpp"
#include "core/sized.hpp"
#include "door_message.hpp"
#include "net/sealed_parts.hpp"
#include "net/state.hpp"

namespace starling {

namespace {

/// Bytes that a rank other than 0 may have under way, if more than two contributions.
constexpr std::size_t most_under_way = std::size_t{16} << 20;
/// Number of receives that rank 0 posts ahead.
constexpr Client ahead = 2;

/// Copies to the front of `to`. Both may be empty, with null pointers, which memcpy must not receive.
void copy_bytes(std::span<const std::byte> from, std::span<std::byte> to) {
  std::copy(from.begin(), from.end(), to.begin());
}

std::string aggregator_silent(const World::State& state, std::string_view what) {
  return fmt::format("round {}: rank 0, which aggregates, {}", state.current_round() + 1, what);
}

void check_length(std::size_t given, std::size_t expected, Client u) {
  check<FailureError>(
      given == expected,
      "client {} contributes {} numbers to a sum of {}: all clients give equally many. This is a fault of the program.",
      u, given, expected);
}

/// Messages of at most `most` bytes that may be under way, of `messages` altogether.
std::size_t buffers_for(std::size_t most, std::size_t messages) {
  return std::clamp<std::size_t>(most_under_way / std::max<std::size_t>(most, 1), 2, messages + 2);
}

/// A message without numbers has no bytes, for any codec.
std::size_t bytes_of(std::size_t numbers, const Codec& codec) {
  return numbers == 0 ? 0 : codec.bytes(numbers);
}

std::size_t longest(const std::vector<std::size_t>& lengths, const Codec& codec) {
  std::size_t most = 0;
  for (const std::size_t numbers : lengths) most = std::max(most, bytes_of(numbers, codec));
  return most;
}

View checked(const Released<Vector>& numbers, std::size_t expected, Client u) {
  check<FailureError>(numbers.value().size() == expected,
                      "{} numbers from or for client {}: all ranks expect {}. This is a fault of the program.",
                      numbers.value().size(), u, expected);
  return numbers.value();
}

void decode(std::span<const std::byte> message, std::size_t length, const Codec& codec, Released<Vector>& numbers) {
  numbers.update([&](Vector& v) {
    v.resize(length);
    codec.decode(message, v);
  });
}

void check_message(std::size_t bytes, std::size_t expected, Client u) {
  check<FailureError>(
      bytes == expected,
      "a message of {} bytes from or for client {}: its length takes {}. This is a fault of the program.", bytes, u,
      expected);
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

void Root::send_all(std::size_t most, const Write& write, const Sends& sends) {
  DoorQueue queue(world_.state(), most, buffers_for(most, count()), tag_up,
                  [](int, Client) { return std::string("rank 0, which aggregates, takes no contributions"); });
  for (std::size_t k = 0; k < count(); ++k) {
    world_.state().poll();
    if (!sends(first() + static_cast<Client>(k))) continue;
    const std::size_t length = write(k, queue.buffer());
    queue.send(length, 0);
    count(k, length);
  }
  queue.finish();
}

void Root::take_all(std::size_t most, const Write& write, const Take& take, const Sends& sends) {
  World::State& state = world_.state();
  const auto sender_from = [&](Client u) {
    while (u < layout_.clients() && !sends(u)) ++u;
    return u;
  };
  const Client first_remote = sender_from(layout_.count(0));
  Client expected = first_remote;  // the first that no receive is posted for
  const auto receive_next = [&](DoorMessage& message) {
    message.receive(layout_.rank_of(expected), tag_up);
    expected = sender_from(expected + 1);
  };
  std::list<DoorMessage> messages;  // that of the client whose turn it is stands first
  for (Client i = 0; i < ahead && expected < layout_.clients(); ++i) receive_next(messages.emplace_back(state, most));
  std::vector<std::byte> own(most);
  for (std::size_t k = 0; k < count(); ++k) {
    still_here();
    if (!sends(static_cast<Client>(k))) continue;
    const std::size_t length = write(k, own);
    take(static_cast<Client>(k), Bytes(own).first(length));
    count(k, length);
  }
  for (Client u = first_remote; u < layout_.clients(); u = sender_from(u + 1)) {
    DoorMessage& message = messages.front();
    const std::size_t length = message.wait([&] {
      return fmt::format("round {}: client {} (rank {}) has sent nothing", state.current_round() + 1, u,
                         layout_.rank_of(u));
    });
    take(u, Bytes(message.buffer()).first(length));
    if (expected < layout_.clients()) receive_next(message);
    messages.splice(messages.end(), messages, messages.begin());
  }
}

void Root::pass(std::size_t most, const Write& write, const Take& take, const Sends& sends) {
  if (aggregates()) {
    take_all(most, write, take, sends);
  } else {
    send_all(most, write, sends);
  }
}

template <class Numbers>
inline void Root::add_up_here(std::size_t length, const Numbers& numbers, Vector& total) {
  if (total.size() != length || up_.empty()) total.assign(length, 0.0);
  double* const to = total.data();
  for (EdgeTraffic& edge : up_) {
    const View own = numbers(static_cast<std::size_t>(edge.from));
    check_length(own.size(), length, edge.from);
    sized(length, [from = own.data(), to, first = edge.from == 0](auto n) {
      for (std::size_t i = 0; i < n; ++i) to[i] = (first ? 0.0 : to[i]) + from[i];
    });
    ++edge.messages;
    edge.bytes += static_cast<std::int64_t>(own.size_bytes());
  }
}

template <class Numbers>
inline void Root::add_up(std::size_t length, const Numbers& numbers, const Codec& codec, Vector& total) {
  if (layout_.ranks() == 1 && &codec == &plain_codec()) return add_up_here(length, numbers, total);
  add_up_messages(length, numbers, codec, total);
}

template <class Numbers>
void Root::add_up_messages(std::size_t length, const Numbers& numbers, const Codec& codec, Vector& total) {
  total.assign(aggregates() ? length : 0, 0.0);
  const std::size_t bytes = codec.bytes(length);
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
  const auto numbers = [&](std::size_t k) -> View { return contribution(k).value(); };
  total.update([&](Vector& sum) { add_up(length, numbers, codec, sum); });
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
                      "round {}: {} of {} masked shares have come, not that of {}: their masks do not cancel without "
                      "it. Start again with the clients that are there.",
                      world_.state().current_round() + 1, static_cast<std::size_t>(layout_.clients()) - missing.size(),
                      layout_.clients(), named(missing, layout_));
  return total;
}

void Root::broadcast(Released<Vector>& value) {
  value.update([&](Vector& numbers) { spread(std::as_writable_bytes(std::span(numbers))); });
}

void Root::broadcast(Released<std::vector<std::byte>>& value) {
  value.update([&](std::vector<std::byte>& bytes) { spread(bytes); });
}

void Root::spread(std::span<std::byte> bytes) {
  if (!aggregates()) return take_spread(bytes);
  ++broadcasts_;
  broadcast_bytes_ += static_cast<std::int64_t>(bytes.size());
  if (layout_.ranks() > 1) send_spread(bytes);
}

void Root::take_spread(std::span<std::byte> bytes) {
  World::State& state = world_.state();
  DoorMessage message(state, bytes.size());
  message.receive(0, tag_down);
  message.wait([&] { return aggregator_silent(state, "has sent no aggregate"); });
  copy_bytes(message.buffer(), bytes);
}

void Root::send_spread(std::span<const std::byte> bytes) {
  const int others = world_.size() - 1;
  DoorQueue queue(world_.state(), bytes.size(), static_cast<std::size_t>(others), tag_down, [this](int r, Client) {
    return fmt::format("rank {} (client {}) does not take the aggregate", r, layout_.first(r));
  });
  for (int r = 1; r <= others; ++r) {
    copy_bytes(bytes, queue.buffer());
    queue.send(bytes.size(), r);
  }
  queue.finish();
  wire_.messages += others;
  wire_.bytes += others * static_cast<std::int64_t>(bytes.size());
}

void Root::check_lengths(const std::vector<std::size_t>& lengths) const {
  check<FailureError>(lengths.size() == static_cast<std::size_t>(clients()),
                      "{} lengths of messages for {} clients: each has one. This is a fault of the program.",
                      lengths.size(), clients());
}

void Root::collect(const std::vector<std::size_t>& lengths,
                   const std::function<const Released<Vector>&(std::size_t k)>& contribution, const Codec& codec,
                   Released<std::vector<std::byte>>& messages) {
  check_lengths(lengths);
  const auto length_of = [&](Client u) { return lengths[static_cast<std::size_t>(u)]; };
  messages.update([&](std::vector<std::byte>& all) {
    all.clear();
    if (aggregates()) all.reserve(message_offsets(lengths, codec).back());
    pass(
        longest(lengths, codec),
        [&](std::size_t k, std::span<std::byte> buffer) {
          const Client u = first() + static_cast<Client>(k);
          const View own = checked(contribution(k), length_of(u), u);
          const std::size_t bytes = codec.bytes(own.size());
          codec.encode(own, buffer.first(bytes));
          return bytes;
        },
        [&](Client u, Bytes message) {
          check_message(message.size(), codec.bytes(length_of(u)), u);
          all.insert(all.end(), message.begin(), message.end());
        },
        [&](Client u) { return length_of(u) > 0; });
  });
}

void Root::distribute(const std::vector<std::size_t>& lengths,
                      const std::function<const Released<Vector>&(Client u)>& content, const Codec& codec,
                      const std::function<void(std::size_t k, const Released<Vector>& numbers)>& take) {
  check_lengths(lengths);
  if (aggregates()) {
    send_down(longest(lengths, codec), lengths, content, codec, take);
  } else {
    take_down(longest(lengths, codec), lengths, codec, take);
  }
}

void Root::send_down(std::size_t most, const std::vector<std::size_t>& lengths,
                     const std::function<const Released<Vector>&(Client u)>& content, const Codec& codec,
                     const std::function<void(std::size_t k, const Released<Vector>& numbers)>& take) {
  DoorQueue queue(world_.state(), most, buffers_for(most, lengths.size()), tag_down, [](int rank, Client u) {
    return (u < 0 ? fmt::format("rank {}", rank) : fmt::format("client {} (rank {})", u, rank)) +
           " does not take what is sent to it";
  });
  std::vector<std::byte> own(most);
  Released<Vector> numbers(declare_public(Vector()));
  std::vector<bool> served(static_cast<std::size_t>(world_.size()));
  for (Client u = 0; u < clients(); ++u) {
    still_here();
    const std::size_t length = lengths[static_cast<std::size_t>(u)];
    if (length == 0) continue;
    const int rank = layout_.rank_of(u);
    const std::size_t bytes = codec.bytes(length);
    const std::span<std::byte> message = (rank == 0 ? std::span(own) : queue.buffer()).first(bytes);
    codec.encode(checked(content(u), length, u), message);
    count_down(u, rank, bytes);
    if (rank > 0) {
      queue.send(bytes, rank, u);
      served[static_cast<std::size_t>(rank)] = true;
    } else {
      decode(message, length, codec, numbers);
      take(static_cast<std::size_t>(u), numbers);
    }
  }
  for (int rank = 1; rank < world_.size(); ++rank) {
    if (served[static_cast<std::size_t>(rank)]) continue;
    static_cast<void>(queue.buffer());
    queue.send(0, rank);
    ++wire_.messages;
  }
  queue.finish();
}

void Root::take_down(std::size_t most, const std::vector<std::size_t>& lengths, const Codec& codec,
                     const std::function<void(std::size_t k, const Released<Vector>& numbers)>& take) {
  World::State& state = world_.state();
  DoorMessage message(state, most);
  const auto received = [&](std::string_view by) {
    message.receive(0, tag_down);
    return message.wait([&] { return aggregator_silent(state, fmt::format("has sent {} nothing", by)); });
  };
  Released<Vector> numbers(declare_public(Vector()));
  bool served = false;
  for (std::size_t k = 0; k < count(); ++k) {
    const Client u = first() + static_cast<Client>(k);
    const std::size_t length = lengths[static_cast<std::size_t>(u)];
    if (length == 0) continue;
    const std::size_t bytes = received(fmt::format("client {}", u));
    check_message(bytes, codec.bytes(length), u);
    decode(message.buffer().first(bytes), length, codec, numbers);
    served = true;
    take(k, numbers);
  }
  if (!served) static_cast<void>(received(fmt::format("rank {}", state.rank)));
}

void Root::count_down(Client u, int rank, std::size_t bytes) {
  down_.resize(static_cast<std::size_t>(clients()));
  EdgeTraffic& edge = down_[static_cast<std::size_t>(u)];
  ++edge.messages;
  edge.bytes += static_cast<std::int64_t>(bytes);
  if (rank == 0) return;
  ++wire_.messages;
  wire_.bytes += static_cast<std::int64_t>(bytes);
}

std::vector<EdgeTraffic> Root::edge_traffic() const {
  std::vector<EdgeTraffic> edges;
  for (Client u = 1; aggregates() && u < layout_.clients(); ++u) {
    const EdgeTraffic own = down_.empty() ? EdgeTraffic{} : down_[static_cast<std::size_t>(u)];
    edges.push_back({0, u, broadcasts_ + own.messages, broadcast_bytes_ + own.bytes});
  }
  for (const EdgeTraffic& edge : up_) {
    if (edge.from > 0) edges.push_back(edge);
  }
  return edges;
}

std::vector<std::size_t> message_offsets(const std::vector<std::size_t>& lengths, const Codec& codec) {
  std::vector<std::size_t> offsets{0};
  for (const std::size_t numbers : lengths) offsets.push_back(offsets.back() + bytes_of(numbers, codec));
  return offsets;
}

}  // namespace starling
