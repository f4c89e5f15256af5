// Constants by which Newton's rounds know the units of columns (docs/methods/inference.md, "Constants of intervals").
#include <iterator>
#include <utility>

#include "infer_method.hpp"
#include "run/privacy/noise_keys.hpp"
#include "run/tuning/releases/feature_release.hpp"

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
  const std::optional<double> asked = std::exchange(config_.privacy.feature_share, 0);
  const std::optional<double> asked_within = std::exchange(config_.scale_share, 0);
  if (!config_.privacy.protects()) return {};
  if (!path.empty() || config_.privacy.prices_change()) {
    if (asked.value_or(0) > 0) run_.notes.push_back(fmt::format("features are left as they are: {}", path));
    return {};
  }
  const OnePass all_rounds(config_);
  const TunedMethod method = method_of_constants();
  const TuningTerms terms = tuning_terms(parts_.loss.get());
  FeatureRelease features(method, terms, asked);
  std::optional<TunedValue> chosen = features.release(records, [] { return false; });
  const bool stays = !chosen || chosen->value == "none";
  if (stays && features.shows_missing())
    run_.agreement.together([&] { run_.inputs.read_again_with_other_constants(); });
  if (!chosen) return {};
  config_.privacy.feature_share = features.share();
  if (!stays) {
    if (std::optional<TunedValue> refined = features.refine(records.value_or(0), asked_within)) {
      config_.scale_share = features.share_within();
      chosen = std::move(refined);
    }
    config_.data.standardise = chosen->value;
    if (!config_.data.ranges.empty()) configuration_.withdraw("ranges");
    config_.data.ranges.clear();
    run_.agreement.together([&] { run_.inputs.read_again_with_other_constants(); });
  }
  if (run_.first_rank()) print_tuning({*chosen}, "");
  run_.tuning.chosen.push_back(*chosen);
  note_constants(features);
  std::string cost;
  run_.agreement.together([&] {
    cost = histogram_prices(config_.privacy, *config_.scale_share, 1, run_.inputs.layout->clients())
               .text(config_.privacy, run_.inputs.layout->clients());
  });
  cost = run_.agreement.broadcast(declare_public(cost));
  std::vector<TunedValue> settled{{"feature-share", fmt::format("{}", *config_.privacy.feature_share), ""},
                                  {"scale-share", fmt::format("{}", *config_.scale_share), ""}};
  if (!cost.empty()) settled.push_back({"histogram-price", cost, ""});
  if (!stays) settled.push_back({"standardise", chosen->value, ""});
  return settled;
}

void InferMethod::note_constants(const FeatureRelease& features) const {
  if (!features.standardises_labels()) return;
  run_.notes.push_back(
      fmt::format("labels are standardised by released constants: what --loss {} counts in are deviations of labels. "
                  "--feature-share "
                  "0 leaves all columns as they are",
                  config_.loss));
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

/// The features whose columns the constants leave out, ascending. **Collective.**
std::vector<std::size_t> InferMethod::left_out() const {
  std::vector<std::int64_t> here;
  const std::optional<PublicConstants>& constants = run_.inputs.dataset.constants;
  if (constants && !constants->standardisation.empty()) {
    const std::vector<ColumnFeature> made = constants->made_features();
    for (std::size_t j = 0; j < made.size(); ++j) {
      const bool is_number = made[j].kind == ColumnFeature::Kind::value;
      if (is_number && constants->standardisation[made[j].column].is_left_out())
        here.push_back(static_cast<std::int64_t>(j));
    }
  }
  std::vector<std::size_t> features;
  for (const std::vector<std::int64_t>& of_rank : run_.agreement.all_gather(declare_public(std::move(here)))) {
    if (features.empty()) features.assign(of_rank.begin(), of_rank.end());
  }
  return features;
}

}  // namespace starling
