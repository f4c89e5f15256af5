// Departures that leave the other clients in pieces, against reachability by brute force.
#include "graph/analysis/separation.hpp"

#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::separation_test {

/// Departures of some clients out of n.
Departures leave(std::size_t n, const std::vector<std::pair<Client, Round>>& who) {
  Departures departures(n);
  for (const auto& [u, round] : who) departures[static_cast<std::size_t>(u)] = round;
  return departures;
}

SeparationCheck checked(const Topology& topology, const Departures& departures) {
  return check_departures(GraphSample(topology), departures);
}

using Parts = std::vector<std::vector<Client>>;

TEST(Separation, OfAPathIsFoundWhenItsMiddleGoes) {
  const Topology path(5, WeightRule::sender, {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}, {3, 4}, {4, 3}}, {});
  const auto found = checked(path, leave(5, {{0, 3}, {2, 7}}));
  ASSERT_TRUE(found.first.has_value());
  EXPECT_EQ(found.first->round, 7);
  EXPECT_EQ(found.first->leaving, (std::vector<Client>{2}));
  EXPECT_EQ(found.first->components, (Parts{{1}, {3, 4}}));
  EXPECT_FALSE(checked(path, leave(5, {{0, 3}, {4, 7}})).first.has_value()) << "ends may go";
  EXPECT_FALSE(checked(path, leave(5, {{0, 3}, {1, 3}, {2, 3}, {3, 9}})).first.has_value())
      << "one is always connected";
  EXPECT_FALSE(checked(path, leave(5, {})).first.has_value());
}

// The earliest is named, with all who leave in its round.
TEST(Separation, OfAOneWayRingIsIntoSingleClients) {
  const Topology ring(4, WeightRule::sender, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, {});
  const auto found = checked(ring, leave(4, {{3, 9}, {1, 2}}));
  ASSERT_TRUE(found.first.has_value());
  EXPECT_EQ(found.first->round, 2);
  EXPECT_EQ(found.first->components, (Parts{{0}, {2}, {3}}));
  const auto two = checked(ring, leave(4, {{1, 2}, {0, 2}}));
  ASSERT_TRUE(two.first.has_value());
  EXPECT_EQ(two.first->leaving, (std::vector<Client>{0, 1}));
}

// Random digraphs of several phases: components are the classes of mutual reachability.
TEST(Separation, AgreesWithReachability) {
  int separated = 0;
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    AddressedRandom random(17, Purpose::experiment, trial, 0);
    const auto n = static_cast<Client>(3 + random.below(6));
    const auto size = static_cast<std::size_t>(n);
    std::vector<Edge> edges;
    std::vector<std::vector<bool>> reach(size, std::vector<bool>(size));
    std::vector<char> here(size, 1);
    const auto gone = static_cast<Client>(random.below(size));
    here[static_cast<std::size_t>(gone)] = 0;
    for (Client u = 0; u < n; ++u) {
      for (Client v = 0; v < n; ++v) {
        if (u == v || random.uniform() > 0.3) continue;
        edges.push_back({u, v});
        reach[static_cast<std::size_t>(u)][static_cast<std::size_t>(v)] = u != gone && v != gone;
      }
    }
    if (edges.empty()) continue;
    for (std::size_t k = 0; k < size; ++k) {
      reach[k][k] = true;
      for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j) reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
      }
    }
    Parts expected;
    for (std::size_t u = 0; u < size; ++u) {
      if (here[u] == 0) continue;
      std::vector<Client> part;
      for (std::size_t v = 0; v < size; ++v) {
        if (here[v] != 0 && reach[u][v] && reach[v][u]) part.push_back(static_cast<Client>(v));
      }
      if (part.front() == static_cast<Client>(u)) expected.push_back(part);
    }
    const auto found = checked(Topology(n, WeightRule::sender, edges, {}), leave(size, {{gone, 1}}));
    ASSERT_EQ(found.first.has_value(), expected.size() > 1) << trial;
    if (!found.first) continue;
    EXPECT_EQ(found.first->components, expected) << trial;
    ++separated;
  }
  EXPECT_GT(separated, 30);
  EXPECT_LT(separated, 270);
}

// What one phase lacks another may have.
TEST(Separation, CountsTheUnionOfAllPhases) {
  testing_support::TemporaryFolder folder;
  const std::string file = folder.write("g.topo",
                                        "clients 4\nweights sender\nphase 1\nedge 0 1\nedge 1 0\nedge 2 3\nedge 3 2\n"
                                        "phase 1\nedge 1 2\nedge 2 1\nedge 0 3\nedge 3 0\n");
  const Topology square = Topology::read(file);
  EXPECT_FALSE(checked(square, leave(4, {{0, 5}})).first.has_value()) << "1, 2, 3 are a path over both phases";
  EXPECT_TRUE(checked(square, leave(4, {{0, 5}, {2, 5}})).first.has_value());
}

}  // namespace starling::separation_test
