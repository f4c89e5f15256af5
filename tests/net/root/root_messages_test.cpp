// What clients send the aggregator as it is, and what it sends each of them: collect, broadcast of bytes, distribute.
#include <map>

#include "codec/quantiser.hpp"
#include "core/random.hpp"
#include "net/released.hpp"
#include "net/root/root.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::root_messages_test {

using namespace testing_support;

using Lengths = std::vector<std::size_t>;
using Messages = std::vector<std::byte>;

struct Case {
  Client clients;
  bool with_centre;
  std::size_t length;  ///< of client 1's numbers; others have somewhat more
  const char* quantiser;
};

Layout layout_of(const Case& c) {
  return c.with_centre ? Layout::with_centre(c.clients - 1, world().size()) : Layout(c.clients, world().size());
}

/// Lengths that differ: client 0 has none where it is the centre, and every fifth one has none.
Lengths lengths_of(const Case& c) {
  Lengths lengths;
  for (Client u = 0; u < c.clients; ++u) {
    const bool none = (u == 0 && c.with_centre) || u % 5 == 4;
    lengths.push_back(none ? 0 : c.length + static_cast<std::size_t>(u % 3));
  }
  return lengths;
}

/// Of client u in round t, on the way up or down.
Vector numbers_of(std::size_t length, Client u, Round t, bool down) {
  AddressedRandom random(down ? 6 : 5, Purpose::experiment, static_cast<std::uint64_t>(u),
                         static_cast<std::uint64_t>(t));
  Vector numbers(length);
  for (double& x : numbers) x = random.uniform() - 0.5;
  return numbers;
}

Messages message_of_client(std::size_t length, Client u, Round t, const Codec& codec) {
  Messages message(length == 0 ? 0 : codec.bytes(length));
  if (length > 0) codec.encode(numbers_of(length, u, t, false), message);
  return message;
}

