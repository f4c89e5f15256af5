#include <utility>

#include "engines.hpp"
#include "infer_engine.hpp"
#include "methods/infer/setting/infer_config.hpp"
#include "mirror/mirror.hpp"
#include "model/mallows_model.hpp"
#include "protocol/decentralized/mixing_channel.hpp"
#include "protocol/decentralized/omd.hpp"

namespace starling {

OmdSettings omd_settings(const InferConfig& config) {
  OmdSettings settings;
  settings.rounds = config.sgd.steps;
  settings.step = config.sgd.step;
  settings.step_power = config.sgd.step_power;
  settings.step_offset = config.sgd.step_offset;
  settings.step_cap = config.step_cap;
  return settings;
}

namespace {

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

std::unique_ptr<InferEngine> make_decentralized_engine(EngineParts parts) {
  return std::make_unique<DecentralizedEngine>(std::move(parts));
}

}  // namespace starling
