/// Configuration of `starling omd`.
#pragma once

#include "app/console/command.hpp"
#include "app/settings/constraint_options.hpp"
#include "app/settings/schedule_options.hpp"
#include "app/settings/tuned_config.hpp"
#include <optional>
#include <string>
#include <vector>

#include "starling/protocol/decentralized/omd.hpp"
#include "starling/record/model_average.hpp"

namespace starling {

enum class RegretChoice { none, static_regret, dynamic, both };

struct OmdConfig : TunedConfig {
  // clients and graph
  std::optional<std::string> topology;
  ScheduleOptions schedule;
  bool async = false;
  // learning
  std::string mirror = "euclidean";
  std::optional<std::string> domain;
  Averaging average = Averaging::none;
  OmdSettings omd;
  std::optional<double> step_cap;  ///< none: chosen by the masses of the graph
  MixingSettings mixing;
  ConstraintOptions constraints;
  RegretChoice regret = RegretChoice::none;
  std::optional<Round> benchmark_window;
};

[[nodiscard]] Options omd_options(OmdConfig& config);
/// Throws UsageError.
[[nodiscard]] OmdConfig parse_omd_config(const std::vector<std::string>& words, const std::string& of_run = "");
[[nodiscard]] Manual omd_manual();

}  // namespace starling
