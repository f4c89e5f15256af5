/// What it costs to be watched: the private round of whole_round.cpp without ledger and observers, and the same with a
/// ledger, models and metrics recorded every hundredth round, and reports of the network shown as lines of progress on
/// stderr, as `starling omd` has them. Both take turns in blocks of rounds.
///
/// Usage: mpirun -n R observers FOLDER [BLOCKS [GRAPH DIMENSION]…]; prints a line of comma-separated values for each
#include <memory>
#include <string>
#include <vector>

#include "by_hand.hpp"
#include "output/directory/run_directory.hpp"
#include "output/model_recorder.hpp"
#include "output/network_reporter.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/ledger/ledger.hpp"
#include "private_round.hpp"

namespace starling {
namespace {

using namespace benchmark;

constexpr Round record_every = 100;

LedgerRun ledger_run(const World& world, std::size_t d) {
  LedgerRun run;
  run.id = fmt::format("benchmark-{}-{}", d, world.rank());
  run.version = "benchmark";
  run.mechanism = "laplace";
  run.batch = batch_size;
  run.clients = {static_cast<Client>(world.rank())};
  return run;
}

/// All that watches one client of this rank.
class Watched {
 public:
  Watched(World& world, const std::string& folder, std::size_t d)
      : agreement_(world),
        directory_(folder, "", agreement_),
        ledger_(Ledger::open(directory_.private_folder(world.rank()) + "/ledger")),
        recorder_(directory_, world.rank(), static_cast<Client>(world.rank()), 1, d,
                  who_is_recorded(static_cast<Client>(world.size()), {}, d), policy_, RecordRounds(record_every),
                  Scores::losses_and_accuracies),
        printer_(ProgressStyle::lines, no_end, 1),
        reporter_(agreement_, all_ranks(world), world.rank(), policy_, Scores::losses_and_accuracies, {},
                  world.rank() == 0 ? &printer_ : nullptr, writers(world)) {
    ledger_.begin(ledger_run(world, d));
    reporter_.keep_in(directory_.private_folder(world.rank()) + "/reports", true);
  }
  [[nodiscard]] std::vector<Observer*> observers() { return {&recorder_, &reporter_}; }
  /// **Collective.** Takes in the reports that are under way.
  void finish(const RoundView& view) { reporter_.finish(view, view.done()); }
  [[nodiscard]] Ledger& ledger() { return ledger_; }

 private:
  [[nodiscard]] std::vector<std::unique_ptr<HistoryWriter>> writers(const World& world) const {
    std::vector<std::unique_ptr<HistoryWriter>> writers;
    if (world.rank() == 0) writers.push_back(std::make_unique<HistoryFile>(directory_.path() + "/history.csv"));
    return writers;
  }
  static std::vector<int> all_ranks(const World& world) {
    std::vector<int> ranks;
    for (int r = 0; r < world.size(); ++r) ranks.push_back(r);
    return ranks;
  }

  Agreement agreement_;
  RunDirectory directory_;
  MetricsPolicy policy_{MetricsPolicy::Sharing::local};
  Ledger ledger_;
  ModelRecorder recorder_;
  ProgressPrinter printer_;
  NetworkReporter reporter_;
};

void measure(World& world, const std::string& folder, const std::string& graph, std::size_t d, int blocks) {
  const Topology topology = Topology::parse(fmt::format("generate {} clients={}\n", graph, world.size()), graph);
  const Records records(d, world.rank());
  Watched watched(world, fmt::format("{}/{}-{}-{}", folder, world.size(), graph, d), d);
  PrivateRound with(world, topology, records, d);
  PrivateRound without(world, topology, records, d);
  with.accounts().keep_in({&watched.ledger()}, BlockSizes::doubling());
  std::vector<Contestant> all{{[&](int rounds) { with.play(rounds, watched.observers()); }},
                              {[&](int rounds) { without.play(rounds); }}};
  // Long blocks: what is written twice a second is in each of them.
  take_turns(all, blocks, 1, 1'000'000);
  watched.finish(with.view());
  if (world.rank() == 0) print_row(world.size(), graph, d, all);
}

}  // namespace
}  // namespace starling

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  starling::World world;
  const starling::benchmark::Words words(argc - 1, argv + 1, {{"directed-ring", 1000}});
  if (world.rank() == 0) starling::benchmark::print_header({"watched", "alone"});
  for (const auto& [graph, d] : words.cases) starling::measure(world, argv[1], graph, d, words.blocks);
  return 0;
}
