#include "core/random.hpp"
#include "net/agreement.hpp"
#include "net/neighbours/neighbours.hpp"
#include "net/root/root.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::exchange_test {

using testing_support::world;

/// A random digraph on n clients, the same on every rank.
std::vector<Links> random_graph(Client n, std::uint64_t seed, Round t) {
  AddressedRandom random(seed, Purpose::experiment, 0, static_cast<std::uint64_t>(t));
  std::vector<Links> links(static_cast<std::size_t>(n));
  for (Client u = 0; u < n; ++u) {
    for (Client v = 0; v < n; ++v) {
      if (u == v || random.uniform() > 0.3) continue;
      links[static_cast<std::size_t>(u)].out.push_back({v, 0.25});
      links[static_cast<std::size_t>(v)].in.push_back({u, 0.25});
    }
  }
  return links;
}

/// What client u sends in round t, entry i.
double content(Client u, Round t, std::size_t i) {
  return 1e6 * u + 1e3 * static_cast<double>(t) + static_cast<double>(i);
}

struct Case {
  Client clients;
  std::size_t length;
  bool changing;
};

class Exchange : public testing::TestWithParam<Case> {};

TEST_P(Exchange, DeliversEverySendersVectorToItsOutNeighbours) {
  const Case c = GetParam();
  const Layout layout(c.clients, world().size());
  Neighbours neighbours(world(), layout, c.length);
  const std::size_t count = neighbours.count();
  Released<Columns> outgoing(declare_public(Columns(c.length, count)));
  std::optional<Neighbours::Plan> plan;
  std::vector<Links> own;
  std::int64_t wrong = 0;
  std::int64_t expected_messages = 0;
  constexpr Round rounds = 50;
  for (Round t = 0; t < rounds; ++t) {
    EXPECT_TRUE(neighbours.begin_round(t));
    if (!plan || c.changing) {
      const auto all = random_graph(c.clients, 7, c.changing ? t : 0);
      own.assign(all.begin() + neighbours.first(), all.begin() + neighbours.first() + static_cast<Client>(count));
      plan.emplace(neighbours.plan(own, c.changing ? PlanUse::changing_graph : PlanUse::fixed_graph));
    }
    outgoing.update([&](Columns& block) {
      for (std::size_t k = 0; k < count; ++k) {
        for (std::size_t i = 0; i < c.length; ++i) {
          block[k][i] = content(neighbours.first() + static_cast<Client>(k), t, i);
        }
      }
    });
    neighbours.exchange(t, *plan, outgoing);
    for (std::size_t k = 0; k < count; ++k) {
      expected_messages += static_cast<std::int64_t>(own[k].out.size());
      for (std::size_t j = 0; j < own[k].in.size(); ++j) {
        const View got = neighbours.received(*plan)(k, j);
        for (std::size_t i = 0; i < c.length; ++i) wrong += got[i] != content(own[k].in[j].peer, t, i) ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(wrong, 0);
  plan.reset();
  std::int64_t messages = 0;
  for (const EdgeTraffic& edge : neighbours.edge_traffic()) {
    messages += edge.messages;
    EXPECT_EQ(edge.bytes, edge.messages * static_cast<std::int64_t>(c.length * sizeof(double)));
    if (!c.changing) {
      EXPECT_EQ(edge.messages, rounds);
    }
  }
  EXPECT_EQ(messages, expected_messages);
  if (world().size() == 1) {
    EXPECT_EQ(neighbours.wire_traffic().messages, 0) << "edges inside a rank are memory";
  }
}

// Lengths on both sides of the switch to persistent requests; clients fewer than, as many as, more than ranks.
INSTANTIATE_TEST_SUITE_P(Layouts, Exchange,
                         testing::Values(Case{1, 3, false}, Case{5, 6, false}, Case{7, 6, true}, Case{8, 101, false},
                                         Case{8, 5000, false}, Case{13, 5000, true}, Case{23, 3, false}),
                         [](const auto& row) {
                           return fmt::format("n{}_length{}_{}", row.param.clients, row.param.length,
                                              row.param.changing ? "changing" : "fixed");
                         });

TEST(Plan, RefusesNeighboursOutOfOrderAndClientsWithoutLinks) {
  const Layout layout(4 * world().size(), world().size());
  Neighbours neighbours(world(), layout, 3);
  const auto refusal = [&](const std::vector<Links>& links) {
    return testing_support::message_of([&] { return neighbours.plan(links, PlanUse::fixed_graph); });
  };
  const Client me = neighbours.first() + 2;
  for (const bool out : {true, false}) {
    for (const std::vector<Arc>& arcs : {std::vector<Arc>{{1, 0.5}, {0, 0.5}}, std::vector<Arc>{{1, 0.5}, {1, 0.5}}}) {
      std::vector<Links> links(4);
      (out ? links[2].out : links[2].in) = arcs;
      EXPECT_EQ(refusal(links), fmt::format("the neighbours of client {} do not ascend: each comes once, in the order "
                                            "of their numbers.",
                                            me));
    }
  }
  EXPECT_EQ(refusal(std::vector<Links>(3)), "the links of 3 clients of 4: each of a rank's needs its own.");
}

TEST(RootDoor, Broadcasts) {
  Root root(world(), Layout(11, world().size()));
  Released<Vector> value(declare_public(Vector{world().rank() + 1.0, -2.0}));
  root.broadcast(value);
  EXPECT_EQ(value.value(), (Vector{1.0, -2.0}));
}

}  // namespace starling::exchange_test
