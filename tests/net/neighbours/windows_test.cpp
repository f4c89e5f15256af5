#include <chrono>
#include <gmock/gmock.h>
#include <optional>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "core/random.hpp"
#include "net/agreement.hpp"
#include "net/neighbours/neighbours.hpp"
#include "support/mpi_testing.hpp"
#include "support/sanitized.hpp"
#include "support/testing.hpp"

namespace starling::windows_test {

using testing_support::world;

/// Of client u among n clients in round t.
using Graph = std::function<Links(Client u, Client n, Round t)>;

bool has_arc(Client from, Client to, Round t) {
  AddressedRandom random(11, Purpose::experiment, static_cast<std::uint64_t>(from) << 20 | static_cast<unsigned>(to),
                         static_cast<std::uint64_t>(t));
  return from != to && random.uniform() < 0.4;
}

Links random_links(Client u, Client n, Round t) {
  Links links;
  for (Client v = 0; v < n; ++v) {
    if (has_arc(u, v, t)) links.out.push_back({v, 0.1});
    if (has_arc(v, u, t)) links.in.push_back({v, 0.1});
  }
  return links;
}

/// Client 0 sends to all and hears from nobody: nothing but the windows holds it back.
Links star(Client u, Client n, Round) {
  Links links;
  for (Client v = 1; u == 0 && v < n; ++v) links.out.push_back({v, 0.1});
  if (u > 0) links.in.push_back({0, 0.1});
  return links;
}

Links complete(Client u, Client n, Round) {
  Links links;
  for (Client v = 0; v < n; ++v) {
    if (v == u) continue;
    links.out.push_back({v, 0.1});
    links.in.push_back({v, 0.1});
  }
  return links;
}

/// What client u sends in round t, entry i.
double content(Client u, Round t, std::size_t i) {
  return 1e6 * u + 1e3 * static_cast<double>(t) + static_cast<double>(i);
}

/// Who takes his time in a round, now and then.
enum class Slow { nobody, writers, readers };

struct Case {
  const char* name;
  Graph graph;
  bool changing;
  Client clients;
  std::size_t length;
  Slow slow;
  bool in_place;  ///< vectors are written where the door says
};

class WindowExchange : public testing::TestWithParam<Case> {
 protected:
  /// Fewer of blocks so long that there is one of them.
  const Round rounds = GetParam().length > 100'000 ? 12 : 40;

  /// Plays all rounds; counts entries that are not what was sent.
  std::int64_t wrong_entries(Neighbours& neighbours, const Layout& layout) const {
    const Case& c = GetParam();
    Released<Columns> elsewhere(declare_public(Columns(c.length, neighbours.count())));
    std::optional<Neighbours::Plan> plan;
    std::vector<Links> own(neighbours.count());
    std::int64_t wrong = 0;
    for (Round t = 0; t < rounds && neighbours.count() > 0; ++t) {
      EXPECT_TRUE(neighbours.begin_round(t));
      for (std::size_t k = 0; k < own.size(); ++k) {
        own[k] = c.graph(neighbours.first() + static_cast<Client>(k), layout.clients(), c.changing ? t : 0);
      }
      if (!plan) {
        plan.emplace(neighbours.plan(own, c.changing ? PlanUse::changing_graph : PlanUse::fixed_graph));
      } else if (c.changing) {
        neighbours.plan_again(*plan, own);
      }
      dawdle(Slow::writers, t);
      Released<Columns>& outgoing = c.in_place ? neighbours.outgoing(t, *plan) : elsewhere;
      outgoing.update([&](Columns& block) {
        for (std::size_t k = 0; k < own.size(); ++k) {
          for (std::size_t i = 0; i < c.length; ++i) {
            block[k][i] = content(neighbours.first() + static_cast<Client>(k), t, i);
          }
        }
      });
      neighbours.exchange(t, *plan, outgoing);
      dawdle(Slow::readers, t);
      for (std::size_t k = 0; k < own.size(); ++k) {
        for (std::size_t j = 0; j < own[k].in.size(); ++j) {
          const View got = neighbours.received(*plan)(k, j);
          for (std::size_t i = 0; i < c.length; ++i) wrong += got[i] != content(own[k].in[j].peer, t, i) ? 1 : 0;
        }
      }
    }
    return wrong;
  }

