/// Configuration of `starling omd`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "output/choices.hpp"
#include "protocol/decentralized/settings.hpp"
#include "run/settings/constraint_options.hpp"
#include "run/settings/schedule_options.hpp"
#include "run/settings/tuned_config.hpp"

namespace starling {

struct Manual;

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
  std::optional<double> start_records;  ///< none: the start does not count in the final models
  std::optional<double> step_cap;       ///< none: chosen by the masses of the graph
  MixingSettings mixing;
  ConstraintOptions constraints;
  RegretChoice regret = RegretChoice::none;
  std::optional<Round> benchmark_window;
};

[[nodiscard]] Options omd_options(OmdConfig& config);
/// Checks what single options do not show, and fills in what follows from them. Throws UsageError.
void complete_omd_config(OmdConfig& config, const Options& options);
/// Whether a run with these settings, and noise of its clients' own alone, could have --trust pairs in their place.
[[nodiscard]] bool may_trust_pairs(const OmdConfig& config);
[[nodiscard]] Manual omd_manual();

}  // namespace starling
