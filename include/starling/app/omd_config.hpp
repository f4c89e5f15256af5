/// Configuration of `starling omd`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "starling/app/constraint_options.hpp"
#include "starling/app/privacy_options.hpp"
#include "starling/app/schedule_options.hpp"
#include "starling/data/dataset.hpp"
#include "starling/protocol/omd.hpp"
#include "starling/record/model_average.hpp"
#include "starling/record/network_reporter.hpp"

namespace starling {

enum class ModelChoice { linear, location };
enum class RegretChoice { none, static_regret, dynamic, both };

struct OmdConfig {
  // clients and graph
  std::optional<std::string> topology;
  std::optional<Client> clients;
  std::optional<Client> clients_per_rank;
  ScheduleOptions schedule;
  bool async = false;
  // data
  DataSettings data;
  std::optional<std::string> test;
  std::optional<std::string> save_partition;
  bool intercept = false;
  std::optional<Round> rounds;
  // learning
  std::string loss = "logistic";
  ModelChoice model = ModelChoice::linear;
  std::string mirror = "euclidean";
  std::optional<std::string> domain;
  std::string start = "uniform";
  Averaging average = Averaging::none;
  OmdSettings omd;
  std::optional<double> step_cap;
  MixingSettings mixing;
  ConstraintOptions constraints;
  // privacy
  PrivacyOptions privacy;
  RegretChoice regret = RegretChoice::none;
  std::optional<Round> benchmark_window;
  // output
  std::optional<std::string> output;
  std::optional<Round> record_every;
  std::optional<Client> record_clients;
  ProgressChoice progress = ProgressChoice::automatic;
  bool json = false;
  bool json_models = false;
  double watchdog = 60;
  bool print_config = false;

  /// The effective configuration as a file for --config.
  std::string text;

  [[nodiscard]] bool learns() const { return loss != "none"; }
};

/// Throws UsageError.
[[nodiscard]] OmdConfig parse_omd_config(const std::vector<std::string>& words);
[[nodiscard]] std::string omd_help();

}  // namespace starling
