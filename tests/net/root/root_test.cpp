#include "net/root/root.hpp"

#include <bit>
#include <cmath>
#include <gmock/gmock.h>
#include <limits>

#include "core/random.hpp"
#include "net/agreement.hpp"
#include "net/released.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::root_test {

using testing::HasSubstr;
using testing_support::world;

constexpr std::size_t order = 4;
constexpr std::size_t triangle = order * (order + 1) / 2;

struct Case {
  Client clients;
  std::size_t before;     ///< numbers in front of the triangles
  std::size_t triangles;  ///< so many
};

/// What client u sends in round t: numbers whose sum depends on the order of adding, and Gram triangles.
Vector content(const Case& c, Client u, Round t) {
  AddressedRandom random(3, Purpose::experiment, static_cast<std::uint64_t>(u), static_cast<std::uint64_t>(t));
  Vector numbers(c.before);
  for (double& x : numbers) x = (random.uniform() - 0.5) * std::pow(10.0, 12 * random.uniform());
  for (std::size_t k = 0; k < c.triangles; ++k) {
    Vector row(order);
    for (double& x : row) x = random.uniform() - 0.3;
    for (std::size_t i = 0; i < order; ++i) {
      for (std::size_t j = i; j < order; ++j) numbers.push_back(row[i] * row[j]);
    }
  }
  return numbers;
}

/// The sum that one rank would form, adding to zero in client order.
Vector serial_sum(const Case& c, Round t, const Codec& codec) {
  const std::size_t length = c.before + c.triangles * triangle;
  Vector total(length, 0.0);
  std::vector<std::byte> message(codec.bytes(length));
  for (Client u = 0; u < c.clients; ++u) {
    Vector one(length);
    codec.encode(content(c, u, t), message);
    codec.decode(message, one);
    for (std::size_t i = 0; i < length; ++i) total[i] += one[i];
  }
  return total;
}

/// Rank 0's, everywhere else nothing.
Vector here(Vector expected) {
  return world().rank() == 0 ? expected : Vector();
}

class RootSums : public testing::TestWithParam<Case> {};

TEST_P(RootSums, AreThoseOfOneRankBitForBit) {
  const Case c = GetParam();
  Root root(world(), Layout(c.clients, world().size()));
  EXPECT_EQ(root.aggregates(), world().rank() == 0);
  const std::size_t length = c.before + c.triangles * triangle;
  std::int64_t uplink = 0;
  constexpr Round rounds = 3;
  for (Round t = 0; t < rounds; ++t) {
    EXPECT_TRUE(root.begin_round(t));
    std::size_t asked = 0;
    Released<Vector> own(declare_public(Vector()));
    const auto contribution = [&](std::size_t k) -> const Released<Vector>& {
      EXPECT_EQ(k, asked++);
      own.update([&](Vector& v) { v = content(c, root.first() + static_cast<Client>(k), t); });
      return own;
    };
    for (const char* how : {"double", "float32", "bits:7"}) {
      const auto codec = make_curvature_codec(how, c.before, order);
      asked = 0;
      EXPECT_EQ(root.sum(length, contribution, *codec).value(), here(serial_sum(c, t, *codec))) << how;
      EXPECT_EQ(asked, root.count());
      uplink += static_cast<std::int64_t>(codec->bytes(length));
    }
    asked = 0;
    Released<Vector> total = root.sum(length, contribution);
    EXPECT_EQ(total.value(), here(serial_sum(c, t, plain_codec())));
    uplink += static_cast<std::int64_t>(length * sizeof(double));
    if (world().rank() != 0) total.update([&](Vector& v) { v.assign(length, 0.0); });
    root.broadcast(total);
    EXPECT_EQ(total.value(), serial_sum(c, t, plain_codec()));
  }
  for (const EdgeTraffic& edge : root.edge_traffic()) {
    EXPECT_TRUE((edge.from == 0) != (edge.to == 0));
    const bool up = edge.to == 0;
    EXPECT_EQ(edge.messages, up ? 4 * rounds : rounds);
    EXPECT_EQ(edge.bytes, up ? uplink : rounds * static_cast<std::int64_t>(length * sizeof(double)));
  }
  const auto up_edges = static_cast<std::size_t>(root.aggregates() && c.clients > 0 ? root.count() - 1 : root.count());
  const auto down_edges = root.aggregates() ? static_cast<std::size_t>(c.clients - 1) : 0U;
  EXPECT_EQ(root.edge_traffic().size(), up_edges + down_edges);
  const auto clients = static_cast<std::int64_t>(root.count());
  const std::int64_t sent = root.aggregates() ? rounds * (world().size() - 1) : 4 * rounds * clients;
  EXPECT_EQ(root.wire_traffic().messages, sent);
}

