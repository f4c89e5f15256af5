/// Exchange and mixing beside bare MPI. One client per rank mixes by push-sum, as SynchronousMixer does it and as loops
/// by hand do it over Isend/Irecv, persistent requests and a neighbourhood collective, with the same arithmetic; and
/// those three calls alone. All take turns in blocks of rounds. A block's time is that of its slowest rank.
///
/// Usage: mpirun -n R exchange [BLOCKS [GRAPH DIMENSION]…]; prints a line of comma-separated values per graph and
/// dimension
#include "benchmark/timing.hpp"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "starling/graph/topology.hpp"
#include "starling/net/neighbours.hpp"
#include "starling/net/world.hpp"
#include "starling/protocol/mixing.hpp"

namespace starling {
namespace {

/// One rank's part of a graph in one step of its period.
struct Step {
  std::vector<int> to;
  std::vector<int> from;
  double share = 0;  ///< of what is sent
  Vector weights;    ///< of what comes
};

std::vector<Step> steps_of(const Topology& topology, int rank) {
  std::vector<Step> steps;
  for (Round t = 0; t < topology.period(); ++t) {
    const Links links = topology.links(rank, t);
    Step& step = steps.emplace_back();
    for (const Arc& arc : links.out) {
      step.to.push_back(arc.peer);
      step.share = arc.weight;
    }
    for (const Arc& arc : links.in) {
      step.from.push_back(arc.peer);
      step.weights.push_back(arc.weight);
    }
  }
  return steps;
}

/// What a program by hand would do in a round: the exchange of a call, with or without the mixing around it.
class ByHand {
 public:
  ByHand(std::vector<Step> steps, std::size_t d, bool mixes)
      : steps_(std::move(steps)), d_(d), mixes_(mixes), x_(d, 1.0), message_(d + 1, 1.0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    for (const Step& step : steps_) {
      std::vector<Vector>& buffers = received_.emplace_back();
      for (std::size_t i = 0; i < step.from.size(); ++i) buffers.emplace_back(d + 1);
    }
  }
  virtual ~ByHand() { MPI_Comm_free(&comm_); }
  ByHand(const ByHand&) = delete;
  ByHand& operator=(const ByHand&) = delete;

  void round() {
    const std::size_t s = next_++ % steps_.size();
    if (mixes_) {
      for (std::size_t i = 0; i < d_; ++i) message_[i] = w_ * x_[i];
      message_[d_] = w_;
    }
    exchange(s);
    if (mixes_) mix(s);
  }

 protected:
  virtual void exchange(std::size_t s) = 0;

  // In the order of senders; what it keeps is what the others leave.
  void mix(std::size_t s) {
    const Step& step = steps_[s];
    sum_.assign(d_ + 1, 0.0);
    const auto add_own = [&] {
      left_ = message_;
      for (std::size_t i = 0; i < step.to.size(); ++i) {
        for (std::size_t j = 0; j <= d_; ++j) left_[j] -= step.share * message_[j];
      }
      for (std::size_t j = 0; j <= d_; ++j) sum_[j] += left_[j];
    };
    bool added = false;
    for (std::size_t i = 0; i < step.from.size(); ++i) {
      if (!added && step.from[i] > rank_) {
        add_own();
        added = true;
      }
      const double* const from = vector(s, i);
      for (std::size_t j = 0; j <= d_; ++j) sum_[j] += step.weights[i] * from[j];
    }
    if (!added) add_own();
    w_ = sum_[d_];
    for (std::size_t j = 0; j < d_; ++j) x_[j] = sum_[j] / w_;
  }
  [[nodiscard]] virtual const double* vector(std::size_t s, std::size_t i) const { return received_[s][i].data(); }
  [[nodiscard]] int size() const { return static_cast<int>(d_ + 1); }

