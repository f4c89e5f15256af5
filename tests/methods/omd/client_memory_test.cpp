// What a client of very many takes in memory beside its models (its own, that which it sends, and those that come from
// other ranks), counted by a program that replaces operator new: such models lie elsewhere
// (core/memory/huge_pages.hpp). Not counted either: the graph, which a rank may hold as a whole, and accounts with
// their ledger.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

#include "data/serving/dataset.hpp"
#include "graph/graph.hpp"
#include "model/linear_model.hpp"
#include "output/model_recorder.hpp"
#include "output/network_reporter.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism.hpp"
#include "protocol/decentralized/mixing_channel.hpp"
#include "protocol/decentralized/omd.hpp"
#include "run/privacy/noise_keys.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace {

std::atomic<long> live{0};
std::atomic<long> most{0};

}  // namespace

// Not inlined: the compiler would see free() meet what it takes for the library's operator new.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  const long now = live += static_cast<long>(::malloc_usable_size(memory) + sizeof(std::size_t));
  if (now > most) most = now;
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (memory != nullptr) live -= static_cast<long>(::malloc_usable_size(memory) + sizeof(std::size_t));
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

namespace starling::client_memory_test {

using namespace testing_support;

constexpr Round rounds = 4;

/// Bytes of this rank's clients together, in rounds.
struct Bytes {
  double streams = 0;
  double standing = 0;  ///< all parts, between rounds
  double most = 0;      ///< at any time
};

/// Notes what is there between rounds.
class Gauge final : public Observer {
 public:
  void after(const RoundView&) override { standing_ = std::max(standing_, live.load()); }
  [[nodiscard]] long standing() const { return standing_; }

 private:
  long standing_ = 0;
};

/// A private run of so many clients on a random graph with eight neighbours each.
class ManyClients {
 public:
  explicit ManyClients(Client clients)
      : layout_(clients, world().size()),
        first_(layout_.first(world().rank())),
        count_(static_cast<std::size_t>(layout_.count(world().rank()))),
        graph_(make_graph("random-regular:degree=8", clients, WeightRule::sender)),
        loss_(loss_table().make("logistic")),
        model_(*loss_, dimension, false),
        domain_(domain_table().make("free")),
        mirror_(mirror_table().make("euclidean", *domain_)) {
    ReleaseSettings release;
    release.dimension = dimension;
    release.rounds = rounds;
    release.run_id = "many";
    mechanism_ = mechanism_table().make("laplace", release);
    accounts_.emplace(*mechanism_, Prices::parse("1", "--epsilon", rounds, clients, 0, 1), rounds, first_,
                      std::vector<ServedRounds>(count_));
    if (world().rank() == 0) folder_.emplace();
    path_ = agreement_.broadcast(declare_public(folder_ ? *folder_ / "run" : std::string()));
    for (std::size_t k = 0; k < count_; ++k) static_cast<void>(accounts_->pay(k, 0));  // what that takes once
  }
  ~ManyClients() { agreement_.barrier(); }
  ManyClients(const ManyClients&) = delete;
  ManyClients& operator=(const ManyClients&) = delete;

  Bytes play() {
    const long before = live;
    DataSettings source;
    source.source = "synthetic:drift:d=5";
    source.batches = DataSettings::Batches::shared;
    std::vector<std::unique_ptr<Stream>> streams =
        open_dataset(source, layout_.clients(), first_, static_cast<Client>(count_)).streams;
    Bytes bytes;
    bytes.streams = static_cast<double>(live - before);

    const Recorded recorded = who_is_recorded(layout_.clients(), {}, dimension);
    const RunDirectory directory(path_, "", agreement_);
    MixingChannel door(world(), layout_, *graph_, {}, dimension);
    door.count_edges_of(recorded.listed);
    std::vector<NoiseKey> keys = make_noise_keys("seed", 1, first_, static_cast<Client>(count_));
    DecentralizedOmd omd(door.mixer(), *mirror_,
                         Learning{model_, *mechanism_, *accounts_, std::move(keys), std::move(streams)}, settings(),
                         declare_public(Columns(dimension, count_)));
    const MetricsPolicy policy(MetricsPolicy::Sharing::local);
    ModelRecorder recorder(directory, world().rank(), first_, count_, dimension, recorded, policy, RecordRounds(1),
                           Scores::losses_and_accuracies);
    omd.leave_out(1);  // is paid for already
    Gauge gauge;
    most = 0;
    omd.run({&recorder, &gauge});
    bytes.standing = static_cast<double>(gauge.standing() - before);
    bytes.most = static_cast<double>(most - before);
    recorder.finish(omd, rounds, omd.models());
    return bytes;
  }

 private:
  static constexpr std::size_t dimension = 5;
  static OmdSettings settings() {
    OmdSettings settings;
    settings.rounds = rounds;
    return settings;
  }

  Layout layout_;
  Client first_;
  std::size_t count_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Loss> loss_;
  LinearModel model_;
  std::unique_ptr<Domain> domain_;
  std::unique_ptr<MirrorMap> mirror_;
  std::unique_ptr<Mechanism> mechanism_;
  std::optional<Accounts> accounts_;
  Agreement agreement_{world()};
  std::optional<TemporaryFolder> folder_;
  std::string path_;
};

TEST(ClientMemory, IsAFewHundredBytesBesideModels) {
  constexpr Client few = 2500;
  constexpr Client many = 20'000;
  const Bytes of_few = ManyClients(few).play();
  const Bytes of_many = ManyClients(many).play();
  const double more = static_cast<double>(many - few) / world().size();
  const auto each = [&](double Bytes::*part) { return (of_many.*part - of_few.*part) / more; };
  fmt::print("bytes a client: {:.0f} of its stream, {:.0f} between rounds, {:.0f} at most\n", each(&Bytes::streams),
             each(&Bytes::standing), each(&Bytes::most));
  EXPECT_LE(each(&Bytes::streams), 64);
  EXPECT_LE(each(&Bytes::standing), 300);
  EXPECT_LE(each(&Bytes::most), 450) << "plans are made from one client's links at a time";
}

}  // namespace starling::client_memory_test
