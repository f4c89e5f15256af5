#include "net/peers/peers.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <tuple>

#include "net/root/door_message.hpp"
#include "net/state.hpp"

namespace starling {

namespace {

/// Numbers 0, 1, … of messages, in the order in which both ends post them: by sender, then receiver.
template <class Message>
std::vector<std::size_t> posting_order(const std::vector<Message>& messages) {
  std::vector<std::size_t> order(messages.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(messages[a].from, messages[a].to) < std::tie(messages[b].from, messages[b].to);
  });
  return order;
}

void check_words(std::size_t came, const ExpectedMessage& message) {
  check<FailureError>(came == message.words,
                      "{} words from client {} for client {}: its length is {}. This is a fault of the program.", came,
                      message.from, message.to, message.words);
}

}  // namespace

std::vector<std::vector<std::uint64_t>> Peers::exchange(const std::vector<PeerMessage>& sent,
                                                        const std::vector<ExpectedMessage>& expected) {
  World::State& state = world_.state();
  std::vector<std::vector<std::uint64_t>> received(expected.size());
  std::list<std::pair<DoorMessage, std::size_t>> incoming;  // and the place among those expected
  std::list<std::pair<DoorMessage, std::size_t>> outgoing;
  for (const std::size_t i : posting_order(expected)) {
    const ExpectedMessage& message = expected[i];
    if (layout_.rank_of(message.from) == world_.rank()) continue;
    incoming.emplace_back(std::piecewise_construct, std::forward_as_tuple(state, message.words * sizeof(std::uint64_t)),
                          std::forward_as_tuple(i));
    incoming.back().first.receive(layout_.rank_of(message.from), tag_peers);
  }
  for (const std::size_t i : posting_order(sent)) {
    const PeerMessage& message = sent[i];
    const std::vector<std::uint64_t>& words = message.words.words();
    count(message);
    const int to = layout_.rank_of(message.to);
    if (to == world_.rank()) {
      const auto place = std::find_if(expected.begin(), expected.end(), [&](const ExpectedMessage& each) {
        return each.from == message.from && each.to == message.to;
      });
      check<FailureError>(place != expected.end(), "client {} does not expect words from client {}.", message.to,
                          message.from);
      check_words(words.size(), *place);
      received[static_cast<std::size_t>(place - expected.begin())] = words;
      continue;
    }
    const std::size_t bytes = words.size() * sizeof(std::uint64_t);
    outgoing.emplace_back(std::piecewise_construct, std::forward_as_tuple(state, bytes), std::forward_as_tuple(i));
    if (bytes > 0) std::memcpy(outgoing.back().first.buffer().data(), words.data(), bytes);
    outgoing.back().first.send(bytes, to, tag_peers);
  }
  for (auto& [message, i] : incoming) {
    const ExpectedMessage& awaited = expected[i];
    const std::size_t bytes = message.wait([&] {
      return fmt::format("{}: client {} (rank {}) has sent nothing", when(), awaited.from,
                         layout_.rank_of(awaited.from));
    });
    check_words(bytes / sizeof(std::uint64_t), awaited);
    received[i].resize(awaited.words);
    if (bytes > 0) std::memcpy(received[i].data(), message.buffer().data(), bytes);
  }
  for (auto& [message, i] : outgoing) {
    const Client to = sent[i].to;
    message.wait([&] {
      return fmt::format("{}: client {} (rank {}) does not take what is sent to it", when(), to, layout_.rank_of(to));
    });
  }
  return received;
}

void Peers::count(const PeerMessage& message) {
  const auto bytes = static_cast<std::int64_t>(message.words.words().size() * sizeof(std::uint64_t));
  auto edge = std::lower_bound(edges_.begin(), edges_.end(), message, [](const EdgeTraffic& each, const auto& own) {
    return std::tie(each.from, each.to) < std::tie(own.from, own.to);
  });
  if (edge == edges_.end() || edge->from != message.from || edge->to != message.to) {
    edge = edges_.insert(edge, {message.from, message.to, 0, 0});
  }
  ++edge->messages;
  edge->bytes += bytes;
  if (layout_.rank_of(message.to) == world_.rank()) return;
  ++wire_.messages;
  wire_.bytes += bytes;
}

std::string Peers::when() const {
  return when_.empty() ? fmt::format("round {}", world_.state().current_round() + 1) : when_;
}

std::vector<EdgeTraffic> Peers::edge_traffic() const {
  return edges_;
}

}  // namespace starling
