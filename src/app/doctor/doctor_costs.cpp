// Measured costs for `starling doctor --predict`.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/random.hpp"
#include "doctor_predict.hpp"
#include "graph/topology.hpp"
#include "model/linear_model.hpp"
#include "net/agreement.hpp"
#include "net/neighbours/neighbours.hpp"
#include "net/probes/latency_probes.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism.hpp"
#include "protocol/decentralized/omd.hpp"
#include "protocol/decentralized/synchronous_mixer.hpp"

namespace starling {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double seconds_played = 1;
constexpr Round most_played = 2'000;
constexpr Round trial_rounds = 4;
constexpr double most_bytes = 100e6;      ///< of models
constexpr double most_pool_bytes = 64e6;  ///< of records, unless one batch alone has more: beyond caches
constexpr Client most_played_clients = 20'000;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// Median of at least one number.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The launch's first clients, as many as a rank has or as fit, with their own edges. Edges that lead out of the block
/// are redirected into the block.
Topology block_of(const Launch& launch, const Graph& graph) {
  const double of_rank = std::ceil(static_cast<double>(launch.clients) / launch.ranks);
  const double fitting = std::max(1.0, most_bytes / static_cast<double>(launch.bytes_of_vector()));
  const auto clients = static_cast<Client>(std::min<double>(most_played_clients, std::min(of_rank, fitting)));
  std::vector<Edge> edges;
  std::vector<Client> to;
  for (Client u = 0; u < clients; ++u) {
    to.clear();
    for (const Arc& arc : graph.links(u, 0).out) to.push_back(arc.peer % clients);
    std::ranges::sort(to);
    to.erase(std::unique(to.begin(), to.end()), to.end());
    for (const Client v : to) {
      if (v != u) edges.push_back({u, v});
    }
  }
  return {clients, WeightRule::sender, edges, {}};
}

/// The same block on every rank, without an edge between two of them.
class Blocks final : public Schedule {
 public:
  Blocks(const Topology& block, int ranks) : block_(block), ranks_(ranks) {}
  [[nodiscard]] Client clients() const override { return block_.clients() * ranks_; }
  [[nodiscard]] Round period() const override { return 1; }
  [[nodiscard]] Links links(Client u, Round) const override {
    const Client first = u / block_.clients() * block_.clients();
    Links links = block_.phase_links(0, u - first);
    for (Arc& arc : links.out) arc.peer += first;
    for (Arc& arc : links.in) arc.peer += first;
    return links;
  }
  [[nodiscard]] std::string digest() const override { return block_.digest(); }

 private:
  const Topology& block_;
  int ranks_;
};

/// Random records for timing: one batch for each client, as far as memory allows. The records then come from the same
/// level of memory as in a run. Each round takes the next batch.
class Pool {
 public:
  Pool(std::size_t d, std::size_t batch, Client clients) {
    const double bytes = static_cast<double>(d * batch) * sizeof(double);
    const double wanted = std::max(16.0, static_cast<double>(clients));
    const auto batches = static_cast<std::size_t>(std::clamp(most_pool_bytes / bytes, 1.0, wanted));
    AddressedRandom random(1, Purpose::experiment, 0, 0);
    Vector row(d);
    for (std::size_t b = 0; b < batches; ++b) {
      Batch records;
      for (std::size_t i = 0; i < batch; ++i) {
        for (double& value : row) value = 2 * random.uniform() - 1;
        records.add({View(row), {}}, random.uniform() < 0.5 ? -1 : 1);
      }
      batches_.emplace_back(std::move(records));
    }
  }
  [[nodiscard]] const Secret<Batch>& batch(std::size_t number) const { return batches_[number % batches_.size()]; }

 private:
  std::vector<Secret<Batch>> batches_;
};

class PoolStream final : public Stream {
 public:
  PoolStream(const Pool& pool, std::size_t client) : pool_(pool), client_(client) {}
  [[nodiscard]] const Secret<Batch>& next(Round t) override {
    return pool_.batch(client_ + static_cast<std::size_t>(t));
  }
  [[nodiscard]] bool ended(Round) override { return false; }
  [[nodiscard]] std::int64_t participations() const override { return 1; }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return std::nullopt; }
  [[nodiscard]] std::optional<Round> rounds_of_pass() const override { return std::nullopt; }
  [[nodiscard]] std::optional<Round> rounds() const override { return std::nullopt; }

 private:
  const Pool& pool_;
  std::size_t client_;
};

/// Mixing that calls another mixing, and measures its time and the time between calls.
class TimedMixer final : public Mixer {
 public:
  explicit TimedMixer(Mixer& inner) : Mixer(inner.first(), inner.count()), inner_(inner) {}
  [[nodiscard]] bool begin_round(Round t) override {
    const bool begins = inner_.begin_round(t);
    begun_ = Clock::now();
    return begins;
  }
  [[nodiscard]] Round clock() const override { return inner_.clock(); }
  [[nodiscard]] Attendance attendance(std::size_t k) const override { return inner_.attendance(k); }
  [[nodiscard]] bool has_left(std::size_t k) const override { return inner_.has_left(k); }
  void mix(Holdings& holdings, Stopwatch& watch, TimeShares& shares) override {
    const auto learned = Clock::now();
    inner_.mix(holdings, watch, shares);
    learning_.push_back(seconds_between(begun_, learned));
    mixing_.push_back(seconds_between(learned, Clock::now()));
  }
  void finish(Holdings& holdings) override { inner_.finish(holdings); }
  void persist(Snapshot& snapshot) override { inner_.persist(snapshot); }

