#include "within_ranges.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/numerics/kernels.hpp"
#include "data/stream.hpp"
#include "histogram_counts.hpp"
#include "run/inputs/inputs.hpp"
#include "run/settings/tuned_config.hpp"

namespace starling {

namespace {

constexpr double least_share_within = 0.05;
constexpr double greatest_share_within = 0.25;
constexpr double least_share_of_later = 0.02;
constexpr double greatest_share_of_later = 0.07;
constexpr double least_share_of_means_within = 0.02;
constexpr double greatest_share_of_means_within = 0.2;
constexpr double noise_of_means_within = 0.08;  ///< with which means within −1 … 1 are seen
constexpr double most_noise_of_means = 0.15;  ///< likewise: beyond, they tell less than what a first release has shown
constexpr double rounding = 1.01;             ///< of a share, in the noise that it leaves

/// A second release that is being planned: its share may still change.
class SecondRelease {
 public:
  /// Has streams begin a pass over all records. **Collective.**
  SecondRelease(const TunedMethod& method, const TuningTerms& run, const Look& look, std::string name,
                NoisyCounts::Form form, double share)
      : method_(method),
        run_(run),
        facts_{.name = std::move(name),
               .end = ends_of_looks.at(look.earlier),
               .form = std::move(form),
               .share = share,
               .of_price = norm_share_of(method.config.privacy, share, method.config.data.epochs)} {
    run.agreement.together([&] { complete_facts(facts_, method, look.most_records, run.facts(), run.inputs.dataset); });
    records_ = records_of(run.agreement, facts_);
  }

  [[nodiscard]] std::int64_t records() const { return records_; }
  [[nodiscard]] double share() const { return facts_.share; }
  void choose_share(double share) {
    facts_.share = std::stod(fmt::format("{:.3g}", share));
    facts_.of_price = norm_share_of(method_.config.privacy, facts_.share, method_.config.data.epochs);
  }
  /// The deviation of the noise on a sum over all clients. **Collective.**
  [[nodiscard]] double noise() const { return noise_of_sum(method_, run_, facts_); }
  /// Nothing where no budget allows it. **Collective.**
  [[nodiscard]] std::optional<Vector> sum(const std::function<Secret<Counts>(Stream&)>& count) {
    std::vector<Secret<Counts>> counts;
    run_.agreement.together([&] {
      for (const auto& stream : run_.inputs.dataset.streams) counts.push_back(count(*stream));
    });
    HistogramRelease release(run_.agreement, *run_.inputs.layout, method_.config.privacy, facts_,
                             run_.private_folder());
    if (!release.affordable()) return std::nullopt;
    run_.begin_release();
    return release.release(method_.norms, counts);
  }

 private:
  const TunedMethod& method_;
  const TuningTerms& run_;
  HistogramFacts facts_;
  std::int64_t records_ = 0;
};

}  // namespace

double noise_of_sum(const TunedMethod& method, const TuningTerms& run, const HistogramFacts& facts) {
  const Vector variances = variances_of(run.agreement, *run.inputs.layout, method.config.privacy, facts);
  return run.agreement.broadcast(declare_public(std::sqrt(sum(variances))));
}

std::optional<RangeCounts> release_within(const TunedMethod& method, const TuningTerms& run, const Look& look,
                                          const std::string& name, std::size_t columns,
                                          const std::function<Secret<Counts>(Stream&)>& count) {
  const double least = look.earlier == 0 ? least_share_within : least_share_of_later;
  const double greatest = look.earlier == 0 ? greatest_share_within : greatest_share_of_later;
  SecondRelease release(method, run, look, name, RangeHistograms::form_of(columns), look.asked.value_or(least));
  const double most_noise = noise_of_ranges * static_cast<double>(release.records());
  double noise = release.noise();
  if (!look.asked && noise > most_noise) {
    release.choose_share(std::min(release.share() * std::pow(noise / most_noise, 2), greatest));
    noise = release.noise();
    if (noise > rounding * most_noise) return std::nullopt;
  }
  std::optional<Vector> sum = release.sum(count);
  if (!sum) return std::nullopt;
  return RangeCounts{std::move(*sum), noise, release.records(), release.share()};
}

std::optional<RangeMeans> release_means_within(const TunedMethod& method, const TuningTerms& run, const Look& look,
                                               const RangedColumns& columns) {
  const FeatureMeans::Parts parts{
      .features = columns.features.size(), .classes = 1 + RangeHistograms::bins, .part_of_classes = 1};
  const FeatureMeans means(parts, columns.places, 1, 0);
  SecondRelease release(method, run, look, "means of features and histogram of labels", FeatureMeans::form_of(parts),
                        look.asked.value_or(greatest_share_of_means_within));
  const double most_noise = noise_of_ranges * static_cast<double>(release.records());
  if (!look.asked) {
    const double noise = release.noise();
    const double excess = std::max(means.noise_of_mean(noise, release.records()) / noise_of_means_within,
                                   means.noise_of_class(noise) / most_noise);
    release.choose_share(std::clamp(greatest_share_of_means_within * excess * excess, least_share_of_means_within,
                                    greatest_share_of_means_within));
  }
  const double noise = release.noise();
  const bool suffices = means.noise_of_class(noise) <= rounding * most_noise &&
                        means.noise_of_mean(noise, release.records()) <= most_noise_of_means;
  if (!look.asked && !suffices) return std::nullopt;
  const std::optional<Vector> sum =
      release.sum([&](Stream& stream) { return sum_within(stream, means, columns.features, columns.ranges); });
  if (!sum) return std::nullopt;
  RangeMeans released{means.found(*sum, noise, release.records()), {}};
  FeatureMeans::Found& found = released.found;
  found.classes.erase(found.classes.begin());  // what is left of all records
  released.labels = {std::move(found.classes), found.noise_of_classes, release.records(), release.share()};
  return released;
}

}  // namespace starling
