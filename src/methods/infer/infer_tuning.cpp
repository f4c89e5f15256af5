// Settings of `starling infer` by its rule, and the constants by which Newton's rounds know the units of columns
// (docs/methods/inference.md, "Constants of intervals").
#include <utility>

#include "core/numerics/kernels.hpp"
#include "data/serving/dataset.hpp"
#include "graph/schedule.hpp"
#include "infer_method.hpp"
#include "model/mallows_model.hpp"
#include "privacy/pairs/pair_terms.hpp"
#include "run/inputs/start_models.hpp"
#include "run/privacy/noise_keys.hpp"
#include "run/privacy/run_pairs.hpp"
#include "run/stages/run_context.hpp"
#include "run/tuning/column_constants.hpp"
#include "run/tuning/releases/feature_release.hpp"
#include "run/tuning/rule_settings.hpp"
#include "run/tuning/settings_by_rule.hpp"
#include "run/tuning/tuned_settings.hpp"
#include "setting/infer_rule.hpp"
#include "warm_up.hpp"

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

void InferMethod::choose_settings() {
  if (!config_.tune && !config_.resume && config_.privacy.protects() && config_.decentralized()) {
    run_.notes.emplace_back("no rule is known for steps over a graph: settings that are not given keep their defaults");
  }
  const std::optional<std::int64_t> records = most_records_of_clients(run_.agreement, run_.inputs.dataset);
  if (config_.tunes()) tune(records);
  if (!config_.newton()) return;
  run_.agreement.together([&] {
    check(
        records && run_.inputs.dataset.replayable && !run_.inputs.dataset.shape.sparse,
        "--estimator newton with '{}': its rounds read all records, of a known number and dense, again and again. Use "
        "a file of these, or --estimator path.",
        config_.data.source);
    take_whole_rounds(*records);
  });
}

void InferMethod::tune(const std::optional<std::int64_t>& records) {
  const Vector all_records = run_.inputs.records_of_clients();
  const bool equal = config_.weights == ClientWeights::equal;
  Vector shares = equal ? over_own_batches(all_records) : Vector(all_records.size(), 1.0);
  scale(1 / static_cast<double>(shares.size()), shares);
  const InferRuleFacts facts{config_,
                             *parts_.loss,
                             run_.inputs.dataset.shape,
                             run_.inputs.dataset.replayable,
                             run_.inputs.layout->clients(),
                             shares,
                             records,
                             rounds_of_endless_streams,
                             pairs_ ? 1 / pairs_->terms().exposure : 1};
  std::vector<TunedValue> chosen = release_constants(why_a_path(facts), records);
  chosen.push_back({"tuning", "off", ""});
  const std::size_t dropped = features_left_out(run_.agreement, run_.inputs.dataset).size();
  std::vector<TunedValue> values;
  run_.agreement.together([&] {
    values = values_by_rule(facts);
    for (TunedValue& each : values) keep_in_range(each);
    if (run_.first_rank()) print_tuning(values, newton_outlook(facts, dropped));
  });
  for (TunedValue& each : values) each.value = run_.agreement.broadcast(declare_public(each.value));
  run_.agreement.together([&] {
    std::ranges::copy(values, std::back_inserter(chosen));
    configuration_.choose(chosen);
    if (run_.inputs.dataset.replayable) run_.inputs.dataset.plan(config_.data.batching(), records);
  });
  std::ranges::move(values, std::back_inserter(run_.tuning.chosen));
}

/// Every client's records are one batch.
void InferMethod::take_whole_rounds(std::int64_t records) {
  config_.data.batch = static_cast<std::size_t>(std::max<std::int64_t>(1, records));
  run_.inputs.dataset.plan(config_.data.batching(), records);
}

}  // namespace starling
