/// What `--tuning auto` knows of a method and of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/agreement.hpp"
#include "privacy/keys/release_path.hpp"
#include "privacy/metrics_policy.hpp"
#include "protocol/decentralized/learning_rule.hpp"
#include "report/tuning.hpp"

namespace starling {

class Configuration;
class Loss;
class RunInputs;
class RunPairs;
struct RunFacts;
struct TunedConfig;

/// What a rule that chooses settings has of a run. Functions are **collective**.
struct TuningTerms {
  Agreement& agreement;
  RunInputs& inputs;
  const Loss* loss;
  std::vector<std::string>& notes;
  MetricsPolicy metrics;
  std::shared_ptr<const RunPairs> pairs;        ///< under --trust pairs
  std::function<RunFacts()> facts;              ///< that all releases have. Rank-local.
  std::function<std::string()> private_folder;  ///< of this rank. The run directory is made if it is not there yet
  std::function<void()> begin_release;          ///< called before a release: after it no run begins afresh there

  [[nodiscard]] bool first_rank() const { return agreement.rank() == 0; }
};

/// A method whose settings the rule may choose, in one run.
struct TunedMethod {
  TunedConfig& config;
  Configuration& configuration;  ///< that of `config`
  double first_step;             ///< the default of --step, or what the user gave
  std::string why_not;           ///< why the rule does not hold for this run; empty if it does
  std::string why_own_units;     ///< why features must have the units that they have; empty if they may be standardised
  /// Why scores of the final model must be what they are; empty if they may be multiplied.
  std::string why_own_scores = {};
  std::string steps;  ///< the name of what makes a release of each client
  bool plays_once;    ///< whether the rule adds no passes, since what is played is measured
  bool may_penalise;  ///< whether a penalty of the rule's is the only bound on models
  bool own_means;     ///< whether single clients step by means over their own batches
  /// Whether coefficients are wanted with intervals, and not answers: nothing is clipped then.
  bool infers = false;
  bool looks_within = false;  ///< whether columns have second histograms, within the ranges that they were found in
  ReleasePath norms;          ///< the paths by which histograms of norms and of features leave a client
  ReleasePath features;
  /// The facts of the rule. `most_records` is that of all clients, `parameters` the model's.
  std::function<RuleFacts(std::optional<std::int64_t> most_records, std::size_t parameters)> facts;
  /// N_u of all clients, of a pass; null: joining is not a question of this method.
  std::function<Vector()> records_of_clients = {};
  /// Clients that would hide each other by --trust pairs; none where it is chosen already, or cannot be.
  std::optional<double> hiding_of_pairs = {};
  /// The options that are chosen for this method alone, beside those of the rule.
  std::function<std::vector<TunedValue>(const LearningRule&)> own_choices;
  /// Finds what would end the run later on, before anything is released and a directory is made. `releases` are those
  /// of a client. Rank-local.
  std::function<void(Round releases)> check_before_release;
};

}  // namespace starling
