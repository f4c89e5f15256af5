// Direct messages between clients on any number of ranks.
#include "net/peers/peers.hpp"

#include "net/released.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::peers_test {

using testing_support::world;

std::vector<std::uint64_t> words_of(Client from, Client to) {
  return std::vector<std::uint64_t>(static_cast<std::size_t>(from + 1), static_cast<std::uint64_t>(100 * from + to));
}

TEST(Peers, EachClientGetsTheMessagesOfAllOthers) {
  const Layout layout = Layout::with_centre(5, world().size());
  Peers peers(world(), layout);
  for (int repetition = 0; repetition < 3; ++repetition) {
    std::vector<PeerMessage> sent;
    std::vector<ExpectedMessage> expected;
    for (std::size_t k = 0; k < peers.count(); ++k) {
      const Client own = peers.first() + static_cast<Client>(k);
      for (Client other = 0; other < layout.clients(); ++other) {
        if (other == own) continue;
        sent.push_back({own, other, Release::mask(words_of(own, other))});
        expected.push_back({other, own, static_cast<std::size_t>(other + 1)});
      }
    }
    const auto received = peers.exchange(sent, expected);
    for (std::size_t i = 0; i < received.size(); ++i) {
      EXPECT_EQ(received[i], words_of(expected[i].from, expected[i].to));
    }
  }
  for (const EdgeTraffic& edge : peers.edge_traffic()) {
    EXPECT_EQ(edge.messages, 3);
    EXPECT_EQ(edge.bytes, 3 * 8 * (edge.from + 1));
  }
  EXPECT_EQ(peers.edge_traffic().size(), peers.count() * 5);
  if (world().size() == 1) {
    EXPECT_EQ(peers.wire_traffic().bytes, 0);
  }
}

TEST(Peers, RefusesAMessageOfAnotherLengthOnOneRank) {
  if (world().size() > 1) return;
  Peers peers(world(), Layout(2, 1));
  EXPECT_ERROR(FailureError, "3 words from client 0 for client 1: its length is 4",
               peers.exchange({{0, 1, Release::mask({1, 2, 3})}}, {{0, 1, 4}}));
  EXPECT_ERROR(FailureError, "client 1 does not expect words from client 0",
               peers.exchange({{0, 1, Release::mask({1, 2, 3})}}, {}));
}

}  // namespace starling::peers_test
