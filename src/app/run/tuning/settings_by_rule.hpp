/// `--tuning auto` of a run, from the release of norms to the settings with which it plays.
#pragma once

#include "app/run/privacy/norm_release.hpp"
#include "app/run/privacy/run_privacy.hpp"
#include "app/settings/tuned_config.hpp"
#include "app/settings/tuned_settings.hpp"
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/membership.hpp"
#include "starling/data/serving/dataset.hpp"
#include "starling/loss/loss.hpp"
#include "starling/net/agreement.hpp"
#include "starling/privacy/correlation.hpp"
#include "starling/privacy/keys/release_path.hpp"
#include "starling/protocol/decentralized/learning_rule.hpp"
#include "starling/report/summary.hpp"

namespace starling {

/// A command whose settings the rule may choose.
class TunedCommand {
 public:
  [[nodiscard]] virtual TunedConfig& tuned_config() = 0;
  /// Reads these words in place of the command line's, and keeps what opening the data has put into the configuration.
  virtual void read_again(const std::vector<std::string>& words) = 0;
  /// The default of --step, or what the user gave.
  [[nodiscard]] virtual double first_step() const = 0;
  /// Why the rule does not hold for this run; empty if it does.
  [[nodiscard]] virtual std::string why_not_by_rule() const = 0;
  /// The facts of the rule. `most_records` is that of all clients, `parameters` the model's.
  [[nodiscard]] virtual RuleFacts facts_of_rule(std::optional<std::int64_t> most_records,
                                                std::size_t parameters) const = 0;
  /// The options that the rule chooses for this command alone.
  [[nodiscard]] virtual std::vector<TunedValue> own_choices() const { return {}; }
  /// The name of what makes a release of each client, in messages.
  [[nodiscard]] virtual std::string name_of_steps() const { return "rounds"; }
  /// Finds what would end the run later on, before anything is released and a directory is made. `releases` are those
  /// of a client. Rank-local.
  virtual void check_before_release(Round releases) = 0;
  /// The path by which histograms of norms leave a client.
  [[nodiscard]] virtual ReleasePath path_of_norms() const = 0;

 protected:
  ~TunedCommand() = default;
};

/// The parts of a run by which its settings are chosen. References are not kept.
struct RunToTune {
  Agreement& agreement;
  const Layout& layout;
  int rank;
  const Membership& members;
  Dataset& dataset;
  const Loss& loss;
  std::vector<std::string>& notes;
  std::function<RunFacts()> facts;              ///< of a run of one round
  std::function<std::string()> private_folder;  ///< LearningRun::private_folder_before_rounds. **Collective.**
};

/// Records of the client that has most; none for a source without end. **Collective.**
[[nodiscard]] std::optional<std::int64_t> most_records_of_clients(Agreement& agreement, const Dataset& dataset);

/// The correlation of noise over so many releases of a client, or of rank 0 over those of all clients: a record's uses
/// are as far apart as the shortest pass of a client is long. Throws UsageError. **Collective.**
[[nodiscard]] NoiseCorrelation correlation_of_run(const DataSettings& data, Round releases, const RunToTune& run);

/// The settings of one run.
class SettingsByRule {
 public:
  /// Keeps a reference.
  explicit SettingsByRule(TunedCommand& command) : command_(command) {}

  /// Takes from the rule what the user left open in the `words` of the command line. **Collective.**
  void choose(const std::vector<std::string>& words, RunToTune run);
  /// Chooses the correlation of a client's noise over so many releases, where the configuration wants it. Throws
  /// UsageError. **Collective.**
  void choose_correlation(Round releases, RunToTune run);

  /// What the run's privacy has to know: norms that were released, and the correlation.
  void describe(RunFacts& facts, const Loss* loss) const;
  void describe(Summary& summary) const;
  /// The part of checkpoints that says what was chosen.
  [[nodiscard]] KeptChoices& kept() { return kept_; }

 private:
  [[nodiscard]] TunedConfig& config() const { return command_.tuned_config(); }
  void say_that_no_rule_is_known(const std::string& why_not, const RunToTune& run) const;
  [[nodiscard]] std::vector<TunedValue> values_of_rule(const std::optional<std::int64_t>& most_records,
                                                       const RunToTune& run);
  void choose_norms(const std::optional<std::int64_t>& most_records, const RunToTune& run);
  void release_norms(double share, std::int64_t most_records, const RunToTune& run);
  void take_norms(double share, const TypicalNorms& norms, const RunToTune& run);
  void take(const std::vector<std::string>& given, const std::vector<TunedValue>& values);

  TunedCommand& command_;
  std::vector<TunedValue> chosen_;
  KeptChoices kept_{chosen_};
  double signal_to_noise_ = 0;
  std::optional<NoiseCorrelation> correlation_;
};

}  // namespace starling
