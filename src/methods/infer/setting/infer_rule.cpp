#include "infer_rule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "core/numerics/kernels.hpp"
#include "model/mallows_model.hpp"
#include "privacy/correlation.hpp"
#include "protocol/aggregated/newton.hpp"
#include "run/privacy/run_prices.hpp"

namespace starling {

namespace {

constexpr Round fewest_steps = 1200;        ///< for which asymptotic intervals are near what they promise
constexpr Round steps_of_coefficient = 60;  ///< likewise for each
constexpr double usual_warmup_share = 0.1;
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

/// The number of coefficients, the intercept among them.
Round coefficients_of(const InferRuleFacts& facts) {
  return static_cast<Round>(facts.shape.features) + (facts.config.intercept ? 1 : 0);
}

/// Whether the noise of directions can be correlated, and nobody chose.
bool may_correlate_by_rule(const InferConfig& config) {
  return config.correlation == CorrelationChoice::automatic && config.may_correlate() &&
         !(config.privacy.budget && config.privacy.budget_of_client);
}

/// γ and the reason for it. Where the loss bends to one side, noise throws the path about and moves the average.
std::pair<double, std::string> step_by_rule(const InferRuleFacts& facts, double begin, double end, std::int64_t batch) {
  const InferConfig& config = facts.config;
  const StepTimes times{begin, end, config.sgd.step_power};
  const double curvature =
      usual_curvature * facts.loss.most_curvature() * std::min(1.0, 2.0 / static_cast<double>(coefficients_of(facts)));
  const double settling = effective_steps / (curvature * times.total());
  std::string reason = fmt::format("{:g} effective steps, if features are of one scale", effective_steps);
  if (!config.privacy.protects() || facts.loss.is_symmetric() || !facts.records) return {settling, reason};
  const auto clients = static_cast<double>(facts.clients);
  const double price = price_of_mean(config.privacy, facts.shares) * std::sqrt(facts.hiding);
  const MallowsModel model(facts.loss, facts.shape.features, config.intercept, RowWeights::mallows);
  const double influence = config.privacy.clip.value_or(model.most_influence());
  const double deviation = 2 * influence / (price * static_cast<double>(batch));
  std::optional<NoiseCorrelation> correlation;
  if (may_correlate_by_rule(config) || config.correlation == CorrelationChoice::two_buffers) {
    correlation = best_correlation(std::max<Round>(1, std::llround(end - begin)), 1);
  }
  const double allowed = (facts.loss.classifies() ? harmless_with_classes : harmless_with_numbers) /
                         std::sqrt(clients * static_cast<double>(*facts.records));
  const double harmless = step_for_variance(allowed, deviation * deviation * dot(facts.shares, facts.shares), curvature,
                                            times, correlation);
  if (harmless >= settling) return {settling, reason};
  return {harmless, "in longer steps noise would move the average, since the loss bends to one side"};
}

constexpr std::size_t most_features_of_newton = 500;
constexpr std::size_t most_under_noise = 200;  ///< which hides the curvature of more in most data
constexpr std::int64_t noisy_rounds = 6;
constexpr std::int64_t exact_rounds = 30;

}  // namespace

std::int64_t newton_rounds(bool protects) {
  return protects ? noisy_rounds : exact_rounds;
}

std::string why_a_path(const InferRuleFacts& facts) {
  const InferConfig& config = facts.config;
  if (config.estimator != Estimator::automatic) return config.newton() ? "" : "it was asked for";
  if (!config.option_of_path.empty()) return fmt::format("--{} is for a path", config.option_of_path);
  if (!facts.records || !facts.replayable) return "records come once";
  if (config.privacy.unit != PrivacyUnit::record) return "the unit is a person";
  if (facts.shape.sparse) return "features are sparse";
  if (facts.shape.features > (config.privacy.protects() ? most_under_noise : most_features_of_newton))
    return "curvatures of so many features are large";
  if (config.privacy.prices_change()) return "prices change over the rounds";
  const bool known = facts.loss.link() == Link::identity || facts.loss.link() == Link::logit;
  if (config.privacy.protects() && !known) return "what noise does to its curvature is known of other losses";
  return "";
}

/// An eigenvalue of the curvature counts from 2 s √d on, where s is the noise on its entries: that of the mean over the
/// closing rounds, each of which has 1/R of the square of the price, and share_of_curvature of that.
std::string newton_outlook(const InferRuleFacts& facts, std::size_t dropped) {
  const InferConfig& config = facts.config;
  if (!config.privacy.protects() || !facts.records || !why_a_path(facts).empty()) return "";
  if (dropped == facts.shape.features)
    return "expect no coefficient: records are too few at this price to show how large any values are. --ranges says "
           "it and costs nothing";
  const MallowsModel model(facts.loss, facts.shape.features, config.intercept, RowWeights::mallows);
  const auto d = static_cast<double>(coefficients_of(facts) - static_cast<Round>(dropped));
  const auto rounds = static_cast<double>(noisy_rounds);
  const double price = price_of_mean(config.privacy, facts.shares) * std::sqrt(facts.hiding);
  const double of_client =
      std::numbers::sqrt2 * model.most_curvature() /
      (price * std::sqrt(NewtonRounds::share_of_curvature / rounds) * static_cast<double>(*facts.records));
  const double noise = of_client * norm2(facts.shares) / std::sqrt(rounds / 2);
  const std::string without = dropped == 0
                                  ? ""
                                  : fmt::format("{} of {} columns are dropped, of which nothing shows the size; ",
                                                dropped, facts.shape.features);
  const double expected = usual_curvature * facts.loss.most_curvature() * std::min(1.0, 2 / d);
  const double hidden = 2 * noise * std::sqrt(d) / expected;
  if (hidden < 1) {
    const char* const far_from_zero =
        config.data.scales_columns() ? "" : "far from 0 beside its spread, as an age is, or ";
    return fmt::format(
        "{}intervals are likely, and not promised: a column {}that others explain but for {:.1g} % of its variance has "
        "none, which shows at the end alone.{}",
        without, far_from_zero, 100 * hidden * std::min(1.0, 2 / d),
        config.data.scales_columns() ? "" : " --ranges or --standardise, of public limits, mend the first");
  }
  return fmt::format(
      "{}expect no interval: noise hides how {:g} coefficients bend the loss. More records, fewer columns or {:.2g} "
      "times the price would show it",
      without, d, hidden);
}

std::vector<TunedValue> values_by_rule(const InferRuleFacts& facts) {
  const InferConfig& config = facts.config;
  std::vector<TunedValue> values;
  const auto choose = [&](const char* option, std::string value, std::string reason) {
    if (!config.given(option)) values.push_back({option, std::move(value), std::move(reason)});
  };
  const std::string path = why_a_path(facts);
  if (path.empty()) {
    choose("estimator", "newton", "each round has a sum over all records: the least noise for an estimate");
    choose("epochs", fmt::format("{}", newton_rounds(config.privacy.protects())),
           config.privacy.protects() ? "rounds: one finds scales, the last three give the estimate"
                                     : "rounds: enough for any loss to come to rest");
    return values;
  }
  choose("estimator", "path", path);
  const std::optional<std::int64_t>& records = facts.records;
  const bool may_warm_up = !config.plug_in && config.bias == BiasChoice::keep && !facts.shape.sparse &&
                           facts.replayable && config.start == "zero" && config.data.epochs == 1 &&
                           config.privacy.unit == PrivacyUnit::record;
  const Round wanted = std::max(fewest_steps, steps_of_coefficient * coefficients_of(facts));
  const std::int64_t batch = config.given("batch")
                                 ? static_cast<std::int64_t>(config.data.batch)
                                 : std::max<std::int64_t>(1, records.value_or(1) / config.rounds.value_or(wanted));
  const Round steps = config.rounds.value_or(records ? (*records + batch - 1) / batch : facts.endless);
  const bool warms_up = may_warm_up && steps * 9 >= 10 * least_steps_each * coefficients_of(facts);
  const double share = config.given("warmup-share") ? config.warmup_share : warms_up ? usual_warmup_share : 0;
  choose("batch", fmt::format("{}", batch),
         records ? fmt::format("{} {} of the client with most, in {} steps: noise of a step falls with the batch",
                               *records, config.privacy.unit == PrivacyUnit::person ? "persons" : "records", steps)
                 : "nobody knows how many records there will be");
  choose("warmup-share", fmt::format("{:.4g}", share),
         warms_up      ? "coordinates in which steps have one length"
         : may_warm_up ? "too few steps would be left"
                       : "what else was asked for, or the kind of records, excludes it");
  // Steps begin after the warm-up, whose number is an offset then.
  const double begin = share > 0 ? share * static_cast<double>(steps) : static_cast<double>(steps) / 10;
  const double end = (share > 0 ? 1 : 1.1) * static_cast<double>(steps);
  choose("step-offset", share > 0 ? "0" : fmt::format("{:.0f}", std::floor(begin)),
         share > 0 ? "the rounds of the warm-up come before" : "a tenth of the steps");
  const auto [step, reason] = step_by_rule(facts, begin, end, batch);
  choose("step", fmt::format("{:.4g}", step), reason);
  if (may_correlate_by_rule(config)) {
    values.push_back({"noise-correlation", "blt:2", "the average has little of noise that later steps take back"});
  }
  return values;
}

}  // namespace starling
