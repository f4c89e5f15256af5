#include "run/settings/tuned_config.hpp"

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "core/text/limits.hpp"
#include "data/generators/synthetic.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

void add_weights_option(Options& options, LearningConfig& config, const std::string& more,
                        std::vector<Relation> relations) {
  config.weights = ClientWeights::records;
  options.add(
      option("client-weights", "WHICH",
             fmt::format("what the model is best for: records (every record of every client counts alike, as if all "
                         "were pooled{}), or equal (every client counts alike, as the mean over its own records; a "
                         "client with few records then adds more noise)",
                         more),
             {.initial = "records", .example = "equal", .relations = std::move(relations)}),
      *config.weights, {{"records", ClientWeights::records}, {"equal", ClientWeights::equal}});
}

void add_decay_option(Options& options, TunedConfig& config, Option different) {
  options.add(declared("step-decay", std::move(different)), config.linear_decay, {{"power", false}, {"linear", true}});
}

void add_tuning_options(Options& options, TunedConfig& config, std::span<const char* const> chosen,
                        Option correlation) {
  options.group("Tuning");
  options.add(
      option(
          "tuning", "WHETHER",
          fmt::format(
              "auto: what is not given of {} is chosen from public numbers (clients, records, passes, prices) and told "
              "before the run; off: the defaults here. Default: auto, but off for generated records without noise",
              fmt::join(chosen, ", "))),
      config.tune, {{"auto", true}, {"off", false}});
  options.add(option("norm", "R[,R1]",
                     "with --tuning auto: the Euclidean norm of a typical record (of an own model without a slope: of "
                     "its gradient at the start), and under laplace its L1 norm; public. "
                     "Default: released under --scale-share, else 2; too low costs little, too high much",
                     {.range = {tiny, 1e12}, .example = "2 --tuning auto"}),
              config.norm);
  options.add(option("label-size", "Y",
                     "with --tuning auto and a loss that does not classify: the magnitude of a typical label; public. "
                     "Default: released under --scale-share, else 1; half or twice the truth costs little",
                     {.range = {tiny, 1e12}, .example = "2 --loss squared --tuning auto"}),
              config.label_size);
  options.add(option("scale-share", "S",
                     "with --tuning auto and without --norm (or --label-size, where it counts): every client first "
                     "releases a noisy histogram of the norms of its records (and of the sizes of their labels), which "
                     "has the share S of mu^2 (under laplace sqrt(S) of epsilon) and gives the gradients the rest; 0: "
                     "none. Default: 0.01. Without it, where histograms of features are released, further ones within "
                     "the ranges that these show have 0.02 to 0.35 of what is left, as columns need. With --tuning "
                     "off: what earlier releases have had",
                     {.range = {0, 0.5},
                      .unit = "share, 0 to 0.5",
                      .example = "0.01 --tuning auto",
                      .unstated = "0",
                      .relations = {needs("mechanism=laplace|gaussian", "norms are exact without noise, or unknown")}}),
              config.scale_share);
  options.add(
      option(
          "feature-share", "S",
          "with --tuning auto, gaussian and a linear model or perceptron, where nothing says how features are scaled "
          "(--standardise, --ranges, --scale, --norm, --clip, --step): every client first releases noisy histograms of "
          "its features, which have the share S of mu^2 and give the gradients the rest; records are then standardised "
          "by a mean and a deviation from them, and clipped to 5 deviations. Features that the histograms do not show "
          "are dropped; 0: none is standardised or dropped. Default: 0.1 to 0.5, by records and price. Without noise "
          "means and deviations are exact. With --tuning off: what an earlier release has had",
          {.range = {0, 0.5}, .unit = "share, 0 to 0.5", .example = "0.1 --tuning auto", .unstated = "0"}),
      config.privacy.feature_share);
  options.add(
      option("score-share", "S",
             "with gaussian, a linear model and --loss logistic: after the last round every client releases two noisy "
             "sums over the scores and labels of its records, which have the share S of mu^2 and give all else the "
             "rest; the final model is multiplied by a factor from them, so that its probabilities are right. No "
             "answer changes; 0: none. Default: 0; with --tuning auto 0.02 to 0.05, by records and price, or 0 where "
             "the sums would be noise",
             {.range = {0, 0.5},
              .unit = "share, 0 to 0.5",
              .example = "0.05 --mechanism gaussian --mu 0.5",
              .unstated = "0"}),
      config.privacy.score_share);
  add_histogram_price_option(options, config.privacy);
  add_correlation_option(options, config.correlation, std::move(correlation));
}

void add_constants_options(Options& options, TunedConfig& config, const std::string& feature, const std::string& scale,
                           const std::vector<Relation>& relations) {
  const auto share = [&](const char* name, const std::string& meaning, const char* example) {
    return option(
        name, "S", meaning,
        {.range = {0, 0.5}, .unit = "share, 0 to 0.5", .example = example, .unstated = "0", .relations = relations});
  };
  options.add(share("feature-share", feature, "0.1 --tuning auto"), config.privacy.feature_share);
  options.add(share("scale-share", scale, "0.05 --tuning auto"), config.scale_share);
  add_histogram_price_option(options, config.privacy);
}

void add_histogram_price_option(Options& options, PrivacyOptions& privacy) {
  options.add(
      option("histogram-price", "COST",
             "with --tuning off: what the histograms have cost whose results are given (--norm, --label-size, "
             "--standardise), as config.ini of the run has it that released them. A run that would count them at "
             "another cost is refused",
             {.example = "mu:norms=0.1,unit=record --tuning off --mechanism gaussian --mu 1",
              .relations = {needs("tuning=off", "a run that is tuned releases histograms of its own"),
                            needs("mechanism=laplace|gaussian", "histograms cost nothing without noise")}}),
      privacy.histogram_price);
}

void add_correlation_option(Options& options, CorrelationChoice& correlation, Option different) {
  options.add(declared("noise-correlation", std::move(different)), correlation,
              {{"auto", CorrelationChoice::automatic},
               {"none", CorrelationChoice::none},
               {"blt:2", CorrelationChoice::two_buffers}});
}

void note_open_options(const Options& options, TuningChoices& choices, std::span<const char* const> chosen) {
  choices.open_options.clear();
  const bool falls_by_power = options.given("step-power") || options.given("step-offset");
  for (const char* option : chosen) {
    const bool open = !options.stated(option) && !(falls_by_power && option == std::string_view("step-decay"));
    if (open) choices.open_options.emplace_back(option);
  }
}

bool TunedConfig::tunes() const {
  return learns() && privacy.mechanism && tune.value_or(privacy.protects() || !is_synthetic(data.source));
}

void check_norm(const TunedConfig& config) {
  // The configuration of a run that the rule has tuned says --tuning off and all that the rule went by.
  const bool chooses_nothing = !config.tune && config.privacy.mechanism && !config.tunes();
  const auto refuse = [&](bool given, std::string_view option) {
    check(!chooses_nothing || !given,
          "--{} without --tuning auto, which is not the default for generated records without noise: it would have no "
          "effect. Add --tuning auto, or leave it out.",
          option);
  };
  refuse(!config.norm.empty(), "norm");
  refuse(config.label_size.has_value(), "label-size");
  refuse(config.scale_share.value_or(0) > 0, "scale-share");
  refuse(config.privacy.feature_share.value_or(0) > 0, "feature-share");
  check(config.norm.size() <= 2, "--norm with {} numbers: a Euclidean norm, and one in L1. Give one or two.",
        config.norm.size());
}

}  // namespace starling
