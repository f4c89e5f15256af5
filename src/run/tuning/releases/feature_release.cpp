#include "feature_release.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/numerics/kernels.hpp"
#include "core/text/limits.hpp"
#include "data/generators/synthetic.hpp"
#include "data/serving/dataset.hpp"
#include "data/stream.hpp"
#include "exact_moments.hpp"
#include "histogram_counts.hpp"
#include "label_release.hpp"
#include "loss/loss.hpp"
#include "run/inputs/inputs.hpp"
#include "run/inputs/start_models.hpp"
#include "run/settings/model_choice.hpp"
#include "run/settings/tuned_config.hpp"

namespace starling {

namespace {

constexpr double least_share = 0.1;
constexpr double greatest_share = 0.5;
constexpr double small_share = 0.05;     ///< wanted by histograms, which then tell more of scales than norms
constexpr double share_for_means = 0.2;  ///< wanted by histograms, from which means are released in their place
constexpr double least_share_of_means = 0.02;
constexpr double greatest_share_of_means = 0.2;
constexpr double noise_of_means = 0.08;  ///< with which means within −1 … 1 are seen
/// ρ of all price below which labels that are numbers, of which their range alone is known, are answered by a constant.
constexpr double signal_of_features_of_numbers = 1.25;
constexpr double deviation_in_range = 1.0 / 3;  ///< of values within −1 … 1 of which no more is known
constexpr double part_of_window = 0.25;     ///< of all records, that a window of a feature's values is expected to have
constexpr double part_of_useful_bin = 0.8;  ///< of all records, in the least bin that is worth a release
constexpr double part_of_label_window = 0.4;  ///< of all records, that a window of labels is expected to have
/// Deviations of a mean; values that lie evenly in one octave have 5.2, and in two 2.6, of which they may fill any
/// part.
constexpr double means_of_one_size = 2.5;
constexpr double least_of_guess = 2;                       ///< deviations of a window in which labels may be
constexpr double label_noise = 1.0 / 16;                   ///< in records of all clients, with which labels are seen
constexpr double class_noise = 1.0 / 64;                   ///< likewise classes
constexpr std::size_t most_features_of_clients = 100'000;  ///< their histograms have 103 MB

/// A histogram of distances from the place of 0 in a range: noise on those that are beyond its ends is left out.
Vector possible_within(const Standardisation& range, View summed) {
  Vector possible(summed.begin(), summed.end());
  if (!range.is_clipped()) return possible;
  const double place = range.of(0);
  for (std::size_t k = 0; k < FeatureHistograms::magnitudes; ++k) {
    const double low = std::ldexp(1.0, FeatureHistograms::lowest_exponent + static_cast<int>(k));
    if (low > 1 - place) possible[1 + k] = 0;
    if (low > 1 + place) possible[1 + FeatureHistograms::magnitudes + k] = 0;
  }
  return possible;
}

}  // namespace

bool FeatureRelease::clips() const {
  const bool may_be_rare = run_.loss != nullptr && (!run_.loss->classifies() || run_.loss->link() == Link::hazard);
  return !method_.infers && (!is_exact() || !(may_be_rare || config_.plain_fit));
}

FeatureRelease::FeatureRelease(const TunedMethod& method, const TuningTerms& run, const std::optional<double>& share)
    : method_(method), run_(run), config_(method.config), asked_for_(share.has_value()), share_(share.value_or(0)) {}

/// Why histograms of features would be of no use, whatever the records are; empty if they are of use.
std::string FeatureRelease::why_of_no_use() const {
  using Kind = ModelChoice::Kind;
  const DataSettings& data = config_.data;
  const bool protects = config_.privacy.protects();
  if (protects && !config_.privacy.mechanism_row().gaussian()) return "their histograms need Gaussian noise";
  if (!data.standardise.empty() || data.scale != 1) return "they are scaled already";
  if (data.features != ReadSettings::Features::raw) return "they describe pictures";
  if (is_synthetic(data.source) || (config_.test && is_synthetic(*config_.test))) return "a generator makes them";
  if (config_.model.kind != Kind::linear && config_.model.kind != Kind::perceptron) {
    return "it is known of linear models and perceptrons alone what that brings";
  }
  if (method_.infers) return method_.why_own_units;
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

/// The share for which a window of a quarter of all records would stand out; `noise` is the deviation of the noise on a
/// sum at the greatest share.
double FeatureRelease::wanted_share(double noise, std::int64_t records) {
  const double least = FeatureHistograms::above_noise * noise / static_cast<double>(records);
  return greatest_share * std::pow(least / part_of_window, 2);
}

/// The same within the range of shares, or the share that was asked for. None where not even a bin of all records would
/// stand out, and of four fifths where labels are classes: then a constant answers as well.
std::optional<double> FeatureRelease::share_for(double noise, std::int64_t records) const {
  const double least = FeatureHistograms::above_noise * noise / static_cast<double>(records);
  const double share = asked_for_ ? share_ : std::clamp(wanted_share(noise, records), least_share, greatest_share);
  const double greatest_bin = classes_ > 0 ? part_of_useful_bin : 1;
  if (least * std::sqrt(greatest_share / share) > greatest_bin) return std::nullopt;
  return std::stod(fmt::format("{:.3g}", share));
}

/// The share at which a histogram of labels alone shows them. **Collective.**
double FeatureRelease::share_of_label_alone(HistogramFacts facts) const {
  if (asked_for_) return share_;
  const double least = FeatureHistograms::above_noise * take_share(facts, greatest_share) /
                       static_cast<double>(records_of(run_.agreement, facts));
  const double share = greatest_share * std::pow(least / part_of_label_window, 2);
  return std::stod(fmt::format("{:.3g}", std::clamp(share, least_share, greatest_share)));
}

/// Whether features, or labels beside them, may be looked at; finds out which. **Collective.**
bool FeatureRelease::is_of_use(const std::optional<std::int64_t>& most_records) {
  if (asked_for_ && share_ == 0) return false;
  const std::string why = why_as_they_are(most_records);
  const bool is_scaled = config_.data.scales_columns() || is_synthetic(config_.data.source);
  const bool tells = config_.privacy.protects() ? share_ > 0 : !is_scaled;
  if (tells && !why.empty()) run_.notes.push_back(fmt::format("features are left as they are: {}", why));
  if (!run_.agreement.all(declare_public(why.empty()))) return false;
  found_.columns = number_columns(run_);
  if (found_.columns.count() == 0) return false;
  if (run_.agreement.any(declare_public(run_.inputs.test && run_.inputs.test->sparse()))) {
    run_.notes.emplace_back("features are left as they are: those of --test are sparse, and could not be standardised");
    return false;
  }
  if (config_.data.fills_zeros()) {
    run_.agreement.together([&] { run_.inputs.read_again_with_missing_values(); });
    shows_missing_ = true;
  }
  return true;
}

/// Sets the share of the histograms of features. Returns the deviation of the noise on a sum over all clients, the same
/// bits on all ranks. **Collective.**
double FeatureRelease::take_share(HistogramFacts& facts, double share) const {
  facts.share = share;
  facts.of_price = feature_share_of(config_.privacy, share, config_.data.epochs);
  return noise_of_sum(method_, run_, facts);
}

/// The weight of the label's histogram beside those of so many features: as much as shows it. `noise` is the deviation
/// of the noise on a sum of one histogram alone, in records of all clients.
std::size_t FeatureRelease::weight_of_label(std::size_t features, double noise) const {
  const auto count = static_cast<double>(features);
  const bool starts = classes_ > 0 || shows_mean_;
  const double most_noise = starts ? class_noise : label_noise;
  const double left = most_noise * most_noise - noise * noise;
  const double wanted = left > 0 ? std::sqrt(count / left) * noise : std::numeric_limits<double>::infinity();
  const double third = std::sqrt(count / 2);                                                       // of the price
  if (starts) return static_cast<std::size_t>(std::clamp(wanted, 1.0, std::max(third / 2, 1.0)));  // a ninth
  return static_cast<std::size_t>(std::lround(std::clamp(wanted, third, 2 * std::sqrt(count)) + 0.5));
}

/// The places of zero in the ranges of features and of the label, or their nearest ends.
Vector FeatureRelease::zeros_of_ranges() const {
  Vector zeros;
  for (const Standardisation& each : found_.columns.ranges) zeros.push_back(each.of(0));
  zeros.push_back(found_.columns.label_range.of(0));
  return zeros;
}

/// The counts of all clients of these features, and of the label if it is standardised; nothing where no budget allows
/// them. **Collective.**
std::optional<Vector> FeatureRelease::counts_of(HistogramFacts facts, std::size_t weight) {
  const FeatureHistograms form(facts.form.histograms, 1, 0, weight);
  const Vector origins = zeros_of_ranges();
  return release_of(std::move(facts), [&](Stream& stream) {
    return count_features(stream, form, found_.columns.features, origins, classes_);
  });
}

/// The sum over all clients of what `count` finds in their records; nothing where no budget allows the release.
/// **Collective.**
std::optional<Vector> FeatureRelease::release_of(HistogramFacts facts,
                                                 const std::function<Secret<Counts>(Stream&)>& count) {
  const std::string name = facts.name;
  HistogramRelease release(run_.agreement, *run_.inputs.layout, config_.privacy, std::move(facts),
                           run_.private_folder());
  if (!release.affordable()) {
    run_.notes.push_back(fmt::format("{} are not released: the --budget does not allow it", name));
    return std::nullopt;
  }
  std::vector<Secret<Counts>> counts;
  run_.agreement.together([&] {
    for (const auto& stream : run_.inputs.dataset.streams) counts.push_back(count(*stream));
  });
  run_.begin_release();
  return release.release(method_.features, counts);
}

std::optional<TunedValue> FeatureRelease::release(const std::optional<std::int64_t>& most_records,
                                                  const std::function<bool()>& have_one_scale) {
  if (!is_of_use(most_records)) return std::nullopt;
  if (!config_.privacy.protects()) return exact(*most_records);
  if (has_label() && found_.columns.label_range.is_clipped()) {
    const double place = FeatureMeans::place_of_label(found_.columns.label_range.of(0));
    found_.label = FeatureSight{FeatureSight::Kind::values, {place, deviation_in_range}, {-1, 1}};
  }
  const std::size_t count = found_.columns.count();
  const bool numbers = has_label() && !found_.columns.label_range.is_clipped();
  classes_ = method_.infers ? 0 : classes_of_start(config_, run_.loss);
  shows_mean_ = !method_.infers && starts_at_mean(config_, run_.loss);
  if (method_.infers && found_.columns.all_have_ranges() && !numbers) return std::nullopt;
  const std::size_t labels = numbers || classes_ > 0 || shows_mean_ ? 1 : 0;
  HistogramFacts facts{.name = "histograms of features",
                       .end = end_of_features,
                       .form = FeatureHistograms::form_of(1),
                       .of_price = feature_share_of(config_.privacy, greatest_share, config_.data.epochs)};
  run_.agreement.together([&] { complete_facts(facts, method_, *most_records, run_.facts(), run_.inputs.dataset); });
  const std::int64_t records = records_of(run_.agreement, facts);
  const std::size_t weight =
      labels > 0 ? weight_of_label(count, take_share(facts, greatest_share) / static_cast<double>(records)) : 1;
  facts.form = FeatureHistograms::form_of(count + labels, weight);
  const double noise_of_most = take_share(facts, greatest_share);
  const double wanted = wanted_share(noise_of_most, records);
  if (!numbers && wanted > share_for_means && found_.columns.all_have_ranges()) {
    return wants_constant_alone(*most_records) ? constant_alone() : means(std::move(facts), records);
  }
  const std::optional<double> share = share_for(noise_of_most, records);
  if (share && !asked_for_ && !numbers && wanted > small_share && config_.data.ranges.empty() && !shows_missing_) {
    if (have_one_scale()) return std::nullopt;
    run_.agreement.together([&] { plan_counting(config_.data, run_.inputs.dataset, *most_records); });
  }
  return histograms(std::move(facts), share, labels, weight);
}

/// Releases histograms of features, at this share, and of the label, if there is one. **Collective.**
std::optional<TunedValue> FeatureRelease::histograms(HistogramFacts facts, const std::optional<double>& share,
                                                     std::size_t labels, std::size_t weight) {
  std::size_t count = found_.columns.count();
  found_.sights.assign(count, {});
  if (!share) {  // labels alone may be seen; constants of classes and means are learned from gradients as well
    count = 0;
    const bool counts_classes = std::exchange(classes_, 0) > 0;
    if (std::exchange(shows_mean_, false) || counts_classes) labels = 0;
    found_.columns.features.clear();
    weight = 1;
    facts.form = FeatureHistograms::form_of(1);
  }
  share_ = share.value_or(labels > 0 ? share_of_label_alone(facts) : 0);
  if (count + labels > 0) {
    const double noise = take_share(facts, share_);
    const std::optional<Vector> sum = counts_of(std::move(facts), weight);
    if (!sum) return std::nullopt;
    const auto part = [&](std::size_t j) {
      return View(*sum).subspan(FeatureHistograms::bins * j, FeatureHistograms::bins);
    };
    for (std::size_t j = 0; j < count; ++j) {
      const Standardisation& range = found_.columns.ranges[j];
      found_.sights[j] = feature_sight(possible_within(range, part(j)), noise);
      if (std::abs(found_.sights[j].moments.mean) > means_of_one_size * found_.sights[j].moments.deviation)
        of_one_size_.push_back(j);
      const bool is_zero_beyond = range.is_clipped() && std::abs(range.mean) > range.deviation;
      if (found_.sights[j].kind == FeatureSight::Kind::zeros && is_zero_beyond) at_ends_.push_back(j);
      if (found_.sights[j].kind != FeatureSight::Kind::nothing)
        found_.sights[j].moments.mean += found_.columns.ranges[j].of(0);
    }
    if (classes_ > 0) {
      take_classes(FeatureHistograms::counts_of_classes(part(count), classes_), noise);
    } else if (shows_mean_) {
      take_mean(feature_sight(part(count), noise));
    } else if (labels > 0) {
      take_label(part(count), noise);
    }
  }
  for (std::size_t j = 0; j < found_.sights.size(); ++j) {
    if (found_.sights[j].kind == FeatureSight::Kind::nothing && found_.columns.ranges[j].is_clipped()) {
      found_.sights[j] = {FeatureSight::Kind::values, {0, deviation_in_range}, {}};
    }
  }
  note(note_of_dropped(found_, method_.infers));
  if (method_.infers) note(note_of_zeros(found_));
  return value_of();
}

void FeatureRelease::note_unresolved() {
  if (of_one_size_.empty() && at_ends_.empty()) return;
  unresolved_ = static_cast<double>(of_one_size_.size()) / static_cast<double>(found_.columns.source_columns);
  if (!at_ends_.empty()) {
    unresolved_ = 1;  // what these columns would tell is lost, and may be all
    run_.notes.push_back(fmt::format(
        "histograms show values of some features at an end of their ranges alone, where all beyond it count too ({}): "
        "hardly anything is learned from these. Check --ranges",
        found_.columns.some_of(at_ends_)));
  }
  if (of_one_size_.empty()) return;
  run_.notes.push_back(fmt::format(
      "histograms show that all values of some features are of one size, not how they differ ({}): less may be learned "
      "from these. A narrow range in --ranges, or a mean and deviation in --standardise, says it and costs nothing",
      found_.columns.some_of(of_one_size_)));
}

void FeatureRelease::note(std::string text) const {
  if (!text.empty()) run_.notes.push_back(std::move(text));
}

/// Whether so little is to be learned of features that the constant wants the whole price: that of labels which are
/// known to lie in their range, and may be far from where labels usually do. **Collective.**
bool FeatureRelease::wants_constant_alone(std::int64_t most_records) const {
  const bool are_all = found_.columns.count() == found_.columns.source_columns;
  if (!found_.label || !are_all || asked_for_ || method_.infers || !config_.model.intercept()) return false;
  const RuleFacts facts = method_.facts(most_records, found_.columns.source_columns + 1);
  const double signal = signal_to_noise(facts, learning_rule(facts));
  return run_.agreement.broadcast(declare_public(signal < signal_of_features_of_numbers));
}

/// Drops all features.
TunedValue FeatureRelease::constant_alone() {
  share_ = 0;
  found_.sights.assign(found_.columns.count(), {});
  note(
      "no feature is learned from: noise would outweigh what they tell at this price, and the constant of labels wants "
      "all of it. The model answers a constant. More records or a higher price change that");
  return value_of();
}

/// Releases means of features within their ranges, where records are too few for histograms. **Collective.**
std::optional<TunedValue> FeatureRelease::means(HistogramFacts facts, std::int64_t records) {
  facts.name = "means of features";
  const FeatureMeans::Parts parts{found_.columns.count(), found_.label.has_value(), classes_};
  const FeatureMeans means(parts, FeatureMeans::usual_places(parts, zeros_of_ranges()), 1, 0);
  facts.form = FeatureMeans::form_of(parts);
  if (!asked_for_) {
    const double noise = means.noise_of_mean(take_share(facts, greatest_share_of_means), records);
    const double share = greatest_share_of_means * std::pow(noise / noise_of_means, 2);
    share_ = std::stod(fmt::format("{:.3g}", std::clamp(share, least_share_of_means, greatest_share_of_means)));
  }
  const double noise = take_share(facts, share_);
  const std::optional<Vector> sum = release_of(
      std::move(facts), [&](Stream& stream) { return sum_features(stream, means, found_.columns.features); });
  if (!sum) return std::nullopt;
  found_.source = FoundFeatures::Source::means;
  FeatureMeans::Found found = means.found(*sum, noise, records);
  if (!found.shows_deviations) unresolved_ = 1;
  if (found.label) found_.label->moments = *found.label;
  if (classes_ > 0) take_classes(std::move(found.classes), found.noise_of_classes);
  for (const FeatureMoments& each : found.features) found_.sights.push_back({FeatureSight::Kind::values, each, {}});
  return value_of();
}

/// Columns of one value have nothing to tell, and are dropped.
std::optional<TunedValue> FeatureRelease::exact(std::int64_t most_records) {
  Secret<Columns> here;
  run_.agreement.together([&] {
    plan_counting(config_.data, run_.inputs.dataset, most_records);
    here = client_moments(run_.inputs.dataset.streams, found_.columns.features);
  });
  const std::optional<Released<Columns>> shared = run_.metrics.share(here, SharedFigure::column_scales);
  if (!shared) {
    run_.notes.emplace_back(
        "features are left as they are: --metrics local keeps their means and deviations. --standardise says them");
    return std::nullopt;
  }
  found_.source = FoundFeatures::Source::moments;
  const std::vector<ColumnMoments> all = moments_of_all(run_.agreement, *shared);
  const auto sight = [](const ColumnMoments& moments) {
    if (moments.deviation == 0 || !std::isfinite(moments.deviation)) return FeatureSight{};
    return FeatureSight{FeatureSight::Kind::values,
                        {moments.mean, moments.deviation},
                        {},
                        moments.is_flag ? std::optional(ValueRange{0, 1}) : std::nullopt};
  };
  for (std::size_t j = 0; j < found_.columns.count(); ++j) found_.sights.push_back(sight(all[j]));
  if (const FeatureSight label = sight(all.back()); has_label() && label.kind == FeatureSight::Kind::values) {
    found_.label = label;
  }
  note(note_of_dropped(found_, false));
  return value_of();
}

/// Whether labels are to be standardised: a loss of numbers depends on their distance from scores alone, so that both
/// may be shifted and scaled.
bool FeatureRelease::has_label() const {
  return run_.loss != nullptr && !config_.model.own && !run_.loss->classifies() && run_.loss->link() != Link::log &&
         !config_.label_size;
}

void FeatureRelease::take_classes(Vector counts, double noise) {
  start_ = {
      "start", run_.agreement.broadcast(declare_public(start_at_counts(std::move(counts), noise))),
      "the constant that answers classes with their shares, which are released in one with the sizes of features"};
}

/// Where nothing stands out, the start stays as it is.
void FeatureRelease::take_mean(const FeatureSight& label) {
  if (label.kind != FeatureSight::Kind::values || label.moments.mean <= 0) return;
  start_ = {"start",
            run_.agreement.broadcast(declare_public(fmt::format("{}{:.4g}", start_at_mean, label.moments.mean))),
            "the constant that answers the mean of labels, which is released in one with the sizes of features"};
}

/// Where nothing stands out, the likeliest place of labels counts.
void FeatureRelease::take_label(View summed, double noise) {
  found_.label = feature_sight(summed, noise);
  if (found_.label->kind == FeatureSight::Kind::values) return;
  guesses_labels_ = true;
  run_.notes.emplace_back(
      "records are too few at this price to show how large labels are: the constants of labels are a guess. Public "
      "limits of all columns, in --ranges, say them and cost nothing");
  found_.label = feature_sight(summed, noise, least_of_guess);
}

/// `none` where features stay as they are.
TunedValue FeatureRelease::value_of() {
  const std::size_t kept = found_.kept();
  const std::size_t learned = kept + (config_.model.intercept() ? 1 : 0);
  norm_ = std::sqrt(static_cast<double>(std::max<std::size_t>(learned, 1)));  // a model of nothing has steps too
  kept_ = static_cast<double>(kept) / static_cast<double>(found_.columns.source_columns);
  std::string text = standardise_text(found_, {.infers = method_.infers, .clips = clips()});
  std::string reason = reason_of_constants(kept);
  if (found_.have_scale_already(config_.model.intercept())) {
    text = "none";
    reason = "features have one scale " + cost_text();
  }
  return {"standardise", run_.agreement.broadcast(declare_public(text)), reason};  // processors may round differently
}

std::string FeatureRelease::cost_text() const {
  if (is_exact()) return "over all records, which nobody protects";
  return fmt::format("by released {}, which cost each {} {:.3g} of the square of its mu once",
                     has_means() ? "means within ranges" : "histograms", name_of(config_.privacy.unit), share_);
}

std::string FeatureRelease::reason_of_constants(std::size_t kept) const {
  if (share_ == 0 && !is_exact()) {
    return kept > 0                           ? "ranges alone show how large values are"
           : found_.columns.all_have_ranges() ? "noise would outweigh what features tell"
                                              : "nothing shows how large the values of any feature are";
  }
  const std::string within =
      share_within_ > 0
          ? fmt::format(", and by a second release within their ranges, which cost {:.3g} of the rest", share_within_)
          : "";
  const std::size_t count = found_.sights.size();
  return fmt::format("mean and deviation of {} of {} features{} {}{}", count - found_.dropped().size(), count,
                     found_.label ? " and of labels" : "", cost_text(), within);
}

}  // namespace starling
