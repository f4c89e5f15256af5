/// `--tuning auto` of a run, from the release of norms to the settings with which it plays.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/columns.hpp"
#include "releases/tuned_method.hpp"
#include "report/tuning.hpp"
#include "run/privacy/run_facts.hpp"

namespace starling {

class Model;

/// The norms of a typical record of all clients; none where too few records stand out of the noise.
struct TypicalNorms {
  std::optional<double> l2;
  std::optional<double> l1;     ///< under Laplace noise
  std::optional<double> label;  ///< of typical labels, where they are counted: the upper end of the median bin
};

/// The histograms whose results a run has, for its privacy. `loss` may be null.
[[nodiscard]] HistogramShares histograms_of(const TunedConfig& config, const Loss* loss);

class FeatureRelease;

/// The choice of settings for one run.
class SettingsByRule {
 public:
  SettingsByRule(TunedMethod method, TuningTerms run) : method_(std::move(method)), run_(std::move(run)) {}

  /// Takes from the rule what the user left open. **Collective.**
  [[nodiscard]] Tuning choose();
  /// Releases constants of columns alone, for a method that has no rule for its other settings. **Collective.**
  [[nodiscard]] Tuning standardise();

 private:
  [[nodiscard]] TunedConfig& config() const { return method_.config; }
  void say_that_no_rule_is_known(const std::string& why_not) const;
  void choose_plain_fit(const std::optional<std::int64_t>& most_records);
  void choose_passes(const std::optional<std::int64_t>& most_records);
  [[nodiscard]] std::vector<TunedValue> values_of_rule(const std::optional<std::int64_t>& most_records);
  [[nodiscard]] std::string outlook_of(const RuleFacts& facts, std::size_t parameters);
  [[nodiscard]] bool may_add_intercept() const;
  void note_missing_intercept() const;
  void note_own_units(const RuleFacts& facts);
  void settle_intercept(TypicalNorms& norms);
  void tell_intercept();
  void choose_score_share(const std::optional<std::int64_t>& most_records);
  void choose_features(const std::optional<std::int64_t>& most_records);
  void choose_norms(const std::optional<std::int64_t>& most_records);
  void release_norms(double share, std::int64_t most_records);
  void take_exact_sizes(std::int64_t most_records);
  [[nodiscard]] bool counts_constant() const;
  void add_constant(TypicalNorms& norms);
  [[nodiscard]] bool asks_gradients() const;
  [[nodiscard]] bool may_ask_gradients(const std::optional<std::int64_t>& most_records) const;
  [[nodiscard]] std::unique_ptr<Model> asked_model() const;
  [[nodiscard]] Vector point_of_start(const Model& model) const;
  void take_norms(double share, const TypicalNorms& norms);
  [[nodiscard]] bool norms_speak_of_one_scale(const std::optional<std::int64_t>& most_records);
  [[nodiscard]] std::string why_sizes_are_unknown() const;
  [[nodiscard]] bool settles_sizes(const FeatureRelease& features) const;
  void take_sizes_of_constants();
  void take_norm_of_standardised();
  void tell(const std::vector<TunedValue>& values);
  void take(const std::vector<TunedValue>& values);

  TunedMethod method_;
  TuningTerms run_;
  Tuning tuning_;
  std::optional<TunedValue> start_;  ///< by released shares of classes, or a mean
  bool has_chosen_norms_ = false;
  std::optional<double> norm_of_features_;  ///< of a typical record, where the norm has an intercept's constant
  bool has_deviations_ = false;             ///< of labels, which are numbers in such units
  bool labels_are_guessed_ = false;
  bool histograms_show_one_scale_ = false;  ///< of features, which stay as they are
  std::string why_units_;                   ///< why_units_are_unknown(), once the rule has its settings
  double unresolved_ = 0;                   ///< part of the features of which nothing shows how values differ
  bool has_means_ = false;                  ///< of features within ranges, in place of histograms
  double norm_of_standardised_ = 1;         ///< once features are standardised; by their number
};

}  // namespace starling
