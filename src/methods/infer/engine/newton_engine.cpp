#include <algorithm>
#include <utility>

#include "engines.hpp"
#include "infer_engine.hpp"
#include "inference/preconditioner.hpp"
#include "methods/infer/setting/infer_config.hpp"
#include "net/root/root.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "protocol/aggregated/aggregated_clients.hpp"
#include "protocol/aggregated/newton.hpp"
#include "protocol/aggregated/preconditioned.hpp"

namespace starling {

NewtonSettings newton_settings(const InferConfig& config, std::vector<std::size_t> left_out) {
  const bool protects = config.privacy.protects();
  return {.rounds = config.sgd.steps,
          .closing = protects ? std::max<Round>(1, (config.sgd.steps + 1) / 2) : 1,
          .finds_scales = protects,
          .intercept = config.intercept,
          .left_out = std::move(left_out)};
}

namespace {

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

}  // namespace

std::unique_ptr<InferEngine> make_newton_engine(EngineParts parts) {
  return std::make_unique<NewtonEngine>(std::move(parts));
}

}  // namespace starling
