/// Configuration of `starling omd`.
#pragma once

#include "app/console/command.hpp"
#include "app/settings/constraint_options.hpp"
#include "app/settings/learning_config.hpp"
#include "app/settings/model_choice.hpp"
#include "app/settings/schedule_options.hpp"
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "starling/protocol/decentralized/omd.hpp"
#include "starling/record/model_average.hpp"

namespace starling {

/// `--noise-correlation`; automatic leaves the choice to the rule of --tuning.
enum class CorrelationChoice { automatic, none, two_buffers };

enum class RegretChoice { none, static_regret, dynamic, both };

struct OmdConfig : LearningConfig {
  // clients and graph
  std::optional<std::string> topology;
  ScheduleOptions schedule;
  bool async = false;
  // learning
  ModelChoice model;
  std::string mirror = "euclidean";
  std::optional<std::string> domain;
  Averaging average = Averaging::none;
  OmdSettings omd;
  std::optional<double> step_cap;  ///< none: chosen by the masses of the graph
  bool linear_decay = false;       ///< steps fall to zero along a line
  // tuning
  std::optional<bool> tune;          ///< none: where a mechanism protects
  std::vector<double> norm;          ///< of a typical record: Euclidean, then L1; empty: unknown
  std::optional<double> label_size;  ///< of a typical label, of losses that do not classify; none: unknown
  /// Of a record's price, for the histogram of norms; none: the usual share where norms are to be released.
  std::optional<double> scale_share;
  CorrelationChoice correlation = CorrelationChoice::automatic;
  std::vector<std::string> given_options;  ///< of those that --tuning may choose
  MixingSettings mixing;
  ConstraintOptions constraints;
  RegretChoice regret = RegretChoice::none;
  std::optional<Round> benchmark_window;
  [[nodiscard]] bool learns() const { return loss != "none"; }
  /// Whether the user gave an option that --tuning may choose.
  [[nodiscard]] bool given(std::string_view option) const {
    return std::find(given_options.begin(), given_options.end(), option) != given_options.end();
  }
  /// Whether --tuning is to choose what the user left open, if there is a rule.
  [[nodiscard]] bool tunes() const { return learns() && privacy.mechanism && tune.value_or(privacy.protects()); }
};

/// Throws UsageError.
[[nodiscard]] OmdConfig parse_omd_config(const std::vector<std::string>& words, const std::string& of_run = "");
[[nodiscard]] Manual omd_manual();
[[nodiscard]] std::vector<Option> omd_declarations();

}  // namespace starling
