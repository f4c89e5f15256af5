#include "column_constants.hpp"

#include <utility>

#include "data/constants.hpp"
#include "data/serving/dataset.hpp"
#include "loss/loss.hpp"
#include "releases/feature_release.hpp"
#include "run/inputs/inputs.hpp"
#include "run/settings/configuration.hpp"
#include "run/settings/tuned_config.hpp"
#include "tuned_settings.hpp"

namespace starling {

std::optional<TunedValue> take_constants(const TunedMethod& method, const TuningTerms& run, FeatureRelease& features,
                                         const std::optional<std::int64_t>& most_records,
                                         const ConstantsChoices& choices) {
  TunedConfig& config = method.config;
  config.privacy.feature_share = 0;
  const auto read_again = [&] { run.agreement.together([&] { run.inputs.read_again_with_other_constants(); }); };
  std::optional<TunedValue> chosen = features.release(most_records, choices.have_one_scale);
  const bool stay = !chosen || chosen->value == "none";
  if (stay && features.shows_missing()) read_again();
  if (!chosen) return std::nullopt;
  config.privacy.feature_share = features.share();
  if (!stay) {
    if (choices.refines()) {
      const std::optional<double> asked = std::exchange(config.scale_share, 0);
      if (std::optional<TunedValue> refined = features.refine(most_records.value_or(0), asked)) {
        config.scale_share = features.share_within();
        chosen = std::move(refined);
      }
    }
    features.note_unresolved();
    config.data.standardise = chosen->value;
    if (!config.data.ranges.empty()) method.configuration.withdraw("ranges");
    config.data.ranges.clear();
    read_again();
  }
  if (run.first_rank()) print_tuning({*chosen}, "");
  if (features.standardises_labels() && has_parameter(config.loss, "c")) {
    run.notes.push_back(
        fmt::format("labels are standardised by released constants: what --loss {} counts in are deviations of labels. "
                    "--feature-share 0 leaves all columns as they are",
                    config.loss));
  }
  return chosen;
}

void take_histogram_price(const TunedMethod& method, const TuningTerms& run) {
  TunedConfig& config = method.config;
  const Client clients = run.inputs.layout->clients();
  std::string cost;
  run.agreement.together([&] {
    cost = histogram_prices(config.privacy, config.scale_share.value_or(0), config.data.epochs, clients)
               .text(config.privacy, clients, run.pairs.get());
  });
  cost = run.agreement.broadcast(declare_public(cost));
  if (!cost.empty()) config.privacy.histogram_price = cost;
}

std::vector<TunedValue> settled_constants(const TunedConfig& config) {
  std::vector<TunedValue> settled;
  const auto settle = [&](const char* option, std::string value) { settled.push_back({option, std::move(value), ""}); };
  if (config.privacy.protects()) {
    settle("scale-share", fmt::format("{}", config.scale_share.value_or(0)));
    settle("feature-share", fmt::format("{}", config.privacy.feature_share.value_or(0)));
  }
  if (config.privacy.histogram_price) settle("histogram-price", *config.privacy.histogram_price);
  if (config.data.standardise.starts_with(values_of_columns)) settle("standardise", config.data.standardise);
  return settled;
}

std::vector<std::size_t> features_left_out(Agreement& agreement, const Dataset& dataset) {
  std::vector<std::int64_t> here;
  if (const std::optional<PublicConstants>& constants = dataset.constants;
      constants && !constants->standardisation.empty()) {
    const std::vector<ColumnFeature> made = constants->made_features();
    for (std::size_t j = 0; j < made.size(); ++j) {
      const bool is_number = made[j].kind == ColumnFeature::Kind::value;
      if (is_number && constants->standardisation[made[j].column].is_left_out())
        here.push_back(static_cast<std::int64_t>(j));
    }
  }
  std::vector<std::size_t> features;
  for (const std::vector<std::int64_t>& of_rank : agreement.all_gather(declare_public(std::move(here)))) {
    if (features.empty()) features.assign(of_rank.begin(), of_rank.end());
  }
  return features;
}

}  // namespace starling
