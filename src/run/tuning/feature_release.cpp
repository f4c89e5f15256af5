#include "feature_release.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "core/numerics/kernels.hpp"
#include "data/generators/synthetic.hpp"
#include "histogram_counts.hpp"
#include "run/inputs/start_models.hpp"

namespace starling {

namespace {

constexpr double least_share = 0.1;
constexpr double greatest_share = 0.5;
constexpr double part_of_window = 0.25;  ///< of all records, that a window of a feature's values is expected to have
constexpr double clip = 5;               ///< deviations, at which standardised features are clipped
constexpr std::size_t most_named = 5;    ///< features in a message
constexpr std::size_t most_features_of_clients = 100'000;  ///< their histograms have 103 MB

}  // namespace

FeatureRelease::FeatureRelease(const TunedMethod& method, const TuningTerms& run, const std::optional<double>& share)
    : method_(method), run_(run), config_(method.config), asked_for_(share.has_value()), share_(share.value_or(0)) {}

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

/// The share for which a window of a quarter of all records would stand out, within the range of shares; `noise` is
/// the deviation of the noise on a sum at the greatest share. None where even a bin of all records would not.
std::optional<double> FeatureRelease::share_for(double noise, std::int64_t records) const {
  const double least = FeatureHistograms::above_noise * noise / static_cast<double>(records);
  const double share =
      asked_for_ ? share_
                 : std::clamp(greatest_share * std::pow(least / part_of_window, 2), least_share, greatest_share);
  if (least * std::sqrt(greatest_share / share) > 1) return std::nullopt;
  return std::stod(fmt::format("{:.3g}", share));
}

std::optional<TunedValue> FeatureRelease::release(const std::optional<std::int64_t>& most_records) {
  if (asked_for_ && share_ == 0) return std::nullopt;
  if (!config_.privacy.protects()) return std::nullopt;
  const std::string why = why_as_they_are(most_records);
  if (share_ > 0 && !why.empty()) run_.notes.push_back(fmt::format("features are left as they are: {}", why));
  if (!run_.agreement.all(declare_public(why.empty()))) return std::nullopt;
  choose_features();
  const std::size_t count = column_of_.size();
  if (count == 0) return std::nullopt;
  if (run_.agreement.any(declare_public(run_.inputs.test && run_.inputs.test->sparse()))) {
    run_.notes.emplace_back("features are left as they are: those of --test are sparse, and could not be standardised");
    return std::nullopt;
  }
  HistogramFacts facts{.name = "histograms of features",
                       .end = end_of_features,
                       .form = FeatureHistograms::form_of(count),
                       .of_price = feature_share_of(config_.privacy, greatest_share, config_.data.epochs)};
  const auto take_share = [&](double share) {
    facts.share = share;
    facts.of_price = feature_share_of(config_.privacy, share, config_.data.epochs);
    return noise_of_sum(facts);
  };
  run_.agreement.together([&] { complete_facts(facts, method_, *most_records, run_.facts(), run_.inputs.dataset); });
  const std::int64_t records = records_of(run_.agreement, facts);
  const std::optional<double> share = share_for(take_share(greatest_share), records);
  share_ = share.value_or(0);
  if (!share) return value_of(std::vector<FeatureSight>(count));
  const double noise = take_share(*share);
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
  std::vector<FeatureSight> sights;
  for (std::size_t j = 0; j < count; ++j) {
    sights.push_back(feature_sight(View(sum).subspan(FeatureHistograms::bins * j, FeatureHistograms::bins), noise));
  }
  return value_of(sights);
}

/// The deviation of the noise on a count, summed over all clients: the same bits on all ranks. **Collective.**
double FeatureRelease::noise_of_sum(const HistogramFacts& facts) const {
  const Vector variances = variances_of(run_.agreement, *run_.inputs.layout, config_.privacy, facts);
  return run_.agreement.broadcast(declare_public(std::sqrt(sum(variances))));
}

/// Names of some of the features, in messages.
std::string FeatureRelease::names_of(const std::vector<std::size_t>& features) const {
  const std::vector<std::string>& names = run_.inputs.dataset.shape.names;
  std::vector<std::string> some;
  for (const std::size_t j : features) {
    if (some.size() == most_named) break;
    some.push_back(column_of_[j] < names.size() && names.size() == columns_ ? names[column_of_[j]]
                                                                            : fmt::format("{}", column_of_[j]));
  }
  return fmt::format("{}{}", fmt::join(some, ", "),
                     features.size() > some.size() ? fmt::format(" and {} more", features.size() - some.size()) : "");
}

void FeatureRelease::note_dropped(const std::vector<std::size_t>& dropped) const {
  if (dropped.empty()) return;
  const bool all = dropped.size() == column_of_.size();
  run_.notes.push_back(fmt::format(
      "{}: records are too few at this price to show how large {} values are. {}. --ranges says it and costs nothing; "
      "--feature-share 0 leaves features as they are",
      all ? "no feature is learned from"
          : fmt::format("{} of {} features are dropped ({})", dropped.size(), column_of_.size(), names_of(dropped)),
      all ? "their" : "those", all ? "The model answers a constant" : "They count as 0, in predictions too"));
}

/// Six digits are more than the bins tell. `none` where features stay as they are.
TunedValue FeatureRelease::value_of(const std::vector<FeatureSight>& sights) {
  std::vector<std::string> values(columns_, "0/1");
  std::vector<FeatureMoments> known;
  std::vector<std::size_t> dropped;
  for (std::size_t j = 0; j < sights.size(); ++j) {
    const auto& [kind, moments] = sights[j];
    std::string& value = values[column_of_[j]];
    if (kind == FeatureSight::Kind::nothing) {
      value = "drop";
      dropped.push_back(j);
    } else if (kind == FeatureSight::Kind::zeros) {
      value = fmt::format("0/{:.6g}/{:g}", std::ldexp(1.0, FeatureHistograms::lowest_exponent), clip);
    } else {
      known.push_back(moments);
      value = fmt::format("{:.6g}/{:.6g}/{:g}", moments.mean, moments.deviation, clip);
    }
  }
  const std::string cost = fmt::format("by released histograms, which cost each {} {:.3g} of the square of its mu once",
                                       name_of(config_.privacy.unit), share_);
  const std::size_t seen = known.size();
  if (config_.model.intercept()) known.push_back({.mean = 0, .deviation = 1});  // as large as its constant
  std::string text = "none";
  std::string reason = "features have one scale " + cost;
  if (seen == 0 || !dropped.empty() || !have_one_scale(known)) {
    note_dropped(dropped);
    text = fmt::format("values:{}", fmt::join(values, ","));
    reason = dropped.size() == sights.size() ? "nothing shows how large the values of any feature are"
                                             : fmt::format("mean and deviation of {} of {} features {}",
                                                           sights.size() - dropped.size(), sights.size(), cost);
  }
  const std::size_t kept = columns_ - dropped.size();
  norm_ = std::sqrt(static_cast<double>(kept + (config_.model.intercept() ? 1 : 0)));
  kept_ = static_cast<double>(kept) / static_cast<double>(columns_);
  return {"standardise", run_.agreement.broadcast(declare_public(text)), reason};  // processors may round differently
}

}  // namespace starling
