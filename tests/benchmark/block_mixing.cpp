/// Mixing many clients on few ranks: a round of SynchronousMixer on a random regular graph, beside Eigen's product of
/// the mixing matrix's rows of this rank (sparse, row by row) with all clients' vectors (a row each), as if they were
/// here already. The two alternate. Usage: [mpirun -n R] block_mixing [CLIENTS DIMENSION DEGREE ROUNDS]
#include "benchmark/timing.hpp"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <Eigen/SparseCore>

#include "starling/graph/topology.hpp"
#include "starling/net/agreement.hpp"
#include "starling/net/neighbours.hpp"
#include "starling/net/world.hpp"
#include "starling/protocol/mixing.hpp"

namespace starling {
namespace {

using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;

struct Sizes {
  Client clients = 100000;
  std::size_t dimension = 50;
  int degree = 8;
  int rounds = 40;
};

/// Rows of the mixing matrix of the clients from `first` on.
Sparse rows_of(const Topology& topology, Client first, std::size_t count) {
  std::vector<Eigen::Triplet<double, std::int32_t>> entries;
  for (std::size_t k = 0; k < count; ++k) {
    const Client u = first + static_cast<Client>(k);
    const Links links = topology.links(u, 0);
    entries.emplace_back(static_cast<std::int32_t>(k), u, links.own);
    for (const Arc& arc : links.in) entries.emplace_back(static_cast<std::int32_t>(k), arc.peer, arc.weight);
  }
  Sparse matrix(static_cast<Eigen::Index>(count), topology.clients());
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

struct Times {
  std::vector<double> mixing;
  std::vector<double> exchange;
  std::vector<double> eigen;
};

double wall(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void report(const Sizes& sizes, const Layout& layout, int rank, const Times& times) {
  const double gathered =
      static_cast<double>(layout.count(rank)) * sizes.degree * static_cast<double>(sizes.dimension) * sizeof(double);
  const auto line = [&](const char* name, const std::vector<double>& seconds) {
    const double median = benchmark::median(seconds);
    std::printf("rank %d  %-22s median %8.3f ms, a tenth below %8.3f ms, %6.2f GB/s gathered, %.2f of Eigen's time\n",
                rank, name, 1e3 * median, 1e3 * benchmark::quantile(seconds, 0.1), gathered / median / 1e9,
                median / benchmark::median(times.eigen));
  };
  line("mixing", times.mixing);
  line("waiting for messages", times.exchange);
  line("Eigen, product alone", times.eigen);
  std::fflush(stdout);
}

void measure(World& world, const Sizes& sizes) {
  const Topology topology =
      Topology::parse(fmt::format("generate random-regular clients={} degree={} seed=1\n", sizes.clients, sizes.degree),
                      "block_mixing");
  const Layout layout(sizes.clients, world.size());
  const std::size_t length = message_length(sizes.dimension, Mixing::push_sum);
  Neighbours neighbours(world, layout, length, ExchangeWay::automatic);
  SynchronousMixer mixer(neighbours, topology, {});
  const std::size_t count = neighbours.count();
  Columns start(sizes.dimension, count);
  for (std::size_t i = 0; i < start.flat().size(); ++i) start.flat()[i] = static_cast<double>(i % 1000);
  Holdings holdings{declare_public(std::move(start)), Vector(count, 1)};
  const Sparse rows = rows_of(topology, neighbours.first(), count);
  const Dense all = Dense::Random(sizes.clients, static_cast<Eigen::Index>(sizes.dimension));
  Dense product(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(sizes.dimension));
  Times times;
  for (int t = -3; t < sizes.rounds && mixer.begin_round(t + 3); ++t) {
    TimeShares shares;
    Stopwatch watch(true);
    mixer.mix(holdings, watch, shares);
    const double eigen = wall([&] { product.noalias() = rows * all; });
    if (t < 0) continue;
    times.mixing.push_back(shares.mixing / static_cast<double>(Stopwatch::timed_rounds_apart));
    times.exchange.push_back(shares.exchange / static_cast<double>(Stopwatch::timed_rounds_apart));
    times.eigen.push_back(eigen);
  }
  mixer.finish(holdings);
  report(sizes, layout, world.rank(), times);
}

}  // namespace
}  // namespace starling

int main(int argc, char** argv) {
  starling::Sizes sizes;
  if (argc > 1) sizes.clients = std::atoi(argv[1]);
  if (argc > 2) sizes.dimension = static_cast<std::size_t>(std::atoi(argv[2]));
  if (argc > 3) sizes.degree = std::atoi(argv[3]);
  if (argc > 4) sizes.rounds = std::atoi(argv[4]);
  starling::World world;
  starling::measure(world, sizes);
  return 0;
}
