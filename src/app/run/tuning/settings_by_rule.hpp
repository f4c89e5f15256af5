/// `--tuning auto` of a run, from the release of norms to the settings with which it plays.
#pragma once

#include "app/settings/tuned_settings.hpp"
#include "histogram_counts.hpp"
#include "tuned_command.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "starling/privacy/correlation.hpp"

namespace starling {

/// Records of the client that has most; none for a source without end. **Collective.**
[[nodiscard]] std::optional<std::int64_t> most_records_of_clients(Agreement& agreement, const Dataset& dataset);

/// The correlation of noise over so many releases of a client, or of rank 0 over those of all clients: a record's uses
/// are as far apart as the shortest pass of a client is long. Throws UsageError. **Collective.**
[[nodiscard]] NoiseCorrelation correlation_of_run(const DataSettings& data, Round releases, const RunToTune& run);

/// The norms of a typical record of all clients; none where too few records stand out of the noise.
struct TypicalNorms {
  std::optional<double> l2;
  std::optional<double> l1;     ///< under Laplace noise
  std::optional<double> label;  ///< of typical labels, where they are counted: the upper end of the median bin
};

/// The settings of one run.
class SettingsByRule {
 public:
  /// Keeps a reference.
  explicit SettingsByRule(TunedCommand& command) : command_(command) {}

  /// Takes from the rule what the user left open in the `words` of the command line. **Collective.**
  void choose(const std::vector<std::string>& words, RunToTune run);
  /// Notes that a model has no intercept, where the rule would have given it one and nobody has spoken of either.
  void note_missing_intercept(std::vector<std::string>& notes) const;
  /// Chooses the correlation of a client's noise over so many releases, where the configuration wants it. Throws
  /// UsageError. **Collective.**
  void choose_correlation(Round releases, RunToTune run);

  /// What the run's privacy has to know: norms that were released, and the correlation.
  void describe(RunFacts& facts, const Loss* loss) const;
  void describe(Summary& summary) const;
  /// Keeps what was chosen, and the outlook, in checkpoints.
  void persist(Snapshot& snapshot);

 private:
  [[nodiscard]] TunedConfig& config() const { return command_.tuned_config(); }
  void say_that_no_rule_is_known(const std::string& why_not, const RunToTune& run) const;
  [[nodiscard]] std::vector<TunedValue> values_of_rule(const std::optional<std::int64_t>& most_records,
                                                       const std::optional<std::int64_t>& fewest_records,
                                                       const RunToTune& run);
  [[nodiscard]] std::optional<bool> takes_intercept() const;
  void settle_intercept(TypicalNorms& norms);
  void tell_intercept(const RunToTune& run);
  void choose_features(const std::optional<std::int64_t>& most_records, const RunToTune& run);
  void choose_norms(const std::optional<std::int64_t>& most_records, const RunToTune& run);
  void release_norms(double share, std::int64_t most_records, const RunToTune& run);
  void take_norms(double share, const TypicalNorms& norms, const RunToTune& run);
  void tell(const std::vector<TunedValue>& values, const RunToTune& run);
  void take(const std::vector<std::string>& given, const std::vector<TunedValue>& values);

  TunedCommand& command_;
  std::vector<TunedValue> chosen_;
  double signal_to_noise_ = 0;
  std::optional<NoiseCorrelation> correlation_;
};

}  // namespace starling
