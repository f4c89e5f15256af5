// The constants by which Newton's rounds of `starling infer` know the units of columns (docs/methods/inference.md,
// "Constants of intervals").
#include <utility>

#include "infer_method.hpp"
#include "loss/loss.hpp"
#include "run/privacy/noise_keys.hpp"
#include "run/stages/run_context.hpp"
#include "run/tuning/column_constants.hpp"
#include "run/tuning/releases/feature_release.hpp"
#include "run/tuning/rule_settings.hpp"

namespace starling {

namespace {

/// One use of a record in place of the passes of a configuration, while this lives.
class OnePass {
 public:
  explicit OnePass(InferConfig& config) : config_(config), epochs_(config.data.epochs), passes_(config.privacy.passes) {
    config.data.epochs = config.privacy.passes = 1;
  }
  OnePass(const OnePass&) = delete;
  OnePass& operator=(const OnePass&) = delete;
  ~OnePass() {
    config_.data.epochs = epochs_;
    config_.privacy.passes = passes_;
  }

 private:
  InferConfig& config_;
  std::int64_t epochs_;
  std::int64_t passes_;
};

}  // namespace

/// Why coefficients have the units of the columns as they stand there; empty if they need not.
std::string InferMethod::why_own_units() const {
  if (!config_.intercept) return "without an intercept no column can be shifted";
  return config_.privacy.clip ? "--clip speaks of their own units" : "";
}

TunedMethod InferMethod::method_of_constants() {
  return {.config = config_,
          .configuration = configuration_,
          .first_step = config_.sgd.step,
          .why_not = "",
          .why_own_units = why_own_units(),
          .steps = "rounds",
          .plays_once = false,
          .may_penalise = false,
          .own_means = false,
          .infers = true,
          .looks_within = true,
          .norms = ReleasePath::infer_range,
          .features = ReleasePath::infer_feature,
          .facts =
              [this](std::optional<std::int64_t> most_records, std::size_t parameters) {
                RuleFacts facts;
                facts.clients = run_.inputs.layout->clients();
                facts.most_records = most_records;
                facts.batch = static_cast<std::size_t>(most_records.value_or(1));  // every round takes all records
                facts.dimension = parameters;
                return facts;
              },
          .own_choices = {},
          .check_before_release =
              [this](Round /*releases*/) {
                static_cast<void>(make_noise_keys(config_.privacy.noise_key, config_.data.seed,
                                                  run_.inputs.first_client(), run_.inputs.client_count()));
              }};
}

/// Releases histograms of all columns, and gives the settings that they lead to: constants, shares and their price. The
/// histograms have a share of μ² of all rounds together.
std::vector<TunedValue> InferMethod::release_constants(const std::string& path,
                                                       const std::optional<std::int64_t>& records) {
  if (!path.empty() || config_.privacy.prices_change() || !config_.privacy.protects()) {
    const double asked =
        std::exchange(config_.privacy.feature_share, 0).value_or(0) + std::exchange(config_.scale_share, 0).value_or(0);
    if (config_.privacy.protects() && asked > 0)
      run_.notes.push_back(
          fmt::format("features are left as they are: {}",
                      path.empty() ? "prices change over the rounds" : fmt::format("a path takes them so ({})", path)));
    return {};
  }
  const OnePass all_rounds(config_);
  const TunedMethod method = method_of_constants();
  const TuningTerms terms = tuning_terms(parts_.loss.get(), pairs_);
  FeatureRelease features(method, terms, config_.privacy.feature_share);
  const std::optional<TunedValue> chosen =
      take_constants(method, terms, features, records, {[] { return false; }, [] { return true; }});
  if (!chosen || chosen->value == "none") config_.scale_share = 0;
  if (!chosen) return {};
  run_.tuning.chosen.push_back(*chosen);
  take_histogram_price(method, terms);
  return settled_constants(config_);
}

HistogramShares InferMethod::shares_of_constants() const {
  HistogramShares shares;
  if (!config_.privacy.protects()) return shares;
  shares.features = config_.privacy.feature_share.value_or(0);
  shares.norms = config_.scale_share.value_or(0);
  shares.counted = Counted::columns;
  shares.label_beside_features = config_.data.standardise.find(",label=") != std::string::npos;
  return shares;
}

}  // namespace starling
