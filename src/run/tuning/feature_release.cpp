#include "feature_release.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "data/generators/synthetic.hpp"
#include "files/tell_user.hpp"
#include "histogram_counts.hpp"
#include "run/inputs/start_models.hpp"

namespace starling {

namespace {

constexpr double usual_share = 0.1;
constexpr std::size_t most_features_of_clients = 100'000;  ///< their histograms have 103 MB

}  // namespace

FeatureRelease::FeatureRelease(const TunedMethod& method, const TuningTerms& run, const std::optional<double>& share)
    : method_(method),
      run_(run),
      config_(method.config),
      asked_for_(share.value_or(0) > 0),
      share_(share.value_or(usual_share)) {}

/// Why histograms of features would be of no use, whatever the records are; empty if they are of use.
std::string FeatureRelease::why_of_no_use() const {
  using Missing = ReadSettings::Missing;
  using Kind = ModelChoice::Kind;
  const DataSettings& data = config_.data;
  if (!config_.privacy.mechanism_row().gaussian()) return "their histograms need Gaussian noise";
  if (data.scales_columns() || data.scale != 1) return "they are scaled already";
  if (data.features != ReadSettings::Features::raw) return "they describe pictures";
  if (data.missing == Missing::zero || data.missing == Missing::indicator) return "missing ones become 0";
  if (is_synthetic(data.source) || (config_.test && is_synthetic(*config_.test))) return "a generator makes them";
  if (config_.model.kind != Kind::linear && config_.model.kind != Kind::perceptron) {
    return "it is known of linear models and perceptrons alone what that brings";
  }
  if (!is_start_word(config_.start)) return "the start speaks of their own units";
  for (const char* option : {"clip", "step"}) {
    if (config_.given(option)) return fmt::format("--{} speaks of their own units", option);
  }
  return config_.norm.empty() ? method_.why_own_units : "--norm speaks of their own units";
}

std::string FeatureRelease::why_as_they_are(const std::optional<std::int64_t>& most_records) const {
  if (const std::string why = why_of_no_use(); !why.empty()) return why;
  const DataShape& shape = run_.inputs.dataset.shape;
  if (shape.sparse) return "records are sparse, and their zeros would become numbers";
  if (!run_.inputs.dataset.replayable) return "their records come once";
  if (most_records.value_or(0) == 0 || *most_records > NoisyCounts::most_records) return "there is no end of records";
  if (shape.features * static_cast<std::size_t>(run_.inputs.layout->clients()) > most_features_of_clients) {
    return fmt::format("their histograms would be large (more than {} features of all clients)",
                       most_features_of_clients);
  }
  return "";
}

/// Finds the features that are numbers. All ranks learn which columns these are. **Collective.**
void FeatureRelease::choose_features() {
  std::vector<std::int64_t> here;
  std::int64_t columns = 0;
  if (const auto& constants = run_.inputs.dataset.constants) {
    columns = static_cast<std::int64_t>(constants->features);
    const std::vector<ColumnFeature> made = constants->made_features();
    for (std::size_t j = 0; j < made.size(); ++j) {
      if (made[j].kind != ColumnFeature::Kind::value) continue;
      features_.push_back(j);
      here.push_back(static_cast<std::int64_t>(made[j].column));
    }
  }
  columns_ = static_cast<std::size_t>(run_.agreement.max(declare_public(columns)));
  for (const std::vector<std::int64_t>& each : run_.agreement.all_gather(declare_public(std::move(here)))) {
    if (each.size() > column_of_.size()) column_of_.assign(each.begin(), each.end());
  }
}

/// Whether a bin that stands out needs no more than a part of all records.
bool FeatureRelease::is_worth_it(std::int64_t records, double least) const {
  const std::int64_t enough = records_for_features(least);
  if (records < enough && run_.first_rank()) {
    tell_user(
        "tuning: {} features stay as they are: {} records are too few for histograms of them, and {} would do "
        "(--standardise or --ranges say public constants)\n",
        column_of_.size(), records, enough);
  }
  return records >= enough;
}

std::optional<TunedValue> FeatureRelease::release(const std::optional<std::int64_t>& most_records) {
  if (share_ == 0 || !config_.privacy.protects()) return std::nullopt;
  const std::string why = why_as_they_are(most_records);
  if (asked_for_ && !why.empty()) run_.notes.push_back(fmt::format("features are left as they are: {}", why));
  if (!run_.agreement.all(declare_public(why.empty()))) return std::nullopt;
  choose_features();
  const std::size_t count = column_of_.size();
  if (count == 0) return std::nullopt;
  HistogramFacts facts{.name = "histograms of features",
                       .end = end_of_features,
                       .form = FeatureHistograms::form_of(count),
                       .share = share_,
                       .of_price = feature_share_of(config_.privacy, share_, config_.data.epochs)};
  run_.agreement.together([&] { complete_facts(facts, method_, *most_records, run_.facts(), run_.inputs.dataset); });
  if (run_.agreement.any(declare_public(run_.inputs.test && run_.inputs.test->sparse()))) {
    run_.notes.emplace_back("features are left as they are: those of --test are sparse, and could not be standardised");
    return std::nullopt;
  }
  const std::int64_t records = records_of(run_.agreement, facts);
  const Vector variances = variances_of(run_.agreement, *run_.inputs.layout, config_.privacy, facts);
  const double least = run_.agreement.broadcast(declare_public(least_count_of_features(variances, count)));
  if (!is_worth_it(records, least)) return std::nullopt;
  const std::string folder = run_.private_folder();
  HistogramRelease release(run_.agreement, *run_.inputs.layout, config_.privacy, std::move(facts), folder);
  if (!release.affordable()) {
    run_.notes.emplace_back("histograms of features are not released: the --budget does not allow it");
    return std::nullopt;
  }
  std::vector<Secret<Counts>> counts;
  run_.agreement.together([&] {
    const FeatureHistograms histograms(count, 1, 0);
    for (const auto& stream : run_.inputs.dataset.streams)
      counts.push_back(count_features(*stream, histograms, features_));
  });
  run_.begin_release();
  const Vector sum = release.release(method_.features, counts);
  std::vector<std::optional<FeatureMoments>> moments;
  for (std::size_t j = 0; j < count; ++j) {
    moments.push_back(
        feature_moments(View(sum).subspan(FeatureHistograms::bins * j, FeatureHistograms::bins), least, records));
  }
  TunedValue value = value_of(moments);
  value.value = run_.agreement.broadcast(declare_public(value.value));  // processors may round differently
  return value;
}

/// Six digits are more than the bins tell. `none` where features stay as they are.
TunedValue FeatureRelease::value_of(const std::vector<std::optional<FeatureMoments>>& moments) const {
  std::vector<std::string> values(columns_, "0/1");
  std::vector<FeatureMoments> known;
  for (std::size_t j = 0; j < moments.size(); ++j) {
    if (!moments[j]) continue;
    known.push_back(*moments[j]);
    values[column_of_[j]] = fmt::format("{:.6g}/{:.6g}", moments[j]->mean, moments[j]->deviation);
  }
  const std::string cost = fmt::format("by released histograms, which cost each {} {:.3g} of the square of its mu once",
                                       name_of(config_.privacy.unit), share_);
  const std::size_t standardised = known.size();
  if (config_.model.intercept()) known.push_back({.mean = 0, .deviation = 1});  // as large as its constant
  if (have_one_scale(known)) return {"standardise", "none", "features have one scale " + cost};
  return {"standardise", fmt::format("values:{}", fmt::join(values, ",")),
          fmt::format("mean and deviation of {} of {} features {}", standardised, moments.size(), cost)};
}

}  // namespace starling
