/// Mixing by push-sum as a program by hand would do it over bare MPI: what the benchmarks compare with.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "core/columns.hpp"
#include "graph/topology.hpp"
#include "timing.hpp"

namespace starling::benchmark {

/// One rank's part of a graph in one step of its period.
struct Step {
  std::vector<int> to;
  std::vector<int> from;
  double share = 0;  ///< of what is sent
  Vector weights;    ///< of what comes
};

inline std::vector<Step> steps_of(const Topology& topology, int rank) {
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

  /// The model, which a learner changes between rounds; its mass.
  [[nodiscard]] Vector& model() { return x_; }
  [[nodiscard]] double mass() const { return w_; }

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

/// Requests made anew in each round.
class IsendByHand final : public ByHand {
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

/// Requests made once.
class PersistentByHand final : public ByHand {
 public:
  PersistentByHand(std::vector<Step> steps, std::size_t d, bool mixes) : ByHand(std::move(steps), d, mixes) {
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
  ~PersistentByHand() override {
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

/// A neighbourhood collective on a communicator that knows the graph.
class CollectiveByHand final : public ByHand {
 public:
  CollectiveByHand(std::vector<Step> steps, std::size_t d, bool mixes) : ByHand(std::move(steps), d, mixes) {
    for (const Step& step : steps_) {
      MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(step.from.size()), step.from.data(),
                                     MPI_UNWEIGHTED, static_cast<int>(step.to.size()), step.to.data(), MPI_UNWEIGHTED,
                                     MPI_INFO_NULL, 0, &comms_.emplace_back());
      flat_.emplace_back(step.from.size() * (d + 1));
    }
  }
  ~CollectiveByHand() override {
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

inline double slowest_of_all(double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

/// One of those that take turns.
struct Contestant {
  std::function<void(int rounds)> play;
  std::vector<double> seconds = {};  ///< of a round, in each block
};

/// One that plays a round after the other.
inline Contestant round_by_round(std::function<void()> round) {
  return {[round = std::move(round)](int rounds) {
    for (int i = 0; i < rounds; ++i) round();
  }};
}

/// Seconds of a round among `rounds` of them, of the slowest rank. **Collective.**
inline double time_block(const Contestant& contestant, int rounds) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto start = std::chrono::steady_clock::now();
  contestant.play(rounds);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return slowest_of_all(taken.count()) / rounds;
}

/// All play `blocks` blocks in turn, of as many rounds as take the last of them `block_seconds`, within `most_rounds`;
/// two more for warming up are not counted. **Collective.**
inline void take_turns(std::vector<Contestant>& all, int blocks, double block_seconds, int most_rounds) {
  all.back().play(20);
  const double rounds_of_a_block = block_seconds / time_block(all.back(), 50);
  const int rounds = static_cast<int>(std::clamp(rounds_of_a_block, 4.0, static_cast<double>(most_rounds)));
  for (int block = -2; block < blocks; ++block) {
    for (Contestant& each : all) {
      const double seconds = time_block(each, rounds);
      if (block >= 0) each.seconds.push_back(seconds);
    }
  }
}

/// Rank 0's: a line with the columns of print_header.
inline void print_row(int ranks, const std::string& graph, std::size_t d, const std::vector<Contestant>& all) {
  std::printf("%d,%s,%zu", ranks, graph.c_str(), d);
  for (const Contestant& each : all) {
    std::printf(",%.3f,%.3f", 1e6 * median(each.seconds), 1e6 * quantile(each.seconds, 0.1));
  }
  std::printf("\n");
  std::fflush(stdout);
}

/// Rank 0's: each contestant has a column of medians, and one of what a tenth of its blocks were quicker than.
inline void print_header(std::initializer_list<const char*> names) {
  std::printf("ranks,graph,dimension");
  for (const char* name : names) std::printf(",%s,%s_p10", name, name);
  std::printf("\n");
}

/// A program's words: [BLOCKS [GRAPH DIMENSION]…]; without graphs, `usual` ones.
struct Words {
  int blocks = 51;
  std::vector<std::pair<std::string, std::size_t>> cases;

  Words(int argc, char** argv, std::vector<std::pair<std::string, std::size_t>> usual) : cases(std::move(usual)) {
    if (argc > 1) blocks = std::atoi(argv[1]);
    if (argc > 3) cases.clear();
    for (int i = 2; i + 1 < argc; i += 2) cases.emplace_back(argv[i], static_cast<std::size_t>(std::atoi(argv[i + 1])));
  }
};

}  // namespace starling::benchmark
