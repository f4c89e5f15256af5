/// Configuration of `starling fedavg`.
#pragma once

#include <string>
#include <vector>

#include "output/choices.hpp"
#include "protocol/aggregated/fedavg_settings.hpp"
#include "run/settings/tuned_config.hpp"

namespace starling {

struct Manual;

struct FedAvgConfig : TunedConfig {
  FedAvgSettings fedavg;
  std::string local_update = "plain";
  Averaging average = Averaging::none;
};

[[nodiscard]] Options fedavg_options(FedAvgConfig& config);
/// Checks what single options do not show, and fills in what follows from them. Throws UsageError.
void complete_fedavg_config(FedAvgConfig& config, const Options& options);
[[nodiscard]] Manual fedavg_manual();

}  // namespace starling
