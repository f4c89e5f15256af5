/// Exchange and mixing beside bare MPI. One client per rank mixes by push-sum, as SynchronousMixer does it by messages
/// and through windows, and as loops by hand do it over Isend/Irecv, persistent requests and a neighbourhood
/// collective, with the same arithmetic; and those three calls alone. All take turns in blocks of rounds. A block's
/// time is that of its slowest rank.
///
/// Usage: mpirun -n R exchange [BLOCKS [GRAPH DIMENSION]…]; prints a line of comma-separated values per graph and
/// dimension
#include <memory>
#include <string>
#include <vector>

#include "by_hand.hpp"
#include "graph/topology.hpp"
#include "net/neighbours/neighbours.hpp"
#include "net/world.hpp"
#include "protocol/decentralized/synchronous_mixer.hpp"

namespace starling {
namespace {

using namespace benchmark;

/// Exchange and mixing as the product does it.
class Ours {
 public:
  Ours(World& world, const Topology& topology, std::size_t d, ExchangeWay way)
      : neighbours_(world, Layout(world.size(), world.size()), message_length(d, Mixing::push_sum), way),
        mixer_(neighbours_, d, topology, {}),
        holdings_{declare_public(Columns(d, 1)), Vector(1, 1.0)} {
    holdings_.state.update([](Columns& state) { std::fill(state[0].begin(), state[0].end(), 1.0); });
  }
  ~Ours() { mixer_.finish(holdings_); }
  Ours(const Ours&) = delete;
  Ours& operator=(const Ours&) = delete;

  void round() {
    if (!mixer_.begin_round(t_++)) return;
    Stopwatch watch(false);
    mixer_.mix(holdings_, watch, shares_);
  }

 private:
  Neighbours neighbours_;
  SynchronousMixer mixer_;
  Holdings holdings_;
  TimeShares shares_;
  Round t_ = 0;
};

void measure(World& world, const std::string& graph, std::size_t d, int blocks) {
  const Topology topology = Topology::parse(fmt::format("generate {} clients={}\n", graph, world.size()), graph);
  Ours messages(world, topology, d, ExchangeWay::messages);
  Ours windows(world, topology, d, ExchangeWay::windows);
  std::vector<Contestant> all;
  all.push_back(round_by_round([&] { messages.round(); }));
  all.push_back(round_by_round([&] { windows.round(); }));
  std::vector<std::unique_ptr<ByHand>> hands;
  const std::vector<Step> steps = steps_of(topology, world.rank());
  for (const bool mixes : {true, false}) {
    hands.push_back(std::make_unique<IsendByHand>(steps, d, mixes));
    hands.push_back(std::make_unique<PersistentByHand>(steps, d, mixes));
    hands.push_back(std::make_unique<CollectiveByHand>(steps, d, mixes));
  }
  for (const auto& hand : hands) all.push_back(round_by_round([&hand] { hand->round(); }));
  take_turns(all, blocks, 0.004, 2000);
  if (world.rank() == 0) print_row(world.size(), graph, d, all);
}

}  // namespace
}  // namespace starling

int main(int argc, char** argv) {
  starling::World world;
  std::vector<std::pair<std::string, std::size_t>> usual;
  for (const char* graph : {"ring", "exponential", "complete", "one-peer-exponential"}) {
    for (const std::size_t d : {5U, 100U, 10000U, 100000U}) usual.emplace_back(graph, d);
  }
  const starling::benchmark::Words words(argc, argv, usual);
  if (world.rank() == 0) {
    starling::benchmark::print_header({"starling", "windows", "isend", "persistent", "collective", "isend_call",
                                       "persistent_call", "collective_call"});
  }
  for (const auto& [graph, d] : words.cases) starling::measure(world, graph, d, words.blocks);
  return 0;
}
