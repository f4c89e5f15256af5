#include "infer_engine.hpp"

#include <algorithm>
#include <utility>

#include "inference/preconditioner.hpp"
#include "mirror/mirror.hpp"
#include "net/agreement.hpp"
#include "net/root/root.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "protocol/aggregated/aggregated_clients.hpp"
#include "protocol/aggregated/ldp_sgd.hpp"
#include "protocol/aggregated/newton.hpp"
#include "protocol/aggregated/preconditioned.hpp"
#include "protocol/decentralized/mixing_channel.hpp"
#include "protocol/decentralized/omd.hpp"
#include "regret/evaluation_pass.hpp"
#include "setting/infer_config.hpp"

namespace starling {

namespace {

class AggregatedEngine final : public InferEngine {
 public:
  explicit AggregatedEngine(EngineParts parts)
      : root_(parts.world, parts.layout),
        clients_(*parts.learned, parts.accounts, parts.keys, std::move(parts.streams), parts.config.data.batch),
        sums_(make_sums(parts)),
        sgd_(root_, clients_, settings_of(parts), *parts.start, *parts.mechanism, sums_.get(), parts.price,
             std::move(parts.factors)),
        plugs_in_(parts.config.plug_in) {}

  void run(const std::vector<Observer*>& observers) override { sgd_.run(observers); }
  [[nodiscard]] const RoundView& view() const override { return sgd_; }
  [[nodiscard]] std::size_t paths() const override { return root_.aggregates() ? 1 : 0; }
  [[nodiscard]] TimeShares time_shares() const override { return sgd_.time_shares(); }
  [[nodiscard]] EngineFigures figures(Client /*first*/) const override {
    return {Vector(clients_.count(), 0.0), std::nullopt, root_.edge_traffic(), root_.wire_traffic()};
  }
  [[nodiscard]] PlugInSums* plug_in() override { return plugs_in_ ? sums_.get() : nullptr; }
  [[nodiscard]] double mean_inverse_clients() const override { return sgd_.mean_inverse_clients(); }
  [[nodiscard]] std::optional<BiasEstimate> bias() const override { return sgd_.bias(); }
  void persist(Snapshot& snapshot) override { snapshot(sgd_); }
  void leave_out(Round end) override { sgd_.leave_out(end); }

 private:
  std::unique_ptr<PlugInSums> make_sums(const EngineParts& parts) {
    if (!parts.config.plug_in && !parts.config.curvature_by_step()) return nullptr;
    const CurvatureParts both = parts.config.plug_in ? CurvatureParts::both : CurvatureParts::curvature;
    auto& pair = dynamic_cast<PairedMechanism&>(*parts.mechanism);
    if (parts.config.trust == PlugInTrust::local) {
      return std::make_unique<LocalPlugInSums>(root_, clients_, parts.model, both, pair);
    }
    return std::make_unique<CentralPlugInSums>(root_, clients_, parts.model, pair, parts.price, parts.config.sgd.steps);
  }

  static LdpSgdSettings settings_of(const EngineParts& parts) {
    const InferConfig& config = parts.config;
    LdpSgdSettings settings = config.sgd;
    settings.first_round = parts.first_round;
    settings.follow_bias = config.curvature_by_step();
    settings.burn_in = config.burn_in;
    return settings;
  }

  Root root_;
  AggregatedClients clients_;
  std::unique_ptr<PlugInSums> sums_;
  LdpSgd sgd_;
  bool plugs_in_;
};

class NewtonEngine final : public InferEngine {
 public:
  explicit NewtonEngine(EngineParts parts)
      : root_(parts.world, parts.layout),
        coordinates_(parts.model.dimension() - (parts.config.intercept ? 1 : 0), parts.config.intercept),
        model_(*parts.learned, coordinates_, parts.model.dimension() - (parts.config.intercept ? 1 : 0)),
        clients_(model_, parts.accounts, parts.keys, std::move(parts.streams), parts.config.data.batch),
        rounds_(root_, clients_, parts.model, model_, coordinates_, newton_settings(parts.config, parts.left_out),
                *parts.start, dynamic_cast<PairedMechanism&>(*parts.mechanism), std::move(parts.factors)) {}