 private:
  static void dawdle(Slow who, Round t) {
    if (GetParam().slow != who) return;
    AddressedRandom random(5, Purpose::experiment, static_cast<std::uint64_t>(world().rank()),
                           static_cast<std::uint64_t>(t));
    if (random.uniform() < 0.2) std::this_thread::sleep_for(std::chrono::microseconds(2000));
  }
};

// The same vectors and the same traffic as by messages.
TEST_P(WindowExchange, DeliversWhatWasSent) {
  const Layout layout(GetParam().clients, world().size());
  Neighbours by_messages(world(), layout, GetParam().length, ExchangeWay::messages);
  Neighbours by_windows(world(), layout, GetParam().length, ExchangeWay::windows);
  EXPECT_FALSE(by_messages.has_windows());
  EXPECT_EQ(by_windows.has_windows(), world().size() > 1);
  EXPECT_EQ(wrong_entries(by_messages, layout), 0);
  EXPECT_EQ(wrong_entries(by_windows, layout), 0);
  EXPECT_EQ(by_windows.wire_traffic().messages, by_messages.wire_traffic().messages);
  EXPECT_EQ(by_windows.wire_traffic().bytes, by_messages.wire_traffic().bytes);
  const auto expected = by_messages.edge_traffic();
  const auto found = by_windows.edge_traffic();
  EXPECT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    EXPECT_EQ(std::tuple(found[i].from, found[i].to, found[i].messages, found[i].bytes),
              std::tuple(expected[i].from, expected[i].to, expected[i].messages, expected[i].bytes));
  }
}

