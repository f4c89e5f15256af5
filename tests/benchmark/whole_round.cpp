/// A whole private round beside a loop by hand over bare MPI, which has the same records, keys and sampler. All take
/// turns in blocks of rounds; a block's time is that of its slowest rank.
///
/// Usage: mpirun -n R whole_round [BLOCKS [GRAPH DIMENSION]…]; prints a line of comma-separated values for each
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "by_hand.hpp"
#include "privacy/keys/keystream.hpp"
#include "private_round.hpp"

namespace starling {
namespace {

using namespace benchmark;

/// The learner of the loop by hand.
class Learner {
 public:
  Learner(const Records& records, std::size_t d) : records_(records), d_(d), gradient_(d), integers_(d) {}

  void learn(Vector& x, double mass) {
    const std::size_t first = t_ % batches * batch_size;
    std::fill(gradient_.begin(), gradient_.end(), 0.0);
    for (std::size_t i = first; i < first + batch_size; ++i) add_gradient(records_.rows.data() + i * d_, i, x);
    constexpr double grid = 2 * clip / static_cast<double>(std::int64_t{1} << laplace_scale_bits);
    for (std::size_t j = 0; j < d_; ++j) integers_[j] = std::llrint(gradient_[j] / grid);
    // The same noise for the same data, and no other noise for other data: without it a replay would give them away.
    noise_.restart(release_stream(keys_, key_, "benchmark", {ReleasePath::by_itself, 0, static_cast<Round>(t_), 0},
                                  "laplace", 0x1p40, grid, integers_));
    add_discrete_laplace(noise_, integers_);
    const double eta = step / std::sqrt(static_cast<double>(++t_)) / mass;
    double total = 0;
    for (std::size_t j = 0; j < d_; ++j) {
      x[j] *= std::exp(-eta * static_cast<double>(integers_[j]) * grid / static_cast<double>(batch_size));
      total += x[j];
    }
    for (std::size_t j = 0; j < d_; ++j) x[j] /= total;
  }

 private:
  void add_gradient(const double* row, std::size_t i, const Vector& x) {
    constexpr std::size_t lanes = 8;
    double score[lanes] = {};
    double norm[lanes] = {};
    const std::size_t whole = d_ / lanes * lanes;
    for (std::size_t j = 0; j < whole; j += lanes) {
      for (std::size_t k = 0; k < lanes; ++k) {
        score[k] += row[j + k] * x[j + k];
        norm[k] += std::abs(row[j + k]);
      }
    }
    for (std::size_t j = whole; j < d_; ++j) {
      score[j - whole] += row[j] * x[j];
      norm[j - whole] += std::abs(row[j]);
    }
    double margin = 0;
    double of_row = 0;
    for (std::size_t k = 0; k < lanes; ++k) {
      margin += score[k];
      of_row += norm[k];
    }
    const double label = records_.labels[i];
    loss_ += std::log1p(std::exp(-label * margin));
    correct_ += label * margin > 0 ? 1 : 0;
    double slope = -label / (1 + std::exp(label * margin));
    const double size = std::abs(slope) * of_row;
    if (size > clip) slope *= clip / size;
    for (std::size_t j = 0; j < d_; ++j) gradient_[j] += slope * row[j];
  }

  const Records& records_;
  std::size_t d_;
  std::size_t t_ = 0;
  Vector gradient_;
  std::vector<std::int64_t> integers_;
  NoiseKey key_ = NoiseKey::from_seed(1, 1);
  ReleaseKeys keys_;
  Keystream noise_{NoiseKey::from_seed(1, 1)};
  double loss_ = 0;  ///< progressive, as anybody would keep it
  int correct_ = 0;
};

void measure(World& world, const std::string& graph, std::size_t d, int blocks) {
  const Topology topology = Topology::parse(fmt::format("generate {} clients={}\n", graph, world.size()), graph);
  const Records records(d, world.rank());
  PrivateRound starling(world, topology, records, d);
  const std::vector<Step> steps = steps_of(topology, world.rank());
  IsendByHand isend(steps, d, true);
  PersistentByHand persistent(steps, d, true);
  std::vector<Contestant> all{{[&](int rounds) { starling.play(rounds); }}};
  std::vector<std::unique_ptr<Learner>> learners;
  for (ByHand* hand : {static_cast<ByHand*>(&isend), static_cast<ByHand*>(&persistent)}) {
    hand->model().assign(d, 1.0 / static_cast<double>(d));
    learners.push_back(std::make_unique<Learner>(records, d));
    all.push_back(round_by_round([hand, learner = learners.back().get()] {
      learner->learn(hand->model(), hand->mass());
      hand->round();
    }));
  }
  take_turns(all, blocks, 0.02, 5000);
  if (world.rank() == 0) print_row(world.size(), graph, d, all);
}

}  // namespace
}  // namespace starling

int main(int argc, char** argv) {
  starling::World world;
  const starling::benchmark::Words words(argc, argv,
                                         {{"directed-ring", 5}, {"directed-ring", 100}, {"directed-ring", 1000}});
  if (world.rank() == 0) starling::benchmark::print_header({"starling", "isend", "persistent"});
  for (const auto& [graph, d] : words.cases) starling::measure(world, graph, d, words.blocks);
  return 0;
}