  /// Seconds of each round.
  [[nodiscard]] const std::vector<double>& learning() const { return learning_; }
  [[nodiscard]] const std::vector<double>& mixing() const { return mixing_; }

 private:
  Mixer& inner_;
  Clock::time_point begun_;
  std::vector<double> learning_;
  std::vector<double> mixing_;
};

struct RoundParts {
  double learning = 0;  ///< seconds
  double mixing = 0;
};

/// Private rounds of this rank's block: medians over rounds.
RoundParts play(World& world, const Launch& launch, const Topology& block, const Pool& pool, Round rounds) {
  const std::size_t d = launch.dimension;
  const auto clients = static_cast<std::size_t>(block.clients());
  const Blocks schedule(block, world.size());
  Neighbours neighbours(world, Layout(schedule.clients(), world.size()), message_length(d, Mixing::push_sum));
  SynchronousMixer mixer(neighbours, d, schedule, {});
  TimedMixer timed(mixer);
  const auto domain = domain_table().make("simplex");
  const auto map = mirror_table().make("entropic", *domain);
  const auto loss = loss_table().make("logistic");
  LinearModel model(*loss, d, false);
  ReleaseSettings release;
  release.batch = launch.batch;
  release.dimension = d;
  release.run_id = "prediction";
  const auto mechanism = mechanism_table().make("laplace", release);
  OmdSettings settings;
  settings.rounds = rounds;
  settings.step = 0.05;
  Accounts accounts(*mechanism, Prices::parse("1", "price", rounds, schedule.clients(), 1, 1), rounds,
                    neighbours.first(), std::vector<ServedRounds>(clients));
  Learning learning{model, *mechanism, accounts, {}, {}};
  for (std::size_t k = 0; k < clients; ++k) {
    learning.keys.push_back(NoiseKey::from_seed(1, neighbours.first() + static_cast<Client>(k)));
    learning.streams.push_back(std::make_unique<PoolStream>(pool, k));
  }
  Columns start(d, clients);
  for (std::size_t k = 0; k < clients; ++k) {
    std::ranges::fill(start[k], 1 / static_cast<double>(d));
  }
  DecentralizedOmd omd(timed, *map, std::move(learning), settings, Released<Columns>(declare_public(std::move(start))));
  omd.run({});
  return {median(timed.learning()), median(timed.mixing())};
}

RoundParts measure_rounds(World& world, const Launch& launch, const Topology& block) {
  const Pool pool(launch.dimension, launch.batch, block.clients());
  const RoundParts trial = play(world, launch, block, pool, trial_rounds);
  const double of_round = std::max(trial.learning + trial.mixing, 1e-9);
  const double rounds = std::clamp(seconds_played / of_round, 5.0, static_cast<double>(most_played));
  return play(world, launch, block, pool, static_cast<Round>(rounds));
}

double gathered_bytes(const Launch& launch, const Topology& block) {
  const std::size_t vectors = block.receivers(0).peers.size() + static_cast<std::size_t>(block.clients());
  return static_cast<double>(vectors * launch.bytes_of_vector());
}

/// Two ranks of a host, ascending; none where each has one to itself.
std::optional<std::pair<int, int>> ranks_of_a_host(Agreement& agreement) {
  const std::vector<std::string> hosts = agreement.all_gather(declare_public(host_name()));
  for (std::size_t r = 1; r < hosts.size(); ++r) {
    const auto before = std::find(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(r), hosts[r]);
    const auto other = before - hosts.begin();
    if (static_cast<std::size_t>(other) < r) return std::pair(static_cast<int>(other), static_cast<int>(r));
  }
  return std::nullopt;
}

}  // namespace

Costs measure_costs(World& world, Agreement& agreement, const Launch& launch, const Graph& graph) {
  const auto pair = launch.ranks > 1 ? ranks_of_a_host(agreement) : std::nullopt;
  check_messages_known(launch, pair.has_value());
  Costs costs;
  const Topology block = block_of(launch, graph);
  const RoundParts parts = measure_rounds(world, launch, block);
  const Vector own{parts.learning / static_cast<double>(block.clients()), parts.mixing / gathered_bytes(launch, block)};
  for (const Vector& each : agreement.all_gather(Released<Vector>(declare_public(own)))) {
    costs.learning = std::max(costs.learning, each[0]);
    costs.gathered = std::max(costs.gathered, each[1]);
  }
  if (launch.ranks == 1) return costs;
  if (pair) costs.message = probe_message(world, pair->first, pair->second) / 2;
  costs.message = launch.message.value_or(costs.message);
  return costs;
}

}  // namespace starling