// Clients fewer than, as many as, more than ranks.
INSTANTIATE_TEST_SUITE_P(
    Graphs, WindowExchange,
    testing::Values(Case{"fixed", random_links, false, 7, 33, Slow::nobody, true},
                    Case{"copied", random_links, false, 8, 5000, Slow::nobody, false},
                    Case{"changing", random_links, true, 13, 700, Slow::nobody, true},
                    Case{"changing_slow_writers", random_links, true, 9, 1000, Slow::writers, true},
                    Case{"changing_slow_readers", random_links, true, 9, 1000, Slow::readers, true},
                    Case{"complete", complete, false, 4, 20'000, Slow::nobody, true},
                    Case{"complete_slow_readers", complete, false, 7, 3, Slow::readers, true},
                    Case{"star_slow_readers", star, false, 7, 3000, Slow::readers, true},
                    Case{"star_slow_writers", star, false, 14, 3000, Slow::writers, false},
                    Case{"one_long_block", complete, false, 2, 530'000, Slow::nobody, true},
                    Case{"one_long_block_slow_readers", star, true, 3, 530'000, Slow::readers, true},
                    Case{"one_long_block_copied", complete, false, 2, 530'000, Slow::writers, false},
                    Case{"alone", complete, false, 1, 10, Slow::nobody, true}),
    [](const auto& row) { return row.param.name; });

// A writer that waits for nobody's vectors is two rounds ahead of its slowest reader at most.
TEST(Windows, HoldAWriterBack) {
  if (world().size() < 2) GTEST_SKIP() << "one rank has nobody to wait for";
  const Layout layout(world().size(), world().size());
  Neighbours neighbours(world(), layout, 8, ExchangeWay::windows);
  const std::vector<Links> own{star(neighbours.first(), layout.clients(), 0)};
  Neighbours::Plan plan = neighbours.plan(own, PlanUse::fixed_graph);
  for (Round t = 0; t < 40; ++t) {
    if (world().rank() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Released<Columns>& outgoing = neighbours.outgoing(t, plan);
    outgoing.update([&](Columns& block) { block[0][0] = static_cast<double>(t); });
    neighbours.exchange(t, plan, outgoing);
    if (world().rank() > 0) {
      EXPECT_EQ(neighbours.received(plan)(0, 0)[0], static_cast<double>(t));
    }
  }
  Agreement(world()).barrier();
}

/// Numbers of a vector that makes a long block by itself.
constexpr std::size_t long_length = (std::size_t{4} << 20) / sizeof(double);

/// A client on each rank of a fixed graph.
struct OneEach {
  OneEach(const Graph& graph, std::size_t length)
      : own{graph(world().rank(), world().size(), 0)},
        neighbours(world(), Layout(world().size(), world().size()), length, ExchangeWay::windows),
        plan(neighbours.plan(own, PlanUse::fixed_graph)) {}
  std::vector<Links> own;
  Neighbours neighbours;
  Neighbours::Plan plan;
};

// Two short blocks, so that nobody waits for a reader of the last exchange; one long one, for its room.
TEST(Windows, HaveOneBlockIfItIsLong) {
  if (world().size() < 2) GTEST_SKIP() << "one rank has no windows";
  for (const std::size_t length : {long_length - 1, long_length}) {
    OneEach ranks(complete, length);
    auto& [own, neighbours, plan] = ranks;
    std::vector<const double*> blocks;
    for (Round t = 0; t < 3; ++t) {
      Released<Columns>& outgoing = neighbours.outgoing(t, plan);
      blocks.push_back(outgoing.value().flat().data());
      neighbours.exchange(t, plan, outgoing);
    }
    EXPECT_EQ(blocks[0] == blocks[1], length == long_length);
    EXPECT_EQ(blocks[0], blocks[2]);
  }
}

// A writer goes on once its readers say that they have finished, wherever they wait then. (If it did not, this would
// end by the watchdog: readers wait in the barrier for a writer that waits for them.)
TEST(Windows, AreFreeOnceTheirReadersHaveFinished) {
  if (world().size() < 2) GTEST_SKIP() << "one rank has nobody to wait for";
  OneEach ranks(star, long_length);
  auto& [own, neighbours, plan] = ranks;
  for (Round t = 0; t < 3; ++t) {
    if (world().rank() > 0 && t > 0) Agreement(world()).barrier();
    Released<Columns>& outgoing = neighbours.outgoing(t, plan);
    if (world().rank() == 0 && t > 0) Agreement(world()).barrier();
    outgoing.update([&](Columns& block) { block[0][long_length - 1] = static_cast<double>(t); });
    neighbours.exchange(t, plan, outgoing);
    if (world().rank() > 0) {
      EXPECT_EQ(neighbours.received(plan)(0, 0)[long_length - 1], static_cast<double>(t));
    }
    neighbours.finish_reading();
  }
}

/// Whether the system has memory for the page of this number.
bool takes_memory(const double* number) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const char* const place = reinterpret_cast<const char*>(number);
  unsigned char state = 0;
  const char* const begin = place - reinterpret_cast<std::uintptr_t>(place) % page;
  return ::mincore(const_cast<char*>(begin), 1, &state) == 0 && (state & 1) != 0;
}

// Who says too early that it has finished, once it has asked for the next block, is not believed.
TEST(Windows, StayUntilTheirReadersHaveHadThem) {
  if (world().size() < 2) GTEST_SKIP() << "one rank has no windows";
  OneEach ranks(star, long_length);
  auto& [own, neighbours, plan] = ranks;
  for (Round t = 0; t < 4; ++t) {
    Released<Columns>& outgoing = neighbours.outgoing(t, plan);
    neighbours.finish_reading();
    outgoing.update([&](Columns& block) { block[0][7] = static_cast<double>(t); });
    neighbours.exchange(t, plan, outgoing);
    if (world().rank() == 0) continue;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(neighbours.received(plan)(0, 0)[7], static_cast<double>(t));
  }
  Agreement(world()).barrier();
}

TEST(Windows, GiveTheirRoomBackOnceAllHaveReadThem) {
  if (world().size() < 2) GTEST_SKIP() << "one rank has no windows";
  for (const std::size_t length : {long_length / 8, long_length}) {
    OneEach ranks(complete, length);
    auto& [own, neighbours, plan] = ranks;
    std::vector<const double*> blocks;
    for (Round t = 0; t < 3; ++t) {
      Released<Columns>& outgoing = neighbours.outgoing(t, plan);
      outgoing.update([&](Columns& block) { block[0][length / 2] = content(world().rank(), t, 0); });
      neighbours.exchange(t, plan, outgoing);
      blocks.push_back(outgoing.value().flat().data());
      if (world().rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      for (std::size_t j = 0; j < own[0].in.size(); ++j) {
        EXPECT_EQ(neighbours.received(plan)(0, j)[length / 2], content(own[0].in[j].peer, t, 0));
      }
    }
    for (const double* block : blocks) EXPECT_TRUE(takes_memory(block + length / 2));
    Agreement(world()).barrier();
    neighbours.give_back_room();
    for (const double* block : blocks) EXPECT_FALSE(takes_memory(block + length / 2));
    Agreement(world()).barrier();
  }
}

// Vectors that are each edge's own go as messages through the same door.
TEST(Windows, LeaveTheVectorsOfEdgesToMessages) {
  const Layout layout(world().size(), world().size());
  Neighbours neighbours(world(), layout, 6, ExchangeWay::windows);
  const Client me = neighbours.first();
  const std::vector<Links> own{complete(me, layout.clients(), 0)};
  Neighbours::Plan per_edge = neighbours.plan(own, PlanUse::fixed_graph, Parcels::per_edge);
  Neighbours::Plan per_sender = neighbours.plan(own, PlanUse::fixed_graph);
  for (Round t = 0; t < 20; ++t) {
    Released<Columns>& of_edges = neighbours.outgoing(t, per_edge);
    of_edges.update([&](Columns& block) {
      for (std::size_t j = 0; j < own[0].out.size(); ++j) block[j][5] = content(me, t, 10 * j);
    });
    neighbours.exchange(t, per_edge, of_edges);
    for (std::size_t j = 0; j < own[0].in.size(); ++j) {
      const Client peer = own[0].in[j].peer;
      const std::size_t place = static_cast<std::size_t>(me < peer ? me : me - 1);  // of this client there
      EXPECT_EQ(neighbours.received(per_edge)(0, j)[5], content(peer, t, 10 * place));
    }
    Released<Columns>& of_senders = neighbours.outgoing(t, per_sender);
    of_senders.update([&](Columns& block) { block[0][5] = content(me, t, 5); });
    neighbours.exchange(t, per_sender, of_senders);
    for (std::size_t j = 0; j < own[0].in.size(); ++j) {
      EXPECT_EQ(neighbours.received(per_sender)(0, j)[5], content(own[0].in[j].peer, t, 5));
    }
  }
}

// Who gives the block other storage loses speed, not the vectors.
TEST(Windows, TakeABlockWithOtherStorage) {
  const Layout layout(world().size(), world().size());
  Neighbours neighbours(world(), layout, 6, ExchangeWay::windows);
  const std::vector<Links> own{complete(neighbours.first(), layout.clients(), 0)};
  Neighbours::Plan plan = neighbours.plan(own, PlanUse::fixed_graph);
  for (Round t = 0; t < 6; ++t) {
    Released<Columns>& outgoing = neighbours.outgoing(t, plan);
    outgoing.update([&](Columns& block) {
      if (t == 2) block = Columns(6, 1);
      block[0][3] = content(neighbours.first(), t, 3);
    });
    neighbours.exchange(t, plan, outgoing);
    for (std::size_t j = 0; j < own[0].in.size(); ++j) {
      EXPECT_EQ(neighbours.received(plan)(0, j)[3], content(own[0].in[j].peer, t, 3));
    }
  }
}

TEST(Windows, AreChosenWhereSeveralRanksShareAHost) {
  const Layout layout(world().size(), world().size());
  const bool several = world().size() > 1;
  EXPECT_EQ(Neighbours(world(), layout, 1, ExchangeWay::automatic).has_windows(), several);
  EXPECT_FALSE(Neighbours(world(), layout, 1, ExchangeWay::messages).has_windows());
  EXPECT_FALSE(Neighbours(world(), layout, 1).has_windows()) << "only where it is asked for";
}

/// This process has little of something while it is there.
class Limited {
 public:
  Limited(__rlimit_resource resource, rlim_t most) : resource_(resource) {
    getrlimit(resource_, &before_);
    rlimit less = before_;
    less.rlim_cur = most;
    setrlimit(resource_, &less);
  }
  ~Limited() { setrlimit(resource_, &before_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

struct Limit {
  const char* name;
  __rlimit_resource resource;
  rlim_t most;
  const char* told;
};

class LimitedWindows : public testing::TestWithParam<Limit> {};

// One rank gets no memory to share: all let vectors go as messages, and all say so.
TEST_P(LimitedWindows, GiveWayToMessagesOnAllRanksTogether) {
  if (world().size() < 2) GTEST_SKIP() << "one rank shares with nobody";
  if (testing_support::sanitized && GetParam().resource == RLIMIT_NOFILE)
    GTEST_SKIP() << "sanitizers open files to look";
  const Layout layout(world().size(), world().size());
  const int last = world().size() - 1;
  std::optional<Limited> limited;
  if (world().rank() == last) limited.emplace(GetParam().resource, GetParam().most);
  Neighbours neighbours(world(), layout, 4096, ExchangeWay::automatic);
  limited.reset();
  EXPECT_FALSE(neighbours.has_windows());
  EXPECT_THAT(neighbours.note(), testing::HasSubstr(fmt::format("as messages between the ranks of a host: rank {}: "
                                                                "the system",
                                                                last)));
  EXPECT_THAT(neighbours.note(), testing::HasSubstr(GetParam().told));
  for (const std::string& theirs : Agreement(world()).all_gather(declare_public(neighbours.note()))) {
    EXPECT_EQ(theirs, neighbours.note());
  }
  const std::vector<Links> own{complete(neighbours.first(), layout.clients(), 0)};
  Neighbours::Plan plan = neighbours.plan(own, PlanUse::fixed_graph);
  Released<Columns>& outgoing = neighbours.outgoing(0, plan);
  outgoing.update([&](Columns& block) { block[0][1] = content(neighbours.first(), 0, 1); });
  neighbours.exchange(0, plan, outgoing);
  for (std::size_t j = 0; j < own[0].in.size(); ++j) {
    EXPECT_EQ(neighbours.received(plan)(0, j)[1], content(own[0].in[j].peer, 0, 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Limits, LimitedWindows,
                         testing::Values(Limit{"files", RLIMIT_NOFILE, 3, "(Too many open files)"},
                                         Limit{"sizes", RLIMIT_FSIZE, 50'000, "ulimit -f allows 50000."}),
                         [](const auto& row) { return row.param.name; });

}  // namespace starling::windows_test