/// What rank 0 must have: every client's message as this rank would write it.
Messages all_messages(const Lengths& lengths, Round t, const Codec& codec) {
  Messages all;
  for (std::size_t u = 0; u < lengths.size(); ++u) {
    const Messages one = message_of_client(lengths[u], static_cast<Client>(u), t, codec);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

class RootMessages : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { EXPECT_TRUE(root.begin_round(0)); }

  Released<Messages> collected(Round t) {
    Released<Messages> messages(declare_public(Messages(3, std::byte{7})));
    Released<Vector> own(declare_public(Vector()));
    std::vector<Client> asked;
    root.collect(
        lengths,
        [&](std::size_t k) -> const Released<Vector>& {
          const Client u = root.first() + static_cast<Client>(k);
          asked.push_back(u);
          own.update([&](Vector& v) { v = numbers_of(lengths[static_cast<std::size_t>(u)], u, t, false); });
          return own;
        },
        *codec, messages);
    EXPECT_EQ(asked, local_clients());
    return messages;
  }

  /// Those that send, or get, something.
  [[nodiscard]] std::vector<Client> local_clients() const {
    std::vector<Client> clients;
    for (std::size_t k = 0; k < root.count(); ++k) {
      const Client u = root.first() + static_cast<Client>(k);
      if (lengths[static_cast<std::size_t>(u)] > 0) clients.push_back(u);
    }
    return clients;
  }

  void distribute(Round t) {
    Released<Vector> content(declare_public(Vector()));
    Client asked = -1;
    std::vector<Client> came;
    root.distribute(
        lengths,
        [&](Client u) -> const Released<Vector>& {
          EXPECT_TRUE(root.aggregates());
          EXPECT_GT(u, asked);
          asked = u;
          content.update([&](Vector& v) { v = numbers_of(lengths[static_cast<std::size_t>(u)], u, t, true); });
          return content;
        },
        *codec,
        [&](std::size_t k, const Released<Vector>& numbers) {
          const Client u = root.first() + static_cast<Client>(k);
          came.push_back(u);
          const std::size_t length = lengths[static_cast<std::size_t>(u)];
          Messages message(codec->bytes(length));
          codec->encode(numbers_of(length, u, t, true), message);
          Vector expected(length);
          codec->decode(message, expected);
          EXPECT_EQ(numbers.value(), expected) << u;
        });
    EXPECT_EQ(came, local_clients());
  }

  [[nodiscard]] std::int64_t bytes_of(Client u) const {
    const std::size_t length = lengths[static_cast<std::size_t>(u)];
    return length == 0 ? 0 : static_cast<std::int64_t>(codec->bytes(length));
  }

  /// What this rank sends others in a round: its clients' messages, or a broadcast and what it distributes, at least
  /// one message to each.
  [[nodiscard]] std::int64_t wire_messages() const {
    std::int64_t messages = 0;
    if (!root.aggregates()) {
      for (const Client u : local_clients()) messages += bytes_of(u) > 0 ? 1 : 0;
      return messages;
    }
    for (int r = 1; r < world().size(); ++r) {
      std::int64_t own = 0;
      for (Client u = layout.first(r); u < layout.first(r + 1); ++u) own += bytes_of(u) > 0 ? 1 : 0;
      messages += 1 + std::max<std::int64_t>(own, 1);
    }
    return messages;
  }
  [[nodiscard]] std::int64_t wire_bytes(std::int64_t broadcast) const {
    std::int64_t bytes = root.aggregates() ? broadcast * (world().size() - 1) : 0;
    for (Client u = 0; u < layout.clients(); ++u) {
      const bool here = layout.rank_of(u) == world().rank();
      if (here != root.aggregates()) bytes += bytes_of(u);
    }
    return bytes;
  }

  const Layout layout = layout_of(GetParam());
  const Lengths lengths = lengths_of(GetParam());
  const std::unique_ptr<Quantiser> codec = quantiser_table().make(GetParam().quantiser);
  Root root{world(), layout};
};

// Fewer clients than ranks, more; a centre; messages that travel at once and those that wait for their receiver; more
// bytes than are under way at a time.
INSTANTIATE_TEST_SUITE_P(
    Layouts, RootMessages,
    testing::Values(Case{1, false, 4, "float32"}, Case{2, true, 5, "scalar:3"}, Case{3, false, 33, "hexagonal:3"},
                    Case{5, true, 320, "scalar:4"}, Case{7, false, 30'000, "float32"}, Case{8, true, 40'000, "double"},
                    Case{60, false, 7, "bits:5"}, Case{31, true, 9, "float16"}, Case{8, true, 600'000, "double"}),
    [](const auto& row) {
      return test_name(fmt::format("n{}_{}_{}_{}", row.param.clients, row.param.with_centre ? "centre" : "blocks",
                                   row.param.length, row.param.quantiser));
    });

TEST_P(RootMessages, AreTheSameBytesOnAllLayouts) {
  for (Round t = 0; t < 2; ++t) {
    const Messages expected = all_messages(lengths, t, *codec);
    Released<Messages> messages = collected(t);
    EXPECT_EQ(messages.value(), root.aggregates() ? expected : Messages());
    const std::vector<std::size_t> offsets = message_offsets(lengths, *codec);
    ASSERT_EQ(offsets.back(), expected.size());
    if (!root.aggregates()) messages.update([&](Messages& all) { all.resize(offsets.back()); });
    root.broadcast(messages);
    EXPECT_EQ(messages.value(), expected);
  }
}

TEST_P(RootMessages, BeginWhereTheirOffsetsSay) {
  const Messages all = all_messages(lengths, 1, *codec);
  const std::vector<std::size_t> offsets = message_offsets(lengths, *codec);
  ASSERT_EQ(offsets.size(), lengths.size() + 1);
  for (std::size_t u = 0; u < lengths.size(); ++u) {
    const auto part = std::span(all).subspan(offsets[u], offsets[u + 1] - offsets[u]);
    EXPECT_TRUE(std::ranges::equal(part, message_of_client(lengths[u], static_cast<Client>(u), 1, *codec)));
  }
}

TEST_P(RootMessages, ToEachClientAreItsOwn) {
  for (Round t = 0; t < 3; ++t) distribute(t);
}

TEST_P(RootMessages, AreCounted) {
  constexpr std::int64_t rounds = 2;
  std::int64_t all = 0;
  for (Round t = 0; t < rounds; ++t) {
    Released<Messages> messages = collected(t);
    messages.update([&](Messages& bytes) { bytes.resize(message_offsets(lengths, *codec).back()); });
    all = static_cast<std::int64_t>(messages.value().size());
    root.broadcast(messages);
    distribute(t);
  }
  std::map<std::pair<Client, Client>, EdgeTraffic> edges;
  for (const EdgeTraffic& edge : root.edge_traffic()) edges[{edge.from, edge.to}] = edge;
  EXPECT_EQ(edges.size(), root.edge_traffic().size());
  std::size_t expected_edges = 0;
  for (Client u = 1; u < layout.clients(); ++u) {
    const std::int64_t messages = bytes_of(u) > 0 ? 1 : 0;
    if (layout.rank_of(u) == world().rank()) {
      ++expected_edges;
      EXPECT_EQ((edges[{u, 0}].messages), rounds * messages) << u;
      EXPECT_EQ((edges[{u, 0}].bytes), rounds * bytes_of(u)) << u;
    }
    if (root.aggregates()) {
      ++expected_edges;
      EXPECT_EQ((edges[{0, u}].messages), rounds * (1 + messages)) << u;
      EXPECT_EQ((edges[{0, u}].bytes), rounds * (all + bytes_of(u))) << u;
    }
  }
  EXPECT_EQ(edges.size(), expected_edges);
  EXPECT_EQ(root.wire_traffic().messages, rounds * wire_messages());
  EXPECT_EQ(root.wire_traffic().bytes, rounds * wire_bytes(all));
}

// What passed directly on rank 0 is no traffic between ranks.
TEST_P(RootMessages, WithoutRanksLeaveTheWireAlone) {
  if (world().size() > 1) GTEST_SKIP() << "for one rank";
  static_cast<void>(collected(0));
  distribute(0);
  EXPECT_EQ(root.wire_traffic().messages, 0);
  EXPECT_EQ(root.wire_traffic().bytes, 0);
}

TEST(RootMessagesDoor, NothingAtAllPasses) {
  for (const bool with_centre : {false, true}) {
    const Case c{6, with_centre, 0, "scalar:4"};
    Root root(world(), layout_of(c));
    const Lengths none(6, 0);
    const auto codec = quantiser_table().make("scalar:4");
    const Released<Vector> own(declare_public(Vector()));
    Released<Messages> messages(declare_public(Messages(2)));
    root.collect(
        none,
        [&](std::size_t) -> const Released<Vector>& {
          ADD_FAILURE() << "nothing is to be sent";
          return own;
        },
        *codec, messages);
    EXPECT_EQ(messages.value(), Messages());
    root.distribute(
        none, [&](Client) -> const Released<Vector>& { return own; }, *codec,
        [](std::size_t, const Released<Vector>&) { ADD_FAILURE() << "nothing is to come"; });
    for (const EdgeTraffic& edge : root.edge_traffic()) EXPECT_EQ(edge.messages, 0);
    EXPECT_EQ(root.wire_traffic().bytes, 0);
  }
}

// Sums, which are as before, and messages take turns at the same door.
TEST(RootMessagesDoor, DoNotMixWithSums) {
  const Case c{9, true, 40, "scalar:2"};
  const Lengths lengths = lengths_of(c);
  Root root(world(), layout_of(c));
  const auto codec = quantiser_table().make(c.quantiser);
  Released<Vector> own(declare_public(Vector()));
  Released<Messages> messages(declare_public(Messages()));
  for (Round t = 0; t < 50; ++t) {
    EXPECT_TRUE(root.begin_round(t));
    const auto contribution = [&](std::size_t k) -> const Released<Vector>& {
      const Client u = root.first() + static_cast<Client>(k);
      own.update([&](Vector& v) { v = numbers_of(lengths[static_cast<std::size_t>(u)], u, t, false); });
      return own;
    };
    root.collect(lengths, contribution, *codec, messages);
    EXPECT_EQ(messages.value(), root.aggregates() ? all_messages(lengths, t, *codec) : Messages());
    const Released<Vector> total = root.sum(1, [&](std::size_t k) -> const Released<Vector>& {
      own.update([&](Vector& v) { v = {1.0 + root.first() + static_cast<double>(k)}; });
      return own;
    });
    EXPECT_EQ(total.value(), root.aggregates() ? Vector{45} : Vector());
    root.distribute(
        lengths,
        [&](Client u) -> const Released<Vector>& {
          own.update(
              [&](Vector& v) { v.assign(lengths[static_cast<std::size_t>(u)], 100.0 * u + static_cast<double>(t)); });
          return own;
        },
        *codec,
        [&](std::size_t k, const Released<Vector>& numbers) {
          const Client u = root.first() + static_cast<Client>(k);
          EXPECT_EQ(numbers.value(), Vector(lengths[static_cast<std::size_t>(u)], 100.0 * u + static_cast<double>(t)));
        });
    Released<Vector> value(declare_public(Vector{root.aggregates() ? static_cast<double>(t) : -1}));
    root.broadcast(value);
    EXPECT_EQ(value.value(), Vector{static_cast<double>(t)});
  }
}

// On every rank alike, before anything is sent.
TEST(RootMessagesDoor, WantsALengthForEachClient) {
  Root root(world(), Layout(4, world().size()));
  const Released<Vector> own(declare_public(Vector(3)));
  Released<Messages> messages(declare_public(Messages()));
  EXPECT_THAT(message_of<FailureError>([&] {
                root.collect(
                    {3, 3, 3}, [&](std::size_t) -> const Released<Vector>& { return own; }, plain_codec(), messages);
              }),
              HasSubstr("3 lengths of messages for 4 clients"));
  EXPECT_THAT(message_of<FailureError>([&] {
                root.distribute(
                    {3, 3, 3, 3, 3}, [&](Client) -> const Released<Vector>& { return own; }, plain_codec(),
                    [](std::size_t, const Released<Vector>&) {});
              }),
              HasSubstr("5 lengths of messages for 4 clients"));
}

TEST(RootMessagesDoor, AContributionOfAnotherLengthIsAFault) {
  Root root(world(), Layout(1, world().size()));
  const Released<Vector> own(declare_public(Vector(3)));
  Released<Messages> messages(declare_public(Messages()));
  const auto collect = [&] {
    root.collect(
        {2}, [&](std::size_t) -> const Released<Vector>& { return own; }, plain_codec(), messages);
  };
  const std::string expected = root.aggregates() ? "3 numbers from or for client 0: all ranks expect 2." : "";
  EXPECT_THAT(message_of<FailureError>(collect), HasSubstr(expected));
}

// A number that has no level ends the round on its own rank, with the codec's words.
TEST(RootMessagesDoor, ErrorsOfTheCodecGoThrough) {
  Root root(world(), Layout(1, world().size()));
  const Released<Vector> own(declare_public(Vector{1, std::nan("")}));
  Released<Messages> messages(declare_public(Messages()));
  const auto codec = quantiser_table().make("scalar:4");
  const auto collect = [&] {
    root.collect(
        {2}, [&](std::size_t) -> const Released<Vector>& { return own; }, *codec, messages);
  };
  const std::string thrown = message_of<DataError>(collect);
  if (root.aggregates()) {
    EXPECT_THAT(thrown, HasSubstr("number 1 of a message"));
  } else {
    EXPECT_EQ(thrown, "");
  }
}

}  // namespace starling::root_messages_test
