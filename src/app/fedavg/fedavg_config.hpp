/// Configuration of `starling fedavg`.
#pragma once

#include "app/console/command.hpp"
#include "app/settings/tuned_config.hpp"
#include <string>
#include <vector>

#include "starling/protocol/aggregated/fedavg.hpp"
#include "starling/record/model_average.hpp"

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