  std::vector<Step> steps_;
  std::size_t d_;
  bool mixes_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::size_t next_ = 0;
  double w_ = 1;
  Vector x_;
  Vector message_;
  Vector sum_;
  Vector left_;
  std::vector<std::vector<Vector>> received_;
};

class Isend final : public ByHand {
  using ByHand::ByHand;
  void exchange(std::size_t s) override {
    const Step& step = steps_[s];
    requests_.resize(step.from.size() + step.to.size());
    MPI_Request* request = requests_.data();
    for (std::size_t i = 0; i < step.from.size(); ++i) {
      MPI_Irecv(received_[s][i].data(), size(), MPI_DOUBLE, step.from[i], 0, comm_, request++);
    }
    for (const int to : step.to) MPI_Isend(message_.data(), size(), MPI_DOUBLE, to, 0, comm_, request++);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }
  std::vector<MPI_Request> requests_;
};

class Persistent final : public ByHand {
 public:
  Persistent(std::vector<Step> steps, std::size_t d, bool mixes) : ByHand(std::move(steps), d, mixes) {
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      std::vector<MPI_Request>& requests = requests_.emplace_back();
      for (std::size_t i = 0; i < steps_[s].from.size(); ++i) {
        MPI_Recv_init(received_[s][i].data(), size(), MPI_DOUBLE, steps_[s].from[i], 0, comm_,
                      &requests.emplace_back());
      }
      for (const int to : steps_[s].to) {
        MPI_Send_init(message_.data(), size(), MPI_DOUBLE, to, 0, comm_, &requests.emplace_back());
      }
    }
  }
  ~Persistent() override {
    for (auto& each : requests_) {
      for (MPI_Request& request : each) MPI_Request_free(&request);
    }
  }

 private:
  void exchange(std::size_t s) override {
    if (requests_[s].empty()) return;
    MPI_Startall(static_cast<int>(requests_[s].size()), requests_[s].data());
    MPI_Waitall(static_cast<int>(requests_[s].size()), requests_[s].data(), MPI_STATUSES_IGNORE);
  }
  std::vector<std::vector<MPI_Request>> requests_;
};

class Collective final : public ByHand {
 public:
  Collective(std::vector<Step> steps, std::size_t d, bool mixes) : ByHand(std::move(steps), d, mixes) {
    for (const Step& step : steps_) {
      MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(step.from.size()), step.from.data(),
                                     MPI_UNWEIGHTED, static_cast<int>(step.to.size()), step.to.data(), MPI_UNWEIGHTED,
                                     MPI_INFO_NULL, 0, &comms_.emplace_back());
      flat_.emplace_back(step.from.size() * (d + 1));
    }
  }
  ~Collective() override {
    for (MPI_Comm& comm : comms_) MPI_Comm_free(&comm);
  }

 private:
  void exchange(std::size_t s) override {
    MPI_Neighbor_allgather(message_.data(), size(), MPI_DOUBLE, flat_[s].data(), size(), MPI_DOUBLE, comms_[s]);
  }
  [[nodiscard]] const double* vector(std::size_t s, std::size_t i) const override {
    return flat_[s].data() + i * static_cast<std::size_t>(size());
  }
  std::vector<MPI_Comm> comms_;
  std::vector<Vector> flat_;
};

/// Seconds of a round, in each block.
struct Contestant {
  std::string name;
  std::function<void()> round;
  std::vector<double> seconds = {};
  [[nodiscard]] double median() const { return benchmark::median(seconds); }
};

double slowest_of_all(double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

double time_block(const std::function<void()>& round, int rounds) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) round();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return slowest_of_all(taken.count()) / rounds;
}

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
    hands.push_back(std::make_unique<Isend>(steps, d, mixes));
    hands.push_back(std::make_unique<Persistent>(steps, d, mixes));
    hands.push_back(std::make_unique<Collective>(steps, d, mixes));
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
    std::printf(",%.3f,%.3f", 1e6 * each.median(), 1e6 * benchmark::quantile(each.seconds, 0.1));
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
