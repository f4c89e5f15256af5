/// Configuration of `starling fedavg`.
#pragma once

#include <string>
#include <vector>

#include "starling/app/learning_config.hpp"
#include "starling/app/model_choice.hpp"
#include "starling/protocol/fedavg.hpp"
#include "starling/record/model_average.hpp"

namespace starling {

/// What clients' models count for in the mean.
enum class ClientWeights { equal, records };

struct FedAvgConfig : LearningConfig {
  ModelChoice model;
  FedAvgSettings fedavg;
  ClientWeights weights = ClientWeights::records;
  Averaging average = Averaging::none;
};

/// Throws UsageError.
[[nodiscard]] FedAvgConfig parse_fedavg_config(const std::vector<std::string>& words);
[[nodiscard]] std::string fedavg_help();

}  // namespace starling
