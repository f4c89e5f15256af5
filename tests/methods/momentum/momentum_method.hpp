/// `starling momentum` in one run, before its rounds.
#pragma once

#include <memory>

#include "core/boundary.hpp"
#include "model/model.hpp"
#include "run/life_cycle.hpp"
#include "run/settings/learning_config.hpp"

namespace starling {

struct MomentumConfig : LearningConfig {
  double step = 0.1;      ///< c
  double momentum = 0.9;  ///< β
};

class MomentumMethod final : public Method {
 public:
  MomentumMethod(RunContext& run, RunHome& home, Configured<MomentumConfig>& configuration);

  [[nodiscard]] RunFacts privacy_facts() override;
  [[nodiscard]] std::unique_ptr<Play> make(const BegunRun& begun) override;

 private:
  MomentumConfig& config_;
  std::unique_ptr<Loss> loss_;
  std::unique_ptr<Model> model_;
  Released<Vector> start_ = declare_public(Vector());
  Round rounds_ = 0;
};

[[nodiscard]] Options momentum_options(MomentumConfig& config);
void complete_momentum_config(MomentumConfig& config, const Options& options);
[[nodiscard]] Command momentum_command();

}  // namespace starling
