// Sealed messages: what one rank closes the other opens, and nothing else opens, whatever was done to it.
#include "net/seal/seal.hpp"

#include <cstring>
#include <functional>
#include <random>
#include <set>

#include "support/slow.hpp"
#include "support/test_seal.hpp"
#include "support/testing.hpp"

namespace starling::seal_test {

using testing_support::seal_terms;
using testing_support::slow;

using Message = std::vector<std::byte>;

Message message_of(const std::string& text) {
  Message bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

/// Three ranks, each on a host of its own.
struct Ranks {
  explicit Ranks(bool by_aes, unsigned char start = 1)
      : zero(seal_terms(0, 3, 3, false, by_aes, start), 0),
        one(seal_terms(1, 3, 3, false, by_aes, start), 1),
        two(seal_terms(2, 3, 3, false, by_aes, start), 2) {}
  Seal zero;
  Seal one;
  Seal two;
};

class Seals : public ::testing::TestWithParam<bool> {};

TEST_P(Seals, OpenWhatWasClosed) {
  Ranks ranks(GetParam());
  for (const std::size_t size : {0U, 1U, 15U, 16U, 17U, 40U, 1000U, 100'000U}) {
    Message plain(size);
    for (std::size_t i = 0; i < size; ++i) plain[i] = static_cast<std::byte>(i * 7);
    for (const MessageKind kind : {MessageKind::agreement, MessageKind::up, MessageKind::neighbours}) {
      const Message way = ranks.zero.closed(kind, 1, 5, plain);
      EXPECT_EQ(way.size(), size + Seal::tag_size);
      EXPECT_EQ(ranks.one.opened(kind, 0, 5, way), plain);
      EXPECT_EQ(ranks.zero.opened(kind, 1, 6, ranks.one.closed(kind, 0, 6, plain)), plain);
    }
  }
}

TEST_P(Seals, ShowNothingOfAMessageTwice) {
  Ranks ranks(GetParam());
  const Message plain = message_of(std::string(64, 'a'));
  std::set<Message> ways;
  for (int k = 0; k < 1000; ++k) {
    for (const int to : {1, 2}) {
      for (const MessageKind kind : {MessageKind::up, MessageKind::down}) {
        const Message way = ranks.zero.closed(kind, to, 0, plain);
        EXPECT_TRUE(ways.insert(Message(way.begin(), way.begin() + 16)).second);
      }
    }
  }
}

/// What somebody on the way does to the k-th message; `before` came right before it, `next` after it, and `others` are
/// of other directions, kinds, rounds and starts.
struct Way {
  Message right;
  Message before;
  Message next;
  std::vector<Message> others;
};

Message altered(const Way& way, std::mt19937_64& random) {
  Message bad = way.right;
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  switch (below(8)) {
    case 0:  // one bit
      bad[below(bad.size())] ^= static_cast<std::byte>(1U << below(8));
      return bad;
    case 1:  // some bytes
      for (std::size_t k = 1 + below(8); k > 0; --k) bad[below(bad.size())] ^= static_cast<std::byte>(1 + below(255));
      return bad == way.right ? Message() : bad;
    case 2:  // cut
      bad.resize(below(bad.size()));
      return bad;
    case 3:  // lengthened
      bad.resize(bad.size() + 1 + below(40), std::byte{0});
      return bad;
    case 4:  // repeated
      return way.before;
    case 5:  // put in the place of one that was left out
      return way.next;
    case 6: {  // halves of two messages
      std::copy(way.next.begin(), way.next.begin() + static_cast<std::ptrdiff_t>(bad.size() / 2), bad.begin());
      return bad;
    }
    default:
      return way.others[below(way.others.size())];
  }
}

TEST_P(Seals, OpenNothingThatWasAltered) {
  std::mt19937_64 random(1);
  const int tries = slow() ? 500'000 : 20'000;
  int accepted = 0;
  int shown = 0;
  for (int done = 0; done < tries;) {
    Ranks ranks(GetParam());
    Ranks earlier(GetParam(), 2);
    Message before = ranks.zero.closed(MessageKind::up, 1, 0, message_of("first"));
    static_cast<void>(ranks.one.opened(MessageKind::up, 0, 0, before));
    for (int k = 0; k < 500; ++k, ++done) {
      const Message plain = message_of(std::string(1 + random() % 60, static_cast<char>('a' + k % 26)));
      Way way;
      way.right = ranks.zero.closed(MessageKind::up, 1, k, plain);
      way.before = before;
      way.next = ranks.zero.closed(MessageKind::up, 1, k, plain);
      static_cast<void>(ranks.one.closed(MessageKind::up, 0, k, plain));
      way.others = {ranks.zero.closed(MessageKind::up, 2, k, plain),
                    ranks.one.closed(MessageKind::up, 0, k, plain),
                    ranks.two.closed(MessageKind::up, 1, k, plain),
                    ranks.zero.closed(MessageKind::down, 1, k, plain),
                    earlier.zero.closed(MessageKind::up, 1, k, plain),
                    plain,
                    Message()};
      before = way.right;
      Message place(plain.size(), std::byte{0x5a});
      const Message bad = altered(way, random);
      try {
        if (bad.size() == way.right.size()) {
          ranks.one.open(MessageKind::up, 0, k, bad, place);
        } else {
          static_cast<void>(ranks.one.opened(MessageKind::up, 0, k, bad));
        }
        ++accepted;
      } catch (const FailureError&) {
        for (const std::byte each : place) shown += each != std::byte{0} && each != std::byte{0x5a} ? 1 : 0;
      }
      // Its number has passed in any case: the next one is in its turn, and opens.
      EXPECT_EQ(ranks.one.opened(MessageKind::up, 0, k, way.next), plain);
    }
  }
  EXPECT_EQ(accepted, 0);
  EXPECT_EQ(shown, 0);
}

TEST_P(Seals, CoverTheRoundAndTheStart) {
  Ranks ranks(GetParam());
  Ranks other(GetParam(), 2);
  const Message plain = message_of("message");
  EXPECT_THROW(
      static_cast<void>(ranks.one.opened(MessageKind::up, 0, 4, ranks.zero.closed(MessageKind::up, 1, 3, plain))),
      FailureError);
  EXPECT_THROW(
      static_cast<void>(ranks.one.opened(MessageKind::down, 0, 4, other.zero.closed(MessageKind::down, 1, 4, plain))),
      FailureError);
}

TEST_P(Seals, NameBothEnds) {
  Ranks ranks(GetParam());
  Message way = ranks.two.closed(MessageKind::report, 0, 0, message_of("report"));
  way[3] ^= std::byte{1};
  try {
    static_cast<void>(ranks.zero.opened(MessageKind::report, 2, 0, way));
    ADD_FAILURE() << "it was opened";
  } catch (const FailureError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("a message from rank 2 to rank 0 is not the one that was sealed"));
  }
}

TEST_P(Seals, LeaveMessagesWithinAHostUnlessTheyAreToldTo) {
  Seal zero(seal_terms(0, 3, 2, false, GetParam()), 0);
  EXPECT_TRUE(zero.seals(1));
  EXPECT_FALSE(zero.seals(2));
  const Message plain = message_of("message");
  EXPECT_EQ(zero.closed(MessageKind::up, 2, 0, plain), plain);
  EXPECT_EQ(zero.opened(MessageKind::up, 2, 0, plain), plain);
  Seal all(seal_terms(0, 3, 2, true, GetParam()), 0);
  EXPECT_TRUE(all.seals(2));
  EXPECT_FALSE(all.seals(0));
}

INSTANTIATE_TEST_SUITE_P(Ciphers, Seals, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "aes_256_gcm" : "chacha20_poly1305"; });

}  // namespace starling::seal_test