  void run(const std::vector<Observer*>& observers) override { rounds_.run(observers); }
  [[nodiscard]] const RoundView& view() const override { return rounds_; }
  [[nodiscard]] std::size_t paths() const override { return root_.aggregates() ? 1 : 0; }
  [[nodiscard]] TimeShares time_shares() const override { return rounds_.time_shares(); }
  [[nodiscard]] EngineFigures figures(Client /*first*/) const override {
    return {Vector(clients_.count(), 0.0), std::nullopt, root_.edge_traffic(), root_.wire_traffic()};
  }
  [[nodiscard]] const NewtonRounds* newton() const override { return &rounds_; }
  void persist(Snapshot& snapshot) override { snapshot(rounds_); }
  void leave_out(Round end) override { rounds_.leave_out(end); }

 private:
  Root root_;
  Preconditioner coordinates_;
  PreconditionedModel model_;
  AggregatedClients clients_;
  NewtonRounds rounds_;
};

class DecentralizedEngine final : public InferEngine {
 public:
  explicit DecentralizedEngine(EngineParts parts)
      : domain_(domain_table().make("free")),
        mirror_(mirror_table().make("euclidean", *domain_)),
        door_(parts.world, parts.layout, *parts.schedule, parts.config.mixing,
              mirror_->state_size(parts.model.dimension())),
        hosts_clients_(!parts.keys.empty()),
        omd_(door_.mixer(), *mirror_,
             Learning{*parts.learned, *parts.mechanism, parts.accounts, parts.keys, std::move(parts.streams), nullptr,
                      std::move(parts.factors)},
             settings_of(parts), same_for_all(*parts.start, parts.keys.size())) {
    note_ = door_.note();
  }

  void count_edges_of(const std::vector<Client>& senders) override { door_.count_edges_of(senders); }
  void run(const std::vector<Observer*>& observers) override {
    if (hosts_clients_) omd_.run(observers);
  }
  [[nodiscard]] const RoundView& view() const override { return omd_; }
  [[nodiscard]] std::size_t paths() const override { return omd_.masses().size(); }
  [[nodiscard]] TimeShares time_shares() const override { return omd_.time_shares(); }
  [[nodiscard]] EngineFigures figures(Client first) const override {
    return {omd_.debts_in_first_steps(), local_steps(omd_, first, 0.0), door_.edge_traffic(), door_.wire_traffic()};
  }
  void persist(Snapshot& snapshot) override { snapshot(omd_); }
  void leave_out(Round end) override { omd_.leave_out(end); }

 private:
  static OmdSettings settings_of(const EngineParts& parts) {
    OmdSettings settings = omd_settings(parts.config);
    settings.first_round = parts.first_round;
    return settings;
  }
  static Released<Columns> same_for_all(const Released<Vector>& start, std::size_t clients) {
    return post_process([clients](const Vector& theta) { return Columns(theta, clients); }, start);
  }

  std::unique_ptr<Domain> domain_;
  std::unique_ptr<MirrorMap> mirror_;
  MixingChannel door_;
  bool hosts_clients_;
  DecentralizedOmd omd_;
};

}  // namespace

Round rounds_done(Agreement& agreement, const InferEngine& engine) {
  return agreement.max(declare_public(engine.view().done()));
}

OmdSettings omd_settings(const InferConfig& config) {
  OmdSettings settings;
  settings.rounds = config.sgd.steps;
  settings.step = config.sgd.step;
  settings.step_power = config.sgd.step_power;
  settings.step_offset = config.sgd.step_offset;
  settings.step_cap = config.step_cap;
  return settings;
}

NewtonSettings newton_settings(const InferConfig& config, std::vector<std::size_t> left_out) {
  const bool protects = config.privacy.protects();
  return {.rounds = config.sgd.steps,
          .closing = protects ? std::max<Round>(1, (config.sgd.steps + 1) / 2) : 1,
          .finds_scales = protects,
          .intercept = config.intercept,
          .left_out = std::move(left_out)};
}

std::unique_ptr<InferEngine> make_engine(EngineParts parts) {
  if (parts.config.newton()) return std::make_unique<NewtonEngine>(std::move(parts));
  if (parts.schedule != nullptr) return std::make_unique<DecentralizedEngine>(std::move(parts));
  return std::make_unique<AggregatedEngine>(std::move(parts));
}

}  // namespace starling
