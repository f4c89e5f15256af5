/// Options of commands whose settings `--tuning auto` may choose by the learning rule (docs/methods/learning-rule.md).
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/options.hpp"
#include "run/settings/learning_config.hpp"
#include "run/settings/model_choice.hpp"

namespace starling {

/// `--noise-correlation`; automatic leaves the choice to the rule of --tuning, or to a command without one.
enum class CorrelationChoice { automatic, none, two_buffers };

/// `--tuning`, and what the user left to it.
struct TuningChoices {
  std::optional<bool> tune;  ///< none: where the rule is known to help
  CorrelationChoice correlation = CorrelationChoice::automatic;
  std::vector<std::string> open_options;  ///< those that --tuning may choose, and the user has not given

  /// Whether the user gave an option that --tuning may choose.
  [[nodiscard]] bool given(std::string_view option) const {
    return std::ranges::find(open_options, option) == open_options.end();
  }
};

/// The fit of a linear model of classes where nobody is protected: rounds until it is at rest, with scikit-learn's
/// penalty.
struct PlainFit {
  Round rounds;  ///< of all passes
  double l2;     ///< λ
};

struct TunedConfig : LearningConfig, TuningChoices {
  TunedConfig() { deals_evenly = true; }
  ModelChoice model;
  bool linear_decay = false;         ///< steps fall to zero along a line
  std::vector<double> norm;          ///< of a typical record: Euclidean, then L1; empty: unknown
  std::optional<double> label_size;  ///< of a typical label, of losses that do not classify; none: unknown
  /// Share of a record's price for the histogram of norms; none: the usual share where norms are to be released.
  std::optional<double> scale_share;

  std::optional<double> largest_norm;   ///< of all records, where nobody is protected; none: nobody has looked
  std::optional<double> kept_features;  ///< the part of features that the rule has not dropped; none: it chose nothing
  bool whole_rounds = false;            ///< the rule has chosen rounds of all records
  std::optional<PlainFit> plain_fit;    ///< the rule fits to the end; none: it does not

  /// Whether --tuning is to choose what the user left open, if there is a rule.
  [[nodiscard]] bool tunes() const;
};

/// --client-weights. `more` says more of `records`.
void add_weights_option(Options& options, LearningConfig& config, const std::string& more,
                        std::vector<Relation> relations);
/// --step-decay, `different` from its declaration in the catalogue.
void add_decay_option(Options& options, TunedConfig& config, Option different);
/// --tuning, --norm, --label-size, --scale-share, --feature-share, --score-share, --histogram-price and
/// --noise-correlation. `chosen` are the options that the rule chooses where they are left open; `correlation` is what
/// is different in the declaration of --noise-correlation.
void add_tuning_options(Options& options, TunedConfig& config, std::span<const char* const> chosen,
                        Option correlation = {});
/// --feature-share and --scale-share of methods without a rule for their steps, and --histogram-price. `feature` and
/// `scale` are the helps of the first two.
void add_constants_options(Options& options, TunedConfig& config, const std::string& feature, const std::string& scale,
                           const std::vector<Relation>& relations = {});
/// --histogram-price.
void add_histogram_price_option(Options& options, PrivacyOptions& privacy);
/// --noise-correlation, `different` from its declaration in the catalogue.
void add_correlation_option(Options& options, CorrelationChoice& correlation, Option different = {});
/// Notes which of these options the user left open. A file that states a default has given it. Who gives a power or an
/// offset of steps has chosen `--step-decay power`.
void note_open_options(const Options& options, TuningChoices& choices, std::span<const char* const> chosen);
/// Throws UsageError for a norm of more than two numbers, and for norms, sizes and shares that --tuning would have gone
/// by if it chose anything.
void check_norm(const TunedConfig& config);

}  // namespace starling
