#include <utility>

#include "engines.hpp"
#include "infer_engine.hpp"
#include "methods/infer/setting/infer_config.hpp"
#include "net/root/root.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "protocol/aggregated/aggregated_clients.hpp"
#include "protocol/aggregated/ldp_sgd.hpp"
#include "protocol/aggregated/plug_in_sums.hpp"

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

}  // namespace

std::unique_ptr<InferEngine> make_aggregated_engine(EngineParts parts) {
  return std::make_unique<AggregatedEngine>(std::move(parts));
}

}  // namespace starling
