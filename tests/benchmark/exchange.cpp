/// Exchange and mixing beside bare MPI. One client per rank mixes by push-sum, as SynchronousMixer does it and as loops
/// by hand do it over Isend/Irecv, persistent requests and a neighbourhood collective, with the same arithmetic; and
/// those three calls alone. All take turns in blocks of rounds. A block's time is that of its slowest rank.
///
/// Usage: mpirun -n R exchange [BLOCKS [GRAPH DIMENSION]…]; prints a line of comma-separated values per graph and
/// dimension
#include "benchmark/by_hand.hpp"
#include "benchmark/timing.hpp"
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "starling/graph/topology.hpp"
#include "starling/net/neighbours.hpp"
#include "starling/net/world.hpp"
#include "starling/protocol/mixing.hpp"

namespace starling {
namespace {

using namespace benchmark;

/// Seconds of a round, in each block.
struct Contestant {
  std::string name;
  std::function<void()> round;
  std::vector<double> seconds = {};
  [[nodiscard]] double typical() const { return median(seconds); }
};

/// Rounds that last some milliseconds.
int rounds_of_a_block(const std::function<void()>& round) {
  for (int i = 0; i < 10; ++i) round();
  return static_cast<int>(std::clamp(0.004 / time_block(round, 20), 4.0, 2000.0));
}

void measure(World& world, const std::string& graph, std::size_t d, int blocks) {
  const Topology topology = Topology::parse(fmt::format("generate {} clients={}\n", graph, world.size()), graph);
  Neighbours neighbours(world, Layout(world.size(), world.size()), message_length(d, Mixing::push_sum));
  SynchronousMixer mixer(neighbours, topology, {});
  Holdings holdings{declare_public(Columns(d, 1)), Vector(1, 1.0)};
  holdings.state.update([](Columns& state) { std::fill(state[0].begin(), state[0].end(), 1.0); });
  TimeShares shares;
  Round t = 0;
  const auto starling = [&] {
    if (!mixer.begin_round(t++)) return;
    Stopwatch watch(false);
    mixer.mix(holdings, watch, shares);
  };
  std::vector<Contestant> all;
  all.push_back({"starling", starling});
  std::vector<std::unique_ptr<ByHand>> hands;
  const std::vector<Step> steps = steps_of(topology, world.rank());
  for (const bool mixes : {true, false}) {
    hands.push_back(std::make_unique<IsendByHand>(steps, d, mixes));
    hands.push_back(std::make_unique<PersistentByHand>(steps, d, mixes));
    hands.push_back(std::make_unique<CollectiveByHand>(steps, d, mixes));
  }
  for (const auto& hand : hands) all.push_back({"", [&hand] { hand->round(); }});
  const int rounds = rounds_of_a_block(all[1].round);
  for (int block = -2; block < blocks; ++block) {
    for (Contestant& each : all) {
      const double seconds = time_block(each.round, rounds);
      if (block >= 0) each.seconds.push_back(seconds);
    }
  }
  mixer.finish(holdings);
  if (world.rank() != 0) return;
  std::printf("%d,%s,%zu", world.size(), graph.c_str(), d);
  for (const Contestant& each : all) {
    std::printf(",%.3f,%.3f", 1e6 * each.typical(), 1e6 * quantile(each.seconds, 0.1));
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace starling

int main(int argc, char** argv) {
  starling::World world;
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 51;
  if (world.rank() == 0) {
    std::printf("ranks,graph,dimension");
    for (const char* name :
         {"starling", "isend", "persistent", "collective", "isend_call", "persistent_call", "collective_call"}) {
      std::printf(",%s,%s_p10", name, name);
    }
    std::printf("\n");
  }
  if (argc > 3) {
    for (int i = 2; i + 1 < argc; i += 2) {
      starling::measure(world, argv[i], static_cast<std::size_t>(std::atoi(argv[i + 1])), blocks);
    }
    return 0;
  }
  for (const char* graph : {"ring", "exponential", "complete", "one-peer-exponential"}) {
    for (const std::size_t d : {5U, 100U, 10000U, 100000U}) starling::measure(world, graph, d, blocks);
  }
  return 0;
}