// Fewer clients than ranks, as many, many; messages that travel at once and those that wait for their receiver.
INSTANTIATE_TEST_SUITE_P(Layouts, RootSums,
                         testing::Values(Case{1, 3, 1}, Case{2, 5, 0}, Case{7, 0, 2}, Case{7, 30'000, 1},
                                         Case{23, 4, 3}, Case{300, 9, 1}, Case{40, 5000, 0}),
                         [](const auto& row) {
                           return fmt::format("n{}_before{}_triangles{}", row.param.clients, row.param.before,
                                              row.param.triangles);
                         });

TEST_P(RootSums, OfWhatIsEntrustedAreTheSame) {
  const Case c = GetParam();
  Root root(world(), Layout(c.clients, world().size()));
  const std::size_t length = c.before + c.triangles * triangle;
  for (const char* how : {"double", "bits:9"}) {
    const auto codec = make_curvature_codec(how, c.before, order);
    Entrusted<Vector> own = Release::entrust({});
    const Secret<Vector> total = root.sum_entrusted(
        length,
        [&](std::size_t k) -> const Entrusted<Vector>& {
          own = Release::entrust(content(c, root.first() + static_cast<Client>(k), 4));
          return own;
        },
        *codec);
    EXPECT_EQ(Release::open(total), here(serial_sum(c, 4, *codec))) << how;
  }
}

/// Plain by its bits, and yet another object.
class AsPlain final : public Codec {
 public:
  [[nodiscard]] std::size_t bytes(std::size_t numbers) const override { return plain_codec().bytes(numbers); }
  void encode(View numbers, std::span<std::byte> message) const override { plain_codec().encode(numbers, message); }
  void decode(std::span<const std::byte> message, MutableView numbers) const override {
    plain_codec().decode(message, numbers);
  }
};

std::vector<std::uint64_t> bits_of(View numbers) {
  std::vector<std::uint64_t> bits;
  for (const double x : numbers) bits.push_back(std::bit_cast<std::uint64_t>(x));
  return bits;
}

// One rank adds what it has where it stands. That is the same sum, and the same count of what passes, as by messages;
// for numbers without a sum, too. (Of NaNs it is not said which: there is one kind of them.)
TEST_P(RootSums, WithoutMessagesAreThoseOfMessages) {
  const Case c = GetParam();
  Root direct(world(), Layout(c.clients, world().size()));
  Root by_message(world(), Layout(c.clients, world().size()));
  EXPECT_TRUE(direct.begin_round(0));
  const std::size_t length = c.before + c.triangles * triangle + 6;
  const Client first = direct.first();
  Released<Vector> own(declare_public(Vector()));
  const auto contribution = [&](std::size_t k) -> const Released<Vector>& {
    own.update([&](Vector& v) {
      const Client u = first + static_cast<Client>(k);
      v = content(c, u, 5);
      const double infinity = std::numeric_limits<double>::infinity();
      const double huge = u % 2 == 0 ? std::numeric_limits<double>::max() : -1e308;
      const double tiny = std::numeric_limits<double>::denorm_min() * (u + 1);
      v.insert(v.end(), {-0.0, infinity, u == 0 ? infinity : -infinity, huge, tiny, -tiny * u});
    });
    return own;
  };
  const AsPlain as_plain;
  Released<Vector> total(declare_public(Vector{1, 2, 3}));  // what it held does not count
  Released<Vector> other = total;
  for (int times = 0; times < 2; ++times) {
    direct.sum(length, contribution, total);
    by_message.sum(length, contribution, other, as_plain);
    EXPECT_EQ(total.value().size(), direct.aggregates() ? length : 0);
    EXPECT_EQ(bits_of(total.value()), bits_of(other.value()));
  }
  const std::vector<EdgeTraffic> edges = direct.edge_traffic();
  const std::vector<EdgeTraffic> other_edges = by_message.edge_traffic();
  ASSERT_EQ(edges.size(), other_edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    EXPECT_EQ(edges[i].from, other_edges[i].from);
    EXPECT_EQ(edges[i].to, other_edges[i].to);
    EXPECT_EQ(edges[i].messages, other_edges[i].messages);
    EXPECT_EQ(edges[i].bytes, other_edges[i].bytes);
  }
  EXPECT_EQ(direct.wire_traffic().bytes, by_message.wire_traffic().bytes);
}

std::uint64_t word(Client u, std::size_t i) {
  return AddressedRandom(8, Purpose::experiment, static_cast<std::uint64_t>(u), i).below(0x7fff'ffff'ffff'ffff) * 2 + 1;
}

TEST_P(RootSums, OfMaskedWordsAreModulo64Bits) {
  const Case c = GetParam();
  Root root(world(), Layout(c.clients, world().size()));
  const std::size_t length = c.before + 1;
  std::vector<std::uint64_t> expected(root.aggregates() ? length : 0);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (Client u = 0; u < c.clients; ++u) expected[i] += word(u, i);
  }
  Masked own = Release::mask({});
  const auto total = root.sum_masked(length, [&](std::size_t k) -> const Masked& {
    std::vector<std::uint64_t> words(length);
    for (std::size_t i = 0; i < length; ++i) words[i] = word(root.first() + static_cast<Client>(k), i);
    own = Release::mask(words);
    return own;
  });
  EXPECT_EQ(total, expected);
}

TEST(RootDoor, MissingSharesAreNamed) {
  Root root(world(), Layout(6, world().size()));
  const Masked share = Release::mask({1, 2});
  const Masked none = Release::mask({});
  const auto contribution = [&](std::size_t k) -> const Masked& {
    const Client u = root.first() + static_cast<Client>(k);
    return u == 2 || u == 5 ? none : share;
  };
  EXPECT_TRUE(root.begin_round(6));
  const std::string message =
      testing_support::message_of<FailureError>([&] { return root.sum_masked(2, contribution); });
  if (!root.aggregates()) {
    EXPECT_EQ(message, "");
    return;
  }
  const Layout layout(6, world().size());
  EXPECT_THAT(message, HasSubstr("round 7: 4 of 6 masked shares"));
  for (const Client u : {2, 5}) {
    EXPECT_THAT(message, HasSubstr(fmt::format("client {} (rank {})", u, layout.rank_of(u))));
  }
}

TEST(RootDoor, AContributionOfAnotherLengthIsAFault) {
  Root root(world(), Layout(1, world().size()));
  const Released<Vector> own(declare_public(Vector(3)));
  const std::string message = testing_support::message_of<FailureError>(
      [&] { return root.sum(2, [&](std::size_t) -> const Released<Vector>& { return own; }); });
  if (root.aggregates()) {
    EXPECT_THAT(message, HasSubstr("client 0 contributes 3 numbers to a sum of 2"));
  }
}

// A contribution larger than what may be under way at a time: two buffers take turns.
TEST(RootDoor, LargeContributionsTakeTurns) {
  const Case c{9, std::size_t{3} << 19, 0};
  Root root(world(), Layout(c.clients, world().size()));
  Released<Vector> own(declare_public(Vector(c.before)));
  const Released<Vector> total = root.sum(c.before, [&](std::size_t k) -> const Released<Vector>& {
    own.update([&](Vector& v) { v.assign(c.before, 1.0 + root.first() + static_cast<double>(k)); });
    return own;
  });
  EXPECT_EQ(total.value(), here(Vector(c.before, 45.0)));
}

// Where no client contributes anything, there is nothing to add.
TEST(RootDoor, EmptySumsPass) {
  Root root(world(), Layout(5, world().size()));
  const Released<Vector> own(declare_public(Vector()));
  EXPECT_EQ(root.sum(0, [&](std::size_t) -> const Released<Vector>& { return own; }).value(), Vector());
  Released<Vector> none(declare_public(Vector()));
  root.broadcast(none);
  EXPECT_EQ(none.value(), Vector());
}

}  // namespace starling::root_test
