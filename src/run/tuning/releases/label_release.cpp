#include "label_release.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "core/numerics/kernels.hpp"
#include "loss/loss.hpp"
#include "privacy/histograms/feature_histograms.hpp"
#include "run/inputs/start_models.hpp"
#include "run/settings/model_choice.hpp"
#include "run/settings/tuned_config.hpp"

namespace starling {

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
