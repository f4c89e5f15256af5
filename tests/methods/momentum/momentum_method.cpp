// The example of docs/how-to/add-a-learning-method.md: federated SGD with momentum, a method that the program does not
// have.
#include "momentum_method.hpp"

#include "core/numerics/kernels.hpp"
#include "output/model_file/saved_model.hpp"
#include "privacy/mechanism.hpp"
#include "protocol/aggregated/aggregated_clients.hpp"
#include "protocol/aggregated/aggregated_rounds.hpp"
#include "run/inputs/start_models.hpp"
#include "run/play_at_root.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/settings/catalogue.hpp"
#include "run/settings/model_choice.hpp"
#include "run/settings/source_options.hpp"

namespace starling {

namespace {

/// v ← βv + Σ_k ĝ_k(θ) / n over the n clients that have records in the round, θ ← θ − c v at rank 0.
class MomentumSgd final : public AggregatedRounds {
 public:
  MomentumSgd(Root& root, AggregatedClients& clients, const MomentumConfig& config, Round rounds,
              const Released<Vector>& start, Mechanism& mechanism)
      : AggregatedRounds(root, clients, start, &mechanism),
        clients_(clients),
        config_(config),
        rounds_(rounds),
        velocity_(start.value().size()),
        direction_(declare_public(Vector(start.value().size()))),
        message_(declare_public(Vector(start.value().size() + 1))) {}

  void run(const std::vector<Observer*>& observers) override {
    begin(observers);
    const auto contribution = [this](std::size_t k) -> const Released<Vector>& { return direction_of(k); };
    Released<Vector> total = declare_public(Vector());
    while (goes_on(rounds_)) {
      root_.sum(message_.value().size(), contribution, total);  // Σ ĝ_k and n
      if (root_.aggregates()) step(total.value());
      root_.broadcast(theta_);
      completed();
    }
  }
  void persist(Snapshot& snapshot) override {
    AggregatedRounds::persist(snapshot);
    snapshot.of_first_rank(root_.aggregates(), velocity_);
  }

 private:
  /// The message (ĝ_k, 1) of client k; zeros if it takes no part.
  const Released<Vector>& direction_of(std::size_t k) {
    const std::optional<double> price = clients_.begin(k, done_);
    if (price) {
      const ReleaseAddress address{ReleasePath::fedavg_gradient, root_.first() + static_cast<Client>(k), done_, 0};
      const Secret<Vector>& gradient = clients_.gradient(k, theta_.value(), mechanism_->clip());
      mechanism_->release(address, *price, clients_.key(k), gradient, direction_);
    }
    message_.update(
        [&](Vector& message, const Vector& direction) {
          for (std::size_t j = 0; j < direction.size(); ++j) message[j] = price ? direction[j] : 0;
          message.back() = price ? 1 : 0;
        },
        direction_);
    return message_;
  }

  void step(const Vector& total) {
    stepped_ = total.back() > 0;
    if (!stepped_) return;
    scale(config_.momentum, velocity_);
    axpy(1 / total.back(), View(total).first(velocity_.size()), velocity_);
    theta_.update([this](Vector& theta) { axpy(-config_.step, velocity_, theta); });
  }

  AggregatedClients& clients_;
  const MomentumConfig& config_;
  Round rounds_;
  Vector velocity_;  ///< v, on rank 0
  Released<Vector> direction_;
  Released<Vector> message_;
};

class MomentumPlay final : public PlayAtRoot {
 public:
  MomentumPlay(const BegunRun& begun, const Method& method, const MomentumConfig& config, Model& model, Round rounds,
               const Released<Vector>& start)
      : PlayAtRoot(begun, method, model, rounds, std::nullopt), config_(config), clients_(clients_of_rank(begun)) {
    protocol_ = std::make_unique<MomentumSgd>(root_, clients_, config, rounds, start, begun.privacy->mechanism());
  }
  [[nodiscard]] std::optional<SavedModel> saved_model() const override {
    const std::unique_ptr<Loss> loss = make_loss({}, config_.loss);
    return starling::saved_model({}, config_.loss, *loss, run_.inputs.dataset.shape);
  }

 private:
  const MomentumConfig& config_;
  AggregatedClients clients_;
};

}  // namespace

MomentumMethod::MomentumMethod(RunContext& run, RunHome& home, Configured<MomentumConfig>& configuration)
    : Method(run, home), config_(configuration.values()), loss_(make_loss({}, config_.loss)) {
  all_ranks_play_ = true;  // ranks without clients take part in sums
  run_.agreement.together([&] {
    run_.inputs.place_clients();
    config_.data.label_map = [this](double raw) { return loss_->label(raw); };
  });
  run_.inputs.open_streams(config_.data);
  run_.agree_on_records();
  run_.settle();
  run_.open_model([this] {
    model_ = make_model({}, *loss_, run_.inputs.dataset.shape);
    dimension_ = model_->dimension();
    start_ = start_of_all(config_, dimension_);
    rounds_ = run_.inputs.rounds_of(run_.inputs.dataset.shape.rounds);
  });
}

RunFacts MomentumMethod::privacy_facts() {
  RunFacts facts = common_facts(rounds_);
  facts.trust = config_.privacy.protects() ? TrustModel::local : TrustModel::none;
  return facts;
}

std::unique_ptr<Play> MomentumMethod::make(const BegunRun& begun) {
  return std::make_unique<MomentumPlay>(begun, *this, config_, *model_, rounds_, start_);
}

Options momentum_options(MomentumConfig& config) {
  Options options("momentum");
  options.group("Clients");
  add_client_options(options, config, "one per rank");
  add_data_options(options, config);
  add_reading_options(options, config.data);
  options.group("Learning");
  options.add(declared("loss", "loss of the model", {.values = [] { return values_of("Losses", loss_table()); }}),
              config.loss);
  options.add(declared("start", "zero, or a CSV file with one row (public)", {.initial = "zero"}), config.start);
  options.add(declared("step", "length C of all steps", {.initial = "0.1"}), config.step);
  options.add(option("momentum", "BETA", "share of the last direction in the next", {.range = {0, 1}, .common = true}),
              config.momentum);
  add_privacy_options(options, config.privacy, config.data, PersonChoices::mean);
  add_output_options(options, config, "momentum");
  add_checkpoint_options(options, config);
  return options;
}

void complete_momentum_config(MomentumConfig& config, const Options& options) {
  check_learning_options(config);
  refuse_audit(config);
  keep_configuration(options, config);
}

Manual momentum_manual() {
  return {.usage = "[OPTIONS]",
          .text = "Clients send rank 0 noisy gradients at the common model; it steps along their mean with momentum.",
          .examples = {"mpirun -n 5 starling momentum --source site-{client}.csv --mechanism gaussian --epsilon 1"}};
}

Command momentum_command() {
  return learning_command<MomentumMethod, MomentumConfig, momentum_options, complete_momentum_config>(
      "momentum", "federated SGD with momentum at rank 0", momentum_manual);
}

}  // namespace starling
