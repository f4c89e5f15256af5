/// Configuration of `starling fedavg`.
#pragma once

#include <string>
#include <vector>

#include "console/command.hpp"
#include "output/model_average.hpp"
#include "protocol/aggregated/fedavg.hpp"
#include "run/settings/tuned_config.hpp"

namespace starling {

struct FedAvgConfig : TunedConfig {
  FedAvgSettings fedavg;
  Averaging average = Averaging::none;
};

[[nodiscard]] Options fedavg_options(FedAvgConfig& config);
/// Throws UsageError.
[[nodiscard]] FedAvgConfig parse_fedavg_config(const std::vector<std::string>& words, const std::string& of_run = "");
[[nodiscard]] Manual fedavg_manual();

}  // namespace starling
