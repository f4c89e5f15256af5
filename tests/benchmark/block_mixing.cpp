/// Mixing many clients on few ranks: rounds of SynchronousMixer on a random regular graph, their exchange included,
/// beside Eigen's product of this rank's rows of the mixing matrix (sparse, row by row) with all clients' vectors (a
/// row each), as if they were here already. Eigen's vectors and what it makes of them lie where malloc puts them, and
/// on huge pages. All take turns in blocks of rounds; a block's time is that of its slowest rank.
///
/// Usage: [mpirun -n R] block_mixing [BLOCKS [CLIENTS DIMENSION DEGREE]]; prints a line of comma-separated values
#include <cstdlib>
#include <string>

#include <Eigen/SparseCore>

#include "by_hand.hpp"
#include "graph/topology.hpp"
#include "net/neighbours/neighbours.hpp"
#include "net/world.hpp"
#include "protocol/decentralized/synchronous_mixer.hpp"

namespace starling {
namespace {

using namespace benchmark;
using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;

struct Sizes {
  int blocks = 21;
  Client clients = 100000;
  std::size_t dimension = 50;
  int degree = 8;
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

double some_number(std::size_t i) {
  return static_cast<double>(i % 1000);
}

/// Eigen's product, with its matrices of numbers in a Storage each.
template <class Storage>
class Product {
 public:
  Product(const Sparse& rows, std::size_t d) : rows_(rows), d_(d) {
    vectors_.resize(static_cast<std::size_t>(rows.cols()) * d);
    for (std::size_t i = 0; i < vectors_.size(); ++i) vectors_[i] = some_number(i);
    result_.resize(static_cast<std::size_t>(rows.rows()) * d);
  }
  void multiply() {
    const auto d = static_cast<Eigen::Index>(d_);
    const Eigen::Map<const Dense> vectors(vectors_.data(), rows_.cols(), d);
    Eigen::Map<Dense>(result_.data(), rows_.rows(), d).noalias() = rows_ * vectors;
  }

 private:
  const Sparse& rows_;
  std::size_t d_;
  Storage vectors_;
  Storage result_;
};

void measure(World& world, const Sizes& sizes) {
  const Topology topology =
      Topology::parse(fmt::format("generate random-regular clients={} degree={} seed=1\n", sizes.clients, sizes.degree),
                      "block_mixing");
  const Layout layout(sizes.clients, world.size());
  Neighbours neighbours(world, layout, message_length(sizes.dimension, Mixing::push_sum), ExchangeWay::automatic);
  SynchronousMixer mixer(neighbours, sizes.dimension, topology, {});
  Columns start(sizes.dimension, neighbours.count());
  for (std::size_t i = 0; i < start.flat().size(); ++i) start.flat()[i] = some_number(i);
  Holdings holdings{declare_public(std::move(start)), Vector(neighbours.count(), 1)};
  Round round = 0;
  TimeShares shares;
  Stopwatch watch(false);
  const Sparse rows = rows_of(topology, neighbours.first(), neighbours.count());
  Product<Vector> product(rows, sizes.dimension);
  Product<BlockVector> product_on_huge_pages(rows, sizes.dimension);
  std::vector<Contestant> all = {
      round_by_round([&] { static_cast<void>(mixer.begin_round(round++)), mixer.mix(holdings, watch, shares); }),
      round_by_round([&] { product.multiply(); }),
      round_by_round([&] { product_on_huge_pages.multiply(); }),
  };
  take_turns(all, sizes.blocks, 0.05, 100);
  if (world.rank() == 0) {
    print_header({"starling", "eigen", "eigen_huge"});
    print_row(world.size(), "random-regular", sizes.dimension, all);
  }
  mixer.finish(holdings);
}

}  // namespace
}  // namespace starling

int main(int argc, char** argv) {
  starling::Sizes sizes;
  if (argc > 1) sizes.blocks = std::atoi(argv[1]);
  if (argc > 2) sizes.clients = std::atoi(argv[2]);
  if (argc > 3) sizes.dimension = static_cast<std::size_t>(std::atoi(argv[3]));
  if (argc > 4) sizes.degree = std::atoi(argv[4]);
  starling::World world;
  starling::measure(world, sizes);
  return 0;
}
