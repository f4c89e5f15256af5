/// Offline renewable estimation, variants `offline` and `offline-one-step` (docs/methods/renewable.md, "Variants").
#pragma once

#include "protocol/renewable/open_renewable.hpp"

namespace starling {

/// Equation (16) of Guo et al. over all data: safeguarded steps to convergence, or one step. Construct, then call run()
/// once.
class OfflineRenewable final : public OpenRenewable {
 public:
  enum class Steps { one, all };
  OfflineRenewable(Root& root, RenewableClients& clients, CurvedModel& model, const RenewableSettings& settings,
                   const Released<Vector>& start, const OpenChannel& channel, Steps steps);
  void run(const std::vector<Observer*>& observers) override;

  [[nodiscard]] bool converged() const { return outcome_ == Outcome::converged; }
  /// Whether the search has ended since the objective has no minimum.
  [[nodiscard]] bool without_minimum() const { return outcome_ == Outcome::without_minimum; }

 private:
  [[nodiscard]] Released<Vector> ask(View theta, const MessageParts& parts);
  void take_one_step();

  Steps steps_;
  std::int64_t pass_ = 0;
  Outcome outcome_ = Outcome::stopped;
};

}  // namespace starling
