#include "label_release.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "core/numerics/kernels.hpp"
#include "data/stream.hpp"
#include "histogram_counts.hpp"
#include "run/inputs/inputs.hpp"
#include "run/inputs/start_models.hpp"
#include "run/settings/model_choice.hpp"
#include "run/settings/tuned_config.hpp"

namespace starling {

namespace {

constexpr double least_share_within = 0.05;
constexpr double greatest_share_within = 0.25;
constexpr double rounding = 1.01;  ///< of a share, in the noise that it leaves

}  // namespace

double noise_of_sum(const TunedMethod& method, const TuningTerms& run, const HistogramFacts& facts) {
  const Vector variances = variances_of(run.agreement, *run.inputs.layout, method.config.privacy, facts);
  return run.agreement.broadcast(declare_public(std::sqrt(sum(variances))));
}

std::optional<RangeCounts> release_within(const TunedMethod& method, const TuningTerms& run, const std::string& name,
                                          std::size_t columns, std::int64_t most_records,
                                          const std::optional<double>& asked,
                                          const std::function<Secret<Counts>(Stream&)>& count) {
  const TunedConfig& config = method.config;
  const auto of_price = [&config](double share) { return norm_share_of(config.privacy, share, config.data.epochs); };
  HistogramFacts facts{.name = name,
                       .end = end_of_norms,
                       .form = RangeHistograms::form_of(columns),
                       .share = asked.value_or(least_share_within),
                       .of_price = of_price(asked.value_or(least_share_within))};
  run.agreement.together([&] { complete_facts(facts, method, most_records, run.facts(), run.inputs.dataset); });
  const std::int64_t records = records_of(run.agreement, facts);
  double noise = noise_of_sum(method, run, facts);
  if (const double excess = noise / (noise_of_ranges * static_cast<double>(records)); !asked && excess > 1) {
    facts.share = std::stod(fmt::format("{:.3g}", std::min(facts.share * excess * excess, greatest_share_within)));
    facts.of_price = of_price(facts.share);
    noise = noise_of_sum(method, run, facts);
    if (noise > rounding * noise_of_ranges * static_cast<double>(records)) return std::nullopt;
  }
  const double share = facts.share;
  std::vector<Secret<Counts>> counts;
  run.agreement.together([&] {
    for (const auto& stream : run.inputs.dataset.streams) counts.push_back(count(*stream));
  });
  HistogramRelease release(run.agreement, *run.inputs.layout, config.privacy, std::move(facts), run.private_folder());
  if (!release.affordable()) return std::nullopt;
  run.begin_release();
  return RangeCounts{release.release(method.norms, counts), noise, records, share};
}

namespace {

/// Whether a constant is the start of a model that nobody has given another.
bool starts_at_constant(const TunedConfig& config, const Loss* loss) {
  return config.model.kind == ModelChoice::Kind::linear && !config.model.own && config.model.intercept() &&
         loss != nullptr && !config.given("start") && config.start == "uniform";
}

}  // namespace

bool starts_at_mean(const TunedConfig& config, const Loss* loss) {
  return starts_at_constant(config, loss) && loss->link() == Link::log;
}

std::size_t classes_of_start(const TunedConfig& config, const Loss* loss) {
  if (!starts_at_constant(config, loss) || !gives_probabilities(loss->link())) return 0;
  const std::size_t classes = classes_of(*loss);
  return classes <= FeatureHistograms::most_classes ? classes : 0;
}

// Counts of more than two classes shrink towards even ones, by the positive-part estimate of James and Stein.
std::string start_at_counts(Vector counts, double noise) {
  const double even = sum(counts) / static_cast<double>(counts.size());
  double squares = 0;
  for (const double each : counts) squares += (each - even) * (each - even);
  const double of_noise = counts.size() > 2 ? static_cast<double>(counts.size() - 1) * noise * noise : 0;
  const double kept = squares > of_noise ? 1 - of_noise / squares : 0;
  for (double& each : counts) each = std::max({even + kept * (each - even), noise, 1.0});
  scale(1 / sum(counts), counts);
  std::vector<std::string> words;
  for (const double each : counts) words.push_back(fmt::format("{:.4g}", each));
  return fmt::format("{}{}", start_at_classes, fmt::join(words, ","));
}

}  // namespace starling
