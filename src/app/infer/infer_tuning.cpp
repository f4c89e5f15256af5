// `--tuning auto` of `starling infer`: settings that its user left open, from public numbers
// (docs/methods/inference.md, "Settings from public numbers").
#include "app/settings/tuned_settings.hpp"
#include "infer_run.hpp"
#include <algorithm>
#include <cmath>
#include <limits>

namespace starling {

namespace {

constexpr Round fewest_steps = 1200;        ///< for which asymptotic intervals are near what they promise
constexpr Round steps_of_coefficient = 60;  ///< likewise for each
constexpr double usual_share = 0.1;
constexpr double effective_steps = 200;  ///< in each direction: what settled paths have, and half as many again
constexpr double usual_curvature = 0.8;  ///< share of the largest that records have on average

}  // namespace

void InferRun::choose_settings() {
  if (!config_.tune && !config_.resume && config_.privacy.protects() && config_.decentralized()) {
    notes_.emplace_back("no rule is known for steps over a graph: settings that are not given keep their defaults");
  }
  if (!config_.tunes()) return;
  const bool may_warm_up = !config_.plug_in && config_.bias == BiasChoice::keep && !dataset_.shape.sparse &&
                           dataset_.replayable && config_.start == "zero" && config_.data.epochs == 1 &&
                           config_.privacy.unit == PrivacyUnit::record;
  std::vector<TunedValue> values;
  const auto choose = [&](const char* option, double value, std::string reason) {
    if (!config_.given(option)) values.push_back({option, fmt::format("{:.4g}", value), std::move(reason)});
  };
  constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();
  const std::int64_t most_records = agreement_.max(declare_public(dataset_.most_records().value_or(endless)));
  const std::optional<std::int64_t> records = most_records == endless ? std::nullopt : std::optional(most_records);
  agreement_.together([&] {
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
           records
               ? fmt::format("{} records of the client with most, in {} steps: noise of a step falls with the batch",
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
    const double weight = std::min(1.0, 2 / static_cast<double>(dimension));
    const double curvature = usual_curvature * curved_->most_curvature() * weight;
    const double power = 1 - config_.sgd.step_power;
    const double lengths = (std::pow(end, power) - std::pow(begin, power)) / power;
    choose("step", effective_steps / (curvature * lengths),
           fmt::format("{:g} effective steps, if features are of one scale", effective_steps));
    for (TunedValue& each : values) keep_in_range(each);
    if (first_rank()) print_tuning(values, "");
  });
  for (TunedValue& each : values) each.value = agreement_.broadcast(declare_public(each.value));
  agreement_.together([&] {
    take_settings(values);
    if (dataset_.replayable) dataset_.plan(config_.data.batch, config_.data.epochs, records);
  });
  tuned_ = std::move(values);
}

/// Reads the command line again with these values, and keeps what opening the data has put into the configuration.
void InferRun::take_settings(const std::vector<TunedValue>& values) {
  std::vector<std::string> words = without_option(words_, "--tuning");
  words.insert(words.end(), {"--tuning", "off"});
  for (const TunedValue& each : values) {
    words.push_back("--" + each.option);
    words.push_back(each.value);
  }
  InferConfig chosen = parse_infer_config(words, of_run_);
  DataSettings data = std::move(config_.data);
  data.batch = chosen.data.batch;
  chosen.data = std::move(data);
  config_ = std::move(chosen);
}

}  // namespace starling
