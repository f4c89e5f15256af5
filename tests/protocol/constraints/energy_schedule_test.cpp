/// Energy budgets: the number of messages of a client in the long run, and agreement of both ends of an edge.
#include "protocol/constraints/energy_schedule.hpp"

#include <cmath>
#include <map>

#include "graph/topology.hpp"
#include "privacy/ledger/accounts.hpp"
#include "support/testing.hpp"

namespace starling::energy_schedule_test {

/// Adds messages up from the rows of all clients; checks that receivers expect exactly what is sent, and that nobody's
/// mass gets lost.
std::map<Client, std::int64_t> count_messages(const EnergySchedule& schedule, Round rounds) {
  std::map<Client, std::int64_t> messages;
  for (Round t = 0; t < rounds; ++t) {
    std::map<std::pair<Client, Client>, double> sent;
    for (Client u = 0; u < schedule.clients(); ++u) {
      const Links row = schedule.links(u, t);
      messages[u] += static_cast<std::int64_t>(row.out.size());
      double total = row.own;
      for (const Arc& arc : row.out) {
        sent[{u, arc.peer}] = arc.weight;
        total += arc.weight;
      }
      EXPECT_NEAR(total, 1, 1e-12);
    }
    for (Client u = 0; u < schedule.clients(); ++u) {
      for (const Arc& arc : schedule.links(u, t).in) {
        const auto found = sent.find({arc.peer, u});
        EXPECT_TRUE(found != sent.end() && found->second == arc.weight) << arc.peer << " -> " << u << " in " << t;
        if (found != sent.end()) sent.erase(found);
      }
    }
    EXPECT_TRUE(sent.empty()) << "a message that nobody waits for, in round " << t;
  }
  return messages;
}

const char* changing =
    "clients 4\nweights sender\nphase 2\nedge 0 1\nedge 0 2\nedge 1 2\nedge 2 3\nedge 3 0\n"
    "phase 1\nedge 0 3\nedge 3 1\nedge 3 2\nedge 3 0\nedge 1 0\nedge 2 0\n";

TEST(Energy, NobodySpendsMoreThanTheBudgetAndAConstant) {
  for (const double budget : {0.3, 1.0, 1.7}) {
    for (const bool fixed : {true, false}) {
      const Topology inner = fixed ? topology_of(*topology_table().make("complete", 4, WeightRule::sender))
                                   : Topology::parse(changing, "changing");
      const EnergySchedule schedule(inner, {"energy", 0.5, 0.125, budget}, 8, 1, 1);  // a message costs 1.5
      const Round rounds = 3000;
      const auto messages = count_messages(schedule, rounds);
      for (const auto& [u, count] : messages) {
        const double spent = 1.5 * static_cast<double>(count);
        EXPECT_LE(spent, budget * rounds + 3 * 1.5);
        EXPECT_GT(spent, 0.3 * budget * rounds) << "client " << u;
        EXPECT_EQ(schedule.messages(u, rounds), count);
        EXPECT_NEAR(schedule.violation(u, rounds), spent - budget * rounds, 1e-9);
      }
    }
  }
}

TEST(Energy, AccountsFollowTheirRule) {
  const auto inner = topology_table().make("complete", 3, WeightRule::sender);  // two messages a round
  const EnergySchedule schedule(*inner, {"energy", 1, 0, 0.75}, 24, 1, 1);
  double dual = 0;
  std::int64_t messages = 0;
  std::int64_t waited = 0;
  for (Round t = 0; t < 2000; ++t) {
    EXPECT_EQ(schedule.dual(1, t), dual);
    EXPECT_EQ(schedule.messages(1, t), messages);
    const auto sent = static_cast<std::int64_t>(schedule.links(1, t).out.size());
    EXPECT_TRUE(sent == 0 || (sent == 2 && dual == 0));
    EXPECT_EQ(schedule.links(1, t).own, sent > 0 ? inner->links(1, 0).own : 1);
    waited += dual == 0 && sent == 0 ? 1 : 0;
    messages += sent;
    dual = std::max(0.0, dual + static_cast<double>(sent) - 0.75);
  }
  // Coins: as many rounds are waited as there are cycles, ± 5 standard deviations (√2 each).
  const double cycles = static_cast<double>(messages) / 2;
  EXPECT_NEAR(static_cast<double>(waited), cycles, 5 * std::sqrt(2 * cycles));
  const EnergySchedule again(*inner, {"energy", 1, 0, 0.75}, 24, 1, 1);
  EXPECT_EQ(schedule.messages(1, 300), again.messages(1, 300));  // asked for an earlier round
}

// Accounts that repeat every two or four rounds on a graph that repeats every two: each edge is used all the same.
TEST(Energy, ClientsDoNotKeepStepWithTheGraph) {
  const Topology inner = Topology::parse(
      "clients 3\nweights sender\nphase 1\nedge 0 1\nedge 1 2\nedge 2 0\nphase 1\n"
      "edge 0 2\nedge 2 1\nedge 1 0\n",
      "alternating");
  for (const double budget : {0.5, 0.25}) {
    const EnergySchedule schedule(inner, {"energy", 1, 0, budget}, 24, 1, 1);
    std::map<std::pair<Client, Client>, int> uses;
    for (Round t = 0; t < 400; ++t) {
      for (Client u = 0; u < 3; ++u) {
        for (const Arc& arc : schedule.links(u, t).out) ++uses[{u, arc.peer}];
      }
    }
    EXPECT_EQ(uses.size(), 6U);
    for (const auto& [edge, count] : uses) EXPECT_GT(count, 15) << edge.first << " -> " << edge.second;
  }
}

TEST(Energy, ARoundsBudgetIsForAllItsExchanges) {
  const auto inner = topology_table().make("complete", 3, WeightRule::sender);
  const EnergySchedule schedule(*inner, {"energy", 1, 0, 4}, 24, 4, 1);  // a step has 1
  EXPECT_EQ(schedule.period(), 0);
  count_messages(schedule, 400);
  EXPECT_LE(schedule.messages(0, 400), 400 + 2);
  EXPECT_EQ(schedule.violation(0, 4), static_cast<double>(schedule.messages(0, 4)) - 4);
}

TEST(Energy, AnAmpleBudgetChangesNothing) {
  const auto inner = topology_table().make("directed-ring", 5, WeightRule::sender);
  const EnergySchedule schedule(*inner, {"energy", 1, 0, 1}, 24, 1, 1);
  for (Round t = 0; t < 50; ++t) {
    for (Client u = 0; u < 5; ++u) EXPECT_EQ(schedule.links(u, t), inner->links(u, t));
  }
}

}  // namespace starling::energy_schedule_test
