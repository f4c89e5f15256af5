// `--tuning auto` of `starling infer`: settings that its user left open, from public numbers
// (docs/methods/inference.md, "Settings from public numbers").
#include "app/run/privacy/run_prices.hpp"
#include "app/run/tuning/settings_by_rule.hpp"
#include "app/settings/tuned_settings.hpp"
#include "infer_run.hpp"
#include <algorithm>
#include <cmath>
#include <numbers>

namespace starling {

namespace {

constexpr Round fewest_steps = 1200;        ///< for which asymptotic intervals are near what they promise
constexpr Round steps_of_coefficient = 60;  ///< likewise for each
constexpr double usual_share = 0.1;
constexpr double effective_steps = 200;  ///< in each direction: what settled paths have, and half as many again
constexpr double usual_curvature = 0.8;  ///< share of the largest that records have on average
/// Variance of a parameter by noise that moves the average by less than intervals show: this over the root of the
/// records. Found by trying, for two classes and for numbers.
constexpr double harmless_with_classes = 5;
constexpr double harmless_with_numbers = 1.5;

/// Steps γ t^−α for t from `begin` to `end`.
struct StepTimes {
  double begin = 1;
  double end = 2;
  double power = 0.5;

  /// Mean of t^(−k α).
  [[nodiscard]] double mean_power(double k) const {
    const double exponent = 1 - k * power;
    return (std::pow(end, exponent) - std::pow(begin, exponent)) / (exponent * (end - begin));
  }
  [[nodiscard]] double total() const { return mean_power(1) * (end - begin); }
};

/// The longest γ with which noise of this variance in each step leaves a parameter a variance of `allowed`
/// (docs/methods/inference.md, "Settings from public numbers").
double step_for_variance(double allowed, double noise, double curvature, const StepTimes& times,
                         const std::optional<NoiseCorrelation>& correlation) {
  if (!correlation) return allowed * 2 * curvature / (noise * times.mean_power(1));
  const double factor = noise_factor(*correlation);
  const double left = factor * factor * std::log(times.end - times.begin) / std::numbers::pi;
  return std::sqrt(allowed / (noise * left * times.mean_power(2)));
}

}  // namespace

/// Whether the noise of directions can be correlated, and nobody chose.
bool InferRun::rule_correlates() const {
  return config_.correlation == CorrelationChoice::automatic && config_.may_correlate() &&
         !(config_.privacy.budget && config_.privacy.budget_of_client);
}

/// γ and the reason for it. Where the loss bends to one side, noise throws the path about and moves the average.
std::pair<double, std::string> InferRun::step_of_rule(double begin, double end, std::int64_t batch,
                                                      std::optional<std::int64_t> records) const {
  const double dimension = static_cast<double>(dataset_.shape.features) + (config_.intercept ? 1 : 0);
  const StepTimes times{begin, end, config_.sgd.step_power};
  const double curvature = usual_curvature * curved_->most_curvature() * std::min(1.0, 2 / dimension);
  const double settling = effective_steps / (curvature * times.total());
  std::string reason = fmt::format("{:g} effective steps, if features are of one scale", effective_steps);
  if (unprotected() || curved_->is_symmetric() || !records) return {settling, reason};
  const auto clients = static_cast<double>(layout_->clients());
  const double price = price_of_mean(config_.privacy, Vector(static_cast<std::size_t>(layout_->clients()), 1.0));
  const MallowsModel model(*curved_, dataset_.shape.features, config_.intercept, RowWeights::mallows);
  const double influence = config_.privacy.clip.value_or(model.most_influence());
  const double deviation = 2 * influence / (price * static_cast<double>(batch));
  std::optional<NoiseCorrelation> correlation;
  if (rule_correlates() || config_.correlation == CorrelationChoice::two_buffers) {
    correlation = best_correlation(std::max<Round>(1, std::llround(end - begin)), 1);
  }
  const double allowed = (curved_->classifies() ? harmless_with_classes : harmless_with_numbers) /
                         std::sqrt(clients * static_cast<double>(*records));
  const double harmless = step_for_variance(allowed, deviation * deviation / clients, curvature, times, correlation);
  if (harmless >= settling) return {settling, reason};
  return {harmless, "in longer steps noise would move the average, since the loss bends to one side"};
}

void InferRun::choose_settings() {
  if (!config_.tune && !config_.resume && config_.privacy.protects() && config_.decentralized()) {
    notes_.emplace_back("no rule is known for steps over a graph: settings that are not given keep their defaults");
  }
  if (!config_.tunes()) return;
  const std::optional<std::int64_t> records = most_records_of_clients(agreement_, dataset_);
  std::vector<TunedValue> values;
  agreement_.together([&] {
    values = values_of_rule(records);
    for (TunedValue& each : values) keep_in_range(each);
    if (first_rank()) print_tuning(values, "");
  });
  for (TunedValue& each : values) each.value = agreement_.broadcast(declare_public(each.value));
  agreement_.together([&] {
    std::vector<std::string> words = without_option(words_, "--tuning");
    words.insert(words.end(), {"--tuning", "off"});
    take_settings(config_, parse_infer_config(with_choices(std::move(words), values), of_run_));
    if (dataset_.replayable) dataset_.plan(config_.data.batch, config_.data.epochs, records);
  });
  tuned_ = std::move(values);
}

/// The rule's values of those options that are not given.
std::vector<TunedValue> InferRun::values_of_rule(std::optional<std::int64_t> records) const {
  std::vector<TunedValue> values;
  const auto choose = [&](const char* option, double value, std::string reason) {
    if (!config_.given(option)) values.push_back({option, fmt::format("{:.4g}", value), std::move(reason)});
  };
  const bool may_warm_up = !config_.plug_in && config_.bias == BiasChoice::keep && !dataset_.shape.sparse &&
                           dataset_.replayable && config_.start == "zero" && config_.data.epochs == 1 &&
                           config_.privacy.unit == PrivacyUnit::record;
  const auto dimension = static_cast<Round>(dataset_.shape.features) + (config_.intercept ? 1 : 0);
  const Round wanted = std::max(fewest_steps, steps_of_coefficient * dimension);
  const std::int64_t batch = config_.given("batch")
                                 ? static_cast<std::int64_t>(config_.data.batch)
                                 : std::max<std::int64_t>(1, records.value_or(1) / config_.rounds.value_or(wanted));
  const Round steps =
      config_.rounds.value_or(records ? (*records + batch - 1) / batch : Round{rounds_of_endless_streams});
  const bool warms_up = may_warm_up && steps * 9 >= 10 * least_steps_each * dimension;
  const double share = config_.given("warmup-share") ? config_.warmup_share : warms_up ? usual_share : 0;
  choose("batch", static_cast<double>(batch),
         records ? fmt::format("{} records of the client with most, in {} steps: noise of a step falls with the batch",
                               *records, steps)
                 : "nobody knows how many records there will be");
  choose("warmup-share", share,
         warms_up      ? "coordinates in which steps have one length"
         : may_warm_up ? "too few steps would be left"
                       : "what else was asked for, or the kind of records, excludes it");
  // Steps begin after the warm-up, whose number is an offset then.
  const double begin = share > 0 ? share * static_cast<double>(steps) : static_cast<double>(steps) / 10;
  const double end = (share > 0 ? 1 : 1.1) * static_cast<double>(steps);
  choose("step-offset", share > 0 ? 0 : std::floor(begin),
         share > 0 ? "the rounds of the warm-up come before" : "a tenth of the steps");
  const auto [step, reason] = step_of_rule(begin, end, batch, records);
  choose("step", step, reason);
  if (rule_correlates()) {
    values.push_back({"noise-correlation", "blt:2", "the average has little of noise that later steps take back"});
  }
  return values;
}

}  // namespace starling
