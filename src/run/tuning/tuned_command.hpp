/// The interface between `--tuning auto` and a command.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "privacy/keys/release_path.hpp"
#include "protocol/decentralized/learning_rule.hpp"
#include "run/inputs/inputs.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/settings/tuned_config.hpp"

namespace starling {

/// What a rule that chooses settings has of a run. Functions are **collective**.
struct TuningTerms {
  Agreement& agreement;
  RunInputs& inputs;
  const Loss* loss;
  std::vector<std::string>& notes;
  std::function<RunFacts()> facts;              ///< that all releases have. Rank-local.
  std::function<std::string()> private_folder;  ///< of this rank. The run directory is made if it is not there yet
  std::function<void()> begin_release;          ///< called before a release: after it no run begins afresh there

  [[nodiscard]] bool first_rank() const { return agreement.rank() == 0; }
};

/// A command whose settings the rule may choose.
class TunedCommand {
 public:
  [[nodiscard]] virtual TunedConfig& tuned_config() = 0;
  /// Takes these values into the configuration.
  virtual void choose(const std::vector<TunedValue>& chosen) = 0;
  /// The default of --step, or what the user gave.
  [[nodiscard]] virtual double first_step() const = 0;
  /// Why the rule does not hold for this run; empty if it does.
  [[nodiscard]] virtual std::string why_not_by_rule() const = 0;
  /// The facts of the rule. `most_records` is that of all clients, `parameters` the model's.
  [[nodiscard]] virtual RuleFacts facts_of_rule(std::optional<std::int64_t> most_records,
                                                std::size_t parameters) const = 0;
  /// The options that are chosen for this command alone, beside those of the rule.
  [[nodiscard]] virtual std::vector<TunedValue> own_choices(const LearningRule& /*rule*/) const { return {}; }
  /// The name of what makes a release of each client, in messages.
  [[nodiscard]] virtual std::string name_of_steps() const { return "rounds"; }
  /// Finds what would end the run later on, before anything is released and a directory is made. `releases` are those
  /// of a client. Rank-local.
  virtual void check_before_release(Round releases) = 0;
  /// The paths by which histograms of norms and of features leave a client.
  [[nodiscard]] virtual ReleasePath path_of_norms() const = 0;
  [[nodiscard]] virtual ReleasePath path_of_features() const = 0;
  /// Why features must have the units that they have; empty if they may be standardised.
  [[nodiscard]] virtual std::string why_own_units() const { return ""; }

 protected:
  ~TunedCommand() = default;
};

}  // namespace starling
