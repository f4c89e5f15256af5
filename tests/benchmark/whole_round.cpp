/// A whole private round beside a loop by hand over bare MPI: batches of 32 dense records, logistic loss, gradients
/// clipped in L1, exact discrete Laplace noise from the same sampler, exponentiated gradient on the simplex, push-sum.
/// One client per rank. Both take turns in blocks of rounds; a block's time is that of its slowest rank.
///
/// Usage: mpirun -n R whole_round [BLOCKS [GRAPH DIMENSION]…]; prints a line of comma-separated values for each
#include "benchmark/by_hand.hpp"
#include "benchmark/timing.hpp"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "starling/core/random.hpp"
#include "starling/net/neighbours.hpp"
#include "starling/net/world.hpp"
#include "starling/privacy/keystream.hpp"
#include "starling/protocol/omd.hpp"

namespace starling {
namespace {

using namespace benchmark;

constexpr std::size_t batch_size = 32;
constexpr std::size_t batches = 16;
constexpr double clip = 1;
constexpr double step = 0.05;

/// Records that both play, round after round the next batch.
struct Records {
  Records(std::size_t d, int rank) : labels(batches * batch_size), rows(batches * batch_size * d) {
    AddressedRandom random(1, Purpose::experiment, static_cast<std::uint64_t>(rank), 0);
    for (double& value : rows) value = random.normal() / static_cast<double>(d);
    for (double& label : labels) label = random.normal() > 0 ? 1 : -1;
  }
  Vector labels;
  Vector rows;
};

class Pool final : public Stream {
 public:
  Pool(const Records& records, std::size_t d) {
    for (std::size_t b = 0; b < batches; ++b) {
      Batch batch;
      for (std::size_t i = b * batch_size; i < (b + 1) * batch_size; ++i) {
        batch.add({View(records.rows).subspan(i * d, d), {}}, records.labels[i]);
      }
      batches_.emplace_back(std::move(batch));
    }
  }
  [[nodiscard]] const Secret<Batch>& next(Round t) override { return batches_[static_cast<std::size_t>(t) % batches]; }
  [[nodiscard]] bool ended(Round) override { return false; }
  [[nodiscard]] std::int64_t participations() const override { return 1; }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return std::nullopt; }
  [[nodiscard]] std::optional<Round> rounds_of_pass() const override { return std::nullopt; }
  [[nodiscard]] std::optional<Round> rounds() const override { return std::nullopt; }

 private:
  std::vector<Secret<Batch>> batches_;
};

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
    noise_.restart(release_key(key_, "benchmark", {0, static_cast<Round>(t_), 0}, "laplace", 0x1p40, grid, integers_));
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
  Keystream noise_{NoiseKey::from_seed(1, 1)};
  double loss_ = 0;  ///< progressive, as anybody would keep it
  int correct_ = 0;
};

/// Takes the time of blocks of rounds, and lets the others play theirs in between.
class Turns final : public Observer {
 public:
  Turns(int rounds, std::function<void()> others) : rounds_(rounds), others_(std::move(others)) {}
  void after(const RoundView& view) override {
    if (view.done() % rounds_ != 0) return;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
    const double seconds = slowest_of_all(taken.count()) / rounds_;
    if (view.done() >= 3 * rounds_) seconds_.push_back(seconds);  // the first blocks are for warming up
    others_();
    MPI_Barrier(MPI_COMM_WORLD);
    start_ = std::chrono::steady_clock::now();
  }
  [[nodiscard]] const std::vector<double>& seconds() const { return seconds_; }

 private:
  int rounds_;
  std::function<void()> others_;
  std::chrono::steady_clock::time_point start_;
  std::vector<double> seconds_;
};

void measure(World& world, const std::string& graph, std::size_t d, int blocks) {
  const Topology topology = Topology::parse(fmt::format("generate {} clients={}\n", graph, world.size()), graph);
  const Records records(d, world.rank());
  const std::vector<Step> steps = steps_of(topology, world.rank());
  IsendByHand isend(steps, d, true);
  PersistentByHand persistent(steps, d, true);
  Learner learner_isend(records, d);
  Learner learner_persistent(records, d);
  isend.model().assign(d, 1.0 / static_cast<double>(d));
  persistent.model() = isend.model();
  const auto round_isend = [&] {
    learner_isend.learn(isend.model(), isend.mass());
    isend.round();
  };
  const auto round_persistent = [&] {
    learner_persistent.learn(persistent.model(), persistent.mass());
    persistent.round();
  };
  for (int i = 0; i < 20; ++i) round_isend();
  const int rounds = static_cast<int>(std::clamp(0.02 / time_block(round_isend, 50), 10.0, 5000.0));

  std::vector<double> of_isend;
  std::vector<double> of_persistent;
  Turns turns(rounds, [&] {
    of_isend.push_back(time_block(round_isend, rounds));
    of_persistent.push_back(time_block(round_persistent, rounds));
  });

  const auto domain = domain_table().make("simplex");
  const auto map = mirror_table().make("entropic", *domain);
  Neighbours neighbours(world, Layout(world.size(), world.size()), message_length(d, Mixing::push_sum));
  SynchronousMixer mixer(neighbours, topology, {});
  const auto loss = loss_table().make("logistic");
  LinearModel model(*loss, d, false);
  ReleaseSettings release;
  release.clip = clip;
  release.batch = batch_size;
  release.dimension = d;
  release.run_id = "benchmark";
  const auto mechanism = mechanism_table().make("laplace", release);
  OmdSettings settings;
  settings.rounds = static_cast<Round>(rounds) * (blocks + 2);
  settings.step = step;
  Accounts accounts(*mechanism, Prices::parse("1", "price", settings.rounds, world.size(), 1, 1), settings.rounds,
                    neighbours.first(), std::vector<ServedRounds>(1));
  Learning learning{model, *mechanism, accounts, {}, {}};
  learning.keys.push_back(NoiseKey::from_seed(1, neighbours.first()));
  learning.streams.push_back(std::make_unique<Pool>(records, d));
  Columns start(d, 1);
  std::fill(start[0].begin(), start[0].end(), 1.0 / static_cast<double>(d));
  DecentralizedOmd omd(mixer, *map, std::move(learning), settings, Released<Columns>(declare_public(std::move(start))));
  omd.run({&turns});

  if (world.rank() != 0) return;
  std::printf("%d,%s,%zu", world.size(), graph.c_str(), d);
  for (const std::vector<double>* each : {&turns.seconds(), &std::as_const(of_isend), &std::as_const(of_persistent)}) {
    std::printf(",%.3f,%.3f", 1e6 * median(*each), 1e6 * quantile(*each, 0.1));
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
    std::printf("ranks,graph,dimension,starling,starling_p10,isend,isend_p10,persistent,persistent_p10\n");
  }
  if (argc > 3) {
    for (int i = 2; i + 1 < argc; i += 2) {
      starling::measure(world, argv[i], static_cast<std::size_t>(std::atoi(argv[i + 1])), blocks);
    }
    return 0;
  }
  for (const std::size_t d : {5U, 100U, 1000U}) starling::measure(world, "directed-ring", d, blocks);
  return 0;
}
