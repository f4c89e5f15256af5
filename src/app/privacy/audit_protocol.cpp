#include "audit_protocol.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "graph/topology.hpp"
#include "model/linear_model.hpp"
#include "privacy/ledger/accounts.hpp"
#include "protocol/canary.hpp"
#include "protocol/decentralized/omd.hpp"
#include "protocol/decentralized/synchronous_mixer.hpp"

namespace starling {

namespace {

constexpr double far_out = 1e6;
constexpr Client clients_of_audit = 2;

/// A stream with the same batch in every round but the first.
class FixedStream final : public Stream {
 public:
  FixedStream(Batch first, Batch others, Round rounds)
      : first_(std::move(first)), others_(std::move(others)), rounds_(rounds) {}

  [[nodiscard]] const Secret<Batch>& next(Round t) override { return t == 0 ? first_ : others_; }
  [[nodiscard]] bool ended(Round t) override { return t >= rounds_; }
  [[nodiscard]] std::int64_t participations() const override { return 1; }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return std::nullopt; }
  [[nodiscard]] std::optional<Round> rounds_of_pass() const override { return rounds_; }
  [[nodiscard]] std::optional<Round> rounds() const override { return rounds_; }

 private:
  Secret<Batch> first_;
  Secret<Batch> others_;
  Round rounds_;
};

/// A record at `size` in coordinate 0, and the others of the batch far out in the last coordinate.
Batch batch_of(const ReleaseSettings& settings, double size) {
  Batch batch;
  batch.clear();
  Vector features(settings.dimension, 0.0);
  features[0] = size;
  batch.add({features, {}}, 1);
  features.assign(settings.dimension, 0.0);
  features.back() = far_out;
  for (std::size_t i = 1; i < settings.batch; ++i) batch.add({features, {}}, 1);
  return batch;
}

/// An observer that copies client 1's model after each round.
class Onlooker final : public Observer {
 public:
  explicit Onlooker(MutableView seen) : seen_(seen) {}
  void after(const RoundView& view) override {
    if (view.done() == 0) return;
    const Released<Columns> models = view.models();
    const View model = models.value()[1];
    std::ranges::copy(model, seen_.begin() + (view.done() - 1) * static_cast<Round>(model.size()));
  }

 private:
  MutableView seen_;
};

}  // namespace

/// The parts that all runs share.
struct OmdAudit::Network {
  explicit Network(World& the_world)
      : world(the_world),
        layout(clients_of_audit, world.size()),
        topology(topology_table().make("complete", clients_of_audit, WeightRule::sender)),
        domain(domain_table().make("free")),
        mirror(mirror_table().make("euclidean", *domain)),
        loss(loss_table().make("logistic")) {}

  void run(Model& model, Mechanism& mechanism, double price, const NoiseKey& key, std::unique_ptr<Stream> stream,
           Round rounds, const std::vector<Observer*>& observers) {
    const std::size_t d = mechanism.settings().dimension;
    mechanism.begin_chains();  // each run is one of its own
    OmdSettings settings;
    settings.rounds = rounds;
    const MixingSettings mixing;
    Neighbours neighbours(world, layout, message_length(mirror->state_size(d), mixing.mixing));
    SynchronousMixer mixer(neighbours, mirror->state_size(d), *topology, mixing);
    Accounts accounts(mechanism,
                      Prices::parse(fmt::format("{:.17g}", price), "price", rounds, clients_of_audit, price, price),
                      rounds, 0, {{std::nullopt, rounds, rounds}, {0, 0, 0}});
    Learning learning{model, mechanism, accounts, {key, key}, {}};
    learning.streams.push_back(std::move(stream));
    learning.streams.push_back(std::make_unique<FixedStream>(Batch(), Batch(), 0));
    DecentralizedOmd omd(mixer, *mirror, std::move(learning), settings,
                         Released<Columns>(declare_public(Columns(d, clients_of_audit))));
    omd.run(observers);
  }

  World& world;
  Layout layout;
  std::unique_ptr<Graph> topology;
  std::unique_ptr<Domain> domain;
  std::unique_ptr<MirrorMap> mirror;
  std::unique_ptr<Loss> loss;
};

OmdAudit::OmdAudit(World& world, Round rounds) : network_(std::make_unique<Network>(world)), rounds_(rounds) {}
OmdAudit::~OmdAudit() = default;

AuditSubject OmdAudit::subject(Mechanism& mechanism, double price, const AuditKeys& keys) {
  const ReleaseSettings& settings = mechanism.settings();
  AuditSubject subject;
  subject.name = fmt::format("one record far out or its negative, seen by a neighbour over {} round(s)", rounds_);
  subject.length = static_cast<std::size_t>(rounds_) * settings.dimension;
  subject.observe = [this, &mechanism, &settings, price, keys](int side, std::int64_t sample, MutableView seen) {
    LinearModel model(*network_->loss, settings.dimension, false);
    Onlooker onlooker(seen);
    network_->run(model, mechanism, price, keys(side, sample),
                  std::make_unique<FixedStream>(batch_of(settings, side == 0 ? far_out : -far_out),
                                                batch_of(settings, far_out), rounds_),
                  rounds_, {&onlooker});
  };
  return subject;
}

CanaryLog OmdAudit::run_with_canaries(Mechanism& mechanism, double price, const NoiseKey& key, Round rounds) {
  const ReleaseSettings& settings = mechanism.settings();
  CanaryLog log;
  LinearModel model(*network_->loss, settings.dimension, false);
  CanaryModel with_canaries(model, 0, NoiseKey::random(), log);
  CanaryMechanism noted(mechanism, 0, log);
  const Batch batch = batch_of(settings, far_out);
  network_->run(with_canaries, noted, price, key, std::make_unique<FixedStream>(batch, batch, rounds), rounds, {});
  return estimated_canaries(std::move(log), settings.correlation);
}

}  // namespace starling
