/// Settings of a private run that its user left open, from public numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/decentralized/learning_rule.hpp"
#include "report/tuning.hpp"

namespace starling {

class Loss;
struct DataShape;
struct TunedConfig;

/// Whether the rule may correlate the noise of a client over its releases.
[[nodiscard]] bool may_correlate(const TunedConfig& config);

/// Why no rule is known for this run, in any command; empty if there is one. Throws UsageError for an unknown loss or
/// mechanism.
[[nodiscard]] std::string why_no_rule(const TunedConfig& config);
/// The defaults that decide most where there is no rule, of those that the user left open: " (--clip 1)"; empty
/// without. `step` is that of --step.
[[nodiscard]] std::string open_defaults(const TunedConfig& config, double step);

/// The facts of the rule but for the number of rounds and the step that the user gave, and for what a domain or map
/// adds. `shares` are the factors with which the mean model has the clients' noisy means over a batch; one at least is
/// not 0. `most_records` is that of all clients, `parameters` the model's.
[[nodiscard]] RuleFacts rule_facts(const TunedConfig& config, const Loss& loss, View shares,
                                   std::optional<std::int64_t> most_records, std::size_t parameters);

/// N_max/N_k for each client, which makes its mean over a full batch one over its own mean batch; 0 without records.
/// All are 1 where nobody has a known number.
[[nodiscard]] Vector over_own_batches(View records);

/// The rule's values of those options that are not given, and then of those that a single command has. `steps` is the
/// name of what makes a release of a client.
[[nodiscard]] std::vector<TunedValue> tuned_values(const TunedConfig& config, const RuleFacts& facts,
                                                   const LearningRule& rule, std::vector<TunedValue> of_command,
                                                   const std::string& steps);

/// Whether a run without noise may fit its model to the end: a linear model of classes, of which nobody chose passes,
/// batches, rounds or steps.
[[nodiscard]] bool may_fit_to_the_end(const TunedConfig& config, const Loss& loss);

/// Passes over the data, which can be read again where `most_records` is known: sixteen under Gaussian noise with a
/// total price, passes_without_noise() without a mechanism, else what the user gave.
[[nodiscard]] std::int64_t tuned_passes(const TunedConfig& config, const Loss* loss,
                                        std::optional<std::int64_t> most_records,
                                        std::optional<std::int64_t> least_records);

/// Passes of rounds of all records (docs/methods/learning-rule.md, "Whole rounds").
inline constexpr std::int64_t passes_of_whole_rounds = 32;
/// Signal to noise of sixteen passes in many rounds below which such rounds learn more; likewise under --trust pairs.
inline constexpr double signal_of_whole_rounds = 10;
inline constexpr double signal_of_whole_rounds_of_pairs = 15;
inline constexpr double signal_of_whole_rounds_of_networks = 0.15;  ///< whose noise counts for more by the yardstick
/// Whether the rule may choose them.
[[nodiscard]] bool may_take_whole_rounds(const TunedConfig& config, std::optional<std::int64_t> most_records);

/// The norm of a typical record.
struct NormOfRecords {
  double whole = 0;                        ///< with an intercept's constant
  std::optional<double> of_features = {};  ///< none: what the constant leaves of the whole
};
/// Whether records of this norm may have features of one scale.
[[nodiscard]] bool may_have_one_scale(const NormOfRecords& norm, std::size_t features, bool intercept);

/// Why features may have units that steps of one length suit badly, and what to do; empty if they have none.
[[nodiscard]] std::string why_units_are_unknown(const TunedConfig& config, const RuleFacts& facts,
                                                const std::optional<double>& norm_of_features, const DataShape& shape);

/// Why nobody can tell what a tuned run will lose to noise, whatever the noise and the sizes of values, and what to do;
/// empty if somebody can.
[[nodiscard]] std::string why_loss_is_unknown(const TunedConfig& config, const RuleFacts& facts);

}  // namespace starling
