#include "settings_by_rule.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/ranges.h>

#include "column_constants.hpp"
#include "core/numerics/kernels.hpp"
#include "data/generators/synthetic.hpp"
#include "files/tell_user.hpp"
#include "joining_outlook.hpp"
#include "loss/loss.hpp"
#include "loss_outlook.hpp"
#include "model/model.hpp"
#include "model/network/noise_norm.hpp"
#include "output/model_file/saved_model.hpp"
#include "releases/feature_release.hpp"
#include "releases/number_columns.hpp"
#include "rule_settings.hpp"
#include "run/inputs/inputs.hpp"
#include "run/inputs/start_models.hpp"
#include "run/settings/configuration.hpp"
#include "run/settings/model_choice.hpp"
#include "run/settings/tuned_config.hpp"
#include "score_share.hpp"
#include "tuned_settings.hpp"

namespace starling {

namespace {

constexpr double most_unresolved = 0.5;          ///< of features, beside which a bound on the loss still holds
constexpr double unit_of_constant = 0.25;        ///< of the unit of scores
constexpr double unit_of_constant_number = 0.5;  ///< likewise, of labels that are numbers
constexpr double least_unit_of_numbers = 0.25;   ///< likewise, beside features
constexpr double signal_of_useful_scores = 4;    ///< from which scores of numbers are worth their noise

}  // namespace

/// The values come from rank 0: processors may round differently.
Tuning SettingsByRule::choose() {
  if (const std::string why_not = method_.why_not; !why_not.empty()) {
    say_that_no_rule_is_known(why_not);
    return {};
  }
  if (may_add_intercept()) config().model.asked_intercept = true;
  const std::optional<std::int64_t> most_records = most_records_of_clients(run_.agreement, run_.inputs.dataset);
  if (asks_gradients() && !run_.agreement.all(declare_public(may_ask_gradients(most_records)))) {
    say_that_no_rule_is_known("own models without a slope whose records come once or are not to be counted");
    return {};
  }
  choose_passes(most_records);
  choose_score_share(most_records);
  choose_features(most_records);
  if (!has_chosen_norms_) choose_norms(most_records);
  take_sizes_of_constants();
  if (config().kept_features && config().norm.empty()) take_norm_of_standardised();
  tell_intercept();
  std::vector<TunedValue> values;
  run_.agreement.together([&] { values = values_of_rule(most_records); });
  take_histogram_price(method_, run_);
  for (TunedValue& each : values) each.value = run_.agreement.broadcast(declare_public(each.value));
  run_.agreement.together([&] {
    take(values);
    run_.inputs.dataset.plan(config().data.batching(), most_records);
  });
  std::ranges::move(values, std::back_inserter(tuning_.chosen));
  return std::move(tuning_);
}

Tuning SettingsByRule::standardise() {
  const std::optional<std::int64_t> most_records = most_records_of_clients(run_.agreement, run_.inputs.dataset);
  choose_features(most_records);
  take_histogram_price(method_, run_);
  std::vector<TunedValue> chosen = settled_constants(config());
  chosen.push_back({"tuning", "off", ""});
  run_.agreement.together([&] {
    method_.configuration.choose(chosen);
    run_.inputs.dataset.plan(config().data.batching(), most_records);
  });
  return std::move(tuning_);
}

void SettingsByRule::say_that_no_rule_is_known(const std::string& why_not) const {
  if (run_.first_rank()) {
    tell_user("note: no rule is known for {}: what is not given keeps its default{}\n", why_not,
              open_defaults(config(), method_.first_step));
  }
  config().scale_share = 0;
  config().privacy.feature_share = 0;
  if (may_add_intercept()) note_missing_intercept();
}

/// Where there is little signal, few rounds learn more. That does not depend on norms, which are not
/// known yet.
void SettingsByRule::choose_passes(const std::optional<std::int64_t>& most_records) {
  const auto take = [this](std::int64_t passes) {
    config().data.epochs = passes;
    config().privacy.passes = config().data.uses_of_unit();
  };
  const bool protects = config().privacy.protects();
  if (method_.plays_once && !protects) return take(config().data.epochs);
  choose_plain_fit(most_records);
  std::optional<std::int64_t> least_records;
  if (method_.own_means && most_records && !protects) {
    for (const double records : method_.records_of_clients()) {
      const auto own = static_cast<std::int64_t>(records);
      if (own > 0) least_records = std::min(least_records.value_or(own), own);
    }
  }
  take(tuned_passes(config(), run_.loss, most_records, least_records));
  bool whole = false;
  run_.agreement.together([&] {
    if (!may_take_whole_rounds(config(), most_records)) return;
    const std::unique_ptr<Model> model = make_model(config().model, *run_.loss, run_.inputs.dataset.shape);
    const RuleFacts facts = method_.facts(most_records, model->dimension());
    const double enough = config().model.is_network()     ? signal_of_whole_rounds_of_networks
                          : config().privacy.trusts_pairs ? signal_of_whole_rounds_of_pairs
                                                          : signal_of_whole_rounds;
    whole = signal_to_noise(facts, learning_rule(facts)) < enough;
  });
  config().whole_rounds = run_.agreement.broadcast(declare_public(whole));
  if (config().whole_rounds) take(passes_of_whole_rounds);
}

/// Keeps a part of the price for sums of scores after the last round, where they would tell something.
void SettingsByRule::choose_score_share(const std::optional<std::int64_t>& most_records) {
  std::optional<double>& share = config().privacy.score_share;
  if (share) return;
  bool may = false;
  run_.agreement.together([&] {
    may = most_records.value_or(0) > 0 && *most_records <= NoisyCounts::most_records && method_.records_of_clients &&
          why_no_score_share(config(), run_.inputs.dataset, method_.why_own_scores).empty();
  });
  if (!run_.agreement.all(declare_public(may))) return;
  share = run_.agreement.broadcast(declare_public(tuned_score_share(config(), method_.records_of_clients())));
  if (*share == 0) return;
  tell({{"score-share", fmt::format("{}", *share),
         "sums of scores after the last round, which cost so much of the square of mu, show how probabilities are made "
         "right"}});
}

/// Plans a fit to the end where nobody is protected and nobody chose otherwise.
void SettingsByRule::choose_plain_fit(const std::optional<std::int64_t>& most_records) {
  const bool may = method_.may_penalise && run_.loss != nullptr && most_records.value_or(0) > 0 &&
                   may_fit_to_the_end(config(), *run_.loss);
  if (!may) return;
  const Vector records = method_.records_of_clients();
  const auto parameters = static_cast<double>((run_.inputs.dataset.shape.features + 1) * run_.loss->scores());
  config().plain_fit = PlainFit{rounds_of_fit(static_cast<double>(records.size()), parameters), 1 / sum(records)};
}

/// Tells the choices and what to expect of them.
std::vector<TunedValue> SettingsByRule::values_of_rule(const std::optional<std::int64_t>& most_records) {
  const TunedConfig& config = this->config();
  const std::unique_ptr<Model> model = make_model(config.model, *run_.loss, run_.inputs.dataset.shape);
  RuleFacts facts = method_.facts(most_records, model->dimension());
  if (config.plain_fit && !config.given("l2")) facts.l2 = config.plain_fit->l2;
  facts.has_far_labels = has_deviations_ && std::isinf(run_.loss->most_slope());
  if (config.kept_features && !config.model.is_network()) {
    // Noise in parameters of features that are dropped moves no score.
    facts.dimension = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::lround(*config.kept_features * static_cast<double>(facts.dimension))));
    facts.constant_alone = config.kept_features == 0;
    if (facts.constant_alone) {  // which wants no large scores
      facts.unit *= facts.classifies ? unit_of_constant : unit_of_constant_number;
    } else if (!facts.classifies) {  // noise of scores is to explain no less than a constant
      const double signal = signal_to_noise(facts, learning_rule(facts));
      facts.unit *= std::clamp(signal / signal_of_useful_scores, least_unit_of_numbers, 1.0);
    }
  }
  if (asks_gradients()) {
    const double start = norm2(point_of_start(*model));
    if (start > 0) facts.start_norm = start;
  }
  if (config.model.is_network()) {
    facts.start_norm = norm2(model->initial(config.data.seed).value());
    facts.noise_norm = noise_norm(
        saved_model(config.model, config.loss, *run_.loss, run_.inputs.dataset.shape).as<NetworkForm>()->architecture,
        facts.norm.value_or(usual_norm), useful_shift(facts.scores), config.data.seed);
  }
  const LearningRule rule = learning_rule(facts);
  std::vector<TunedValue> values = tuned_values(config, facts, rule, method_.own_choices(rule), method_.steps);
  for (TunedValue& each : values) keep_in_range(each);
  tuning_.signal_to_noise = signal_to_noise(facts, rule);
  if (!histograms_show_one_scale_)
    why_units_ = why_units_are_unknown(config, facts, norm_of_features_, run_.inputs.dataset.shape);
  const std::string outlook = outlook_of(facts, model->dimension());
  std::optional<JoiningFacts> joining;
  if (why_sizes_are_unknown().empty()) {
    joining = joining_facts(method_, facts, rule, run_.inputs.dataset.replayable);
  }
  if (joining) tuning_.worth = worth_in_records(*joining);
  note_own_units(facts);
  if (run_.first_rank()) {
    print_tuning(values, outlook);
    if (joining) print_joining(joining_outlook(*joining));
  }
  return values;
}

/// Why what is known of the sizes of features and labels is no ground for an outlook; empty if it is.
std::string SettingsByRule::why_sizes_are_unknown() const {
  if (labels_are_guessed_) return "the constants of labels are a guess. A range that they fill, in --ranges, says them";
  if (unresolved_ > most_unresolved)
    return has_means_
               ? "values may fill little of their ranges. --standardise says means and deviations, where these are "
                 "public"
               : "histograms do not show how values differ that are all of one size. --standardise says it";
  return why_units_;
}

/// A note where noise may hide features that count in units which nobody has said or released.
void SettingsByRule::note_own_units(const RuleFacts& facts) {
  if (why_units_.empty() || !config().privacy.protects() || !config().data.ranges.empty()) return;
  const bool can_be_released = facts.noise != ChargeKind::laplace;
  if (!config().data.standardise.empty()) {
    run_.notes.push_back(fmt::format(
        "features: --standardise leaves some that are not about 0 with deviation 1, since records are longer than such "
        "ones. Noise can hide what others tell. Correct its lines{}",
        can_be_released ? ", or leave it out, so that the run finds means and deviations" : ""));
    return;
  }
  run_.notes.push_back(fmt::format(
      "features: nothing shows their units, and they are taken as they are. Where these differ, noise can hide what "
      "features tell, and the model is hardly better than a constant answer. Say them by --standardise or --ranges{}",
      can_be_released ? "" : ", or choose --mechanism gaussian, which releases them"));
}

/// The outlook of a run whose model has so many parameters; empty where records have no known end.
std::string SettingsByRule::outlook_of(const RuleFacts& facts, std::size_t parameters) {
  if (!facts.most_records) return "";
  const TunedConfig& config = this->config();
  if (facts.noise == ChargeKind::unbounded) {
    const std::string units = why_sizes_are_unknown();
    return units.empty() ? "" : fmt::format("steps of one length may suit badly: {}", units);
  }
  const auto part = static_cast<double>(facts.dimension) / static_cast<double>(parameters);
  LossFacts loss{.signal_to_noise = part * tuning_.signal_to_noise,
                 .kept = config.kept_features.value_or(1),
                 .records = facts.clients * facts.mean_records.value_or(static_cast<double>(*facts.most_records)),
                 .scores = facts.scores,
                 .classifies = facts.classifies,
                 .laplace = facts.noise == ChargeKind::laplace,
                 .means = has_means_,
                 .unknown = why_loss_is_unknown(config, facts),
                 .hiding = method_.hiding_of_pairs,
                 .feature_share = {}};
  if (config.kept_features) loss.feature_share = config.privacy.feature_share;
  if (loss.unknown.empty()) loss.unknown = why_sizes_are_unknown();
  if (loss.unknown.empty() && run_.loss->predicts_tail())
    loss.unknown =
        fmt::format("--loss {} predicts no middle of labels, of whose variance a share could be counted", config.loss);
  tuning_.most_lost = most_lost(loss);
  return loss_outlook(loss);
}

/// Without an intercept scores are 0 where all features are, so that classes of unequal size cost much. Generators are
/// as they say, and parameters of a start or in a domain have a meaning of their own. What the user gave stands.
bool SettingsByRule::may_add_intercept() const {
  const TunedConfig& config = this->config();
  const bool of_a_table = !is_synthetic(config.data.source) && config.data.features == ReadSettings::Features::raw;
  return !config.given("intercept") && config.model.kind == ModelChoice::Kind::linear && of_a_table &&
         is_start_word(config.start) && method_.why_own_units.empty();
}

void SettingsByRule::note_missing_intercept() const {
  run_.notes.emplace_back(
      "the model has no intercept, so that all scores are 0 where all features are: --intercept adds one");
}

void SettingsByRule::tell_intercept() {
  const ModelChoice& model = config().model;
  if (config().given("intercept") || !model.asked_intercept) return;
  tell({{"intercept", model.intercept() ? "yes" : "no",
         model.intercept() ? "classes differ in size, and labels have a mean"
                           : "features are too small beside a constant of 1. --standardise makes them larger"}});
}

/// Prints choices that are made before the rule's own.
void SettingsByRule::tell(const std::vector<TunedValue>& values) {
  if (run_.first_rank()) print_tuning(values, "");
  std::ranges::copy(values, std::back_inserter(tuning_.chosen));
}

/// Whether no histogram of norms and label sizes is wanted after this release: standardised features have a norm,
/// labels that are standardised have a size. Means leave open how long records are.
bool SettingsByRule::settles_sizes(const FeatureRelease& features) const {
  if (features.standardises_labels()) return true;
  const bool knows_labels = config().label_size || !run_.loss->depends_on_label_size();
  return !features.has_means() && knows_labels && !config().scale_share;
}

/// Standardises features by histograms of them, where that is worth its price.
void SettingsByRule::choose_features(const std::optional<std::int64_t>& most_records) {
  if (asks_gradients()) {  // what another scale would mean to the model is its own matter
    config().privacy.feature_share = 0;
    return;
  }
  FeatureRelease features(method_, run_, config().privacy.feature_share);
  const bool asked = config().scale_share.has_value();
  std::optional<double> share_of_norms;  // where they are released first, at a share of the whole
  const auto have_one_scale = [&] {
    const bool have = norms_speak_of_one_scale(most_records);
    share_of_norms = std::exchange(config().scale_share, std::nullopt).value_or(0);
    return have;
  };
  const auto refines = [&] {
    if (share_of_norms) return !asked;
    const bool settled =
        method_.looks_within || features.kept() == 0 || (config().privacy.protects() && settles_sizes(features));
    has_chosen_norms_ = has_chosen_norms_ || settled;
    return settled;
  };
  const std::optional<TunedValue> chosen =
      take_constants(method_, run_, features, most_records, {have_one_scale, refines});
  if (share_of_norms) {
    const double left = chosen ? 1 - features.share() : 1;
    config().scale_share = *share_of_norms / left + config().scale_share.value_or(0);
  }
  if (!chosen) return;
  tuning_.chosen.push_back(*chosen);
  start_ = features.start();
  if (start_) {
    tell({*start_});
    config().model.asked_intercept = true;  // which the start is of, whatever norms said
  }
  if (chosen->value == "none") {
    histograms_show_one_scale_ = true;
    return;
  }
  config().kept_features = features.kept();
  has_deviations_ = features.standardises_labels();
  if (has_deviations_) config().label_size = 1;
  labels_are_guessed_ = features.guesses_labels();
  has_means_ = features.has_means();
  unresolved_ = features.unresolved();
  if (may_add_intercept()) config().model.asked_intercept = true;
  config().norm.clear();  // that of records in their own units
  std::erase_if(tuning_.chosen, [](const TunedValue& each) { return each.option == "norm"; });
  norm_of_standardised_ = features.norm();
  run_.notes.push_back(fmt::format(
      "features are standardised{} (standardise in config.ini): models are of such features. predict and score take "
      "records in their own units. --feature-share 0 leaves features as they are",
      features.clips() ? " and clipped to 5 deviations" : ""));
}

/// Sizes of labels that are numbers, and of records beside them, whose means and deviations the user says, where too
/// few records show them. Lines of 0 and 1 say nothing. Without such labels narrower clips are no worse
/// (docs/methods/learning-rule.md). **Collective.**
void SettingsByRule::take_sizes_of_constants() {
  TunedConfig& config = this->config();
  const bool may = config.privacy.protects() && config.privacy.mechanism_row().gaussian() && !config.kept_features &&
                   !config.data.standardise.empty() && !asks_gradients() && run_.loss->depends_on_label_size();
  if (!run_.agreement.all(declare_public(may))) return;
  const NumberColumns columns = number_columns(run_);
  const auto is_said = [](const Standardisation& each) {
    return each.is_left_out() || each.mean != 0 || each.deviation != 1;
  };
  has_deviations_ = is_said(columns.label_range);
  if (!has_deviations_) return;
  if (!config.label_size) {
    config.label_size = 1;
    tell({{"label-size", "1", "--standardise gives labels deviation 1"}});
  }
  const auto left_out = std::ranges::count_if(columns.ranges, &Standardisation::is_left_out);
  const std::size_t learned = run_.inputs.dataset.shape.features - static_cast<std::size_t>(left_out);
  if (!config.norm.empty() || learned == 0 || !std::ranges::all_of(columns.ranges, is_said)) return;
  norm_of_standardised_ = std::sqrt(static_cast<double>(learned + (config.model.intercept() ? 1 : 0)));
  take_norm_of_standardised();
}

/// Where no histogram shows the norm of a typical standardised record.
void SettingsByRule::take_norm_of_standardised() {
  const std::string norm = fmt::format("{:.4g}", norm_of_standardised_);
  config().norm = {std::stod(norm)};
  std::erase_if(tuning_.chosen, [](const TunedValue& each) { return each.option == "norm"; });
  tell({{"norm", norm, "each standardised feature has about deviation 1, and so has the constant"}});
}

/// Takes these values. With `tuning = off` beside them they are what a repeated or resumed run has, even where they are
/// defaults.
void SettingsByRule::take(const std::vector<TunedValue>& values) {
  const TunedConfig& config = this->config();
  std::vector<TunedValue> chosen;
  const auto settle = [&](const char* option, std::string value) { chosen.push_back({option, std::move(value), ""}); };
  settle("tuning", "off");
  if (!config.given("intercept") && config.model.intercept()) settle("intercept", "yes");
  std::ranges::copy(settled_constants(config), std::back_inserter(chosen));
  if (const double share = config.privacy.score_share.value_or(0); share > 0)
    settle("score-share", fmt::format("{}", share));
  if (config.privacy.protects() && (config.scale_share.value_or(0) > 0 || config.kept_features)) {
    if (!config.norm.empty()) settle("norm", fmt::format("{}", fmt::join(config.norm, ",")));
    if (config.label_size) settle("label-size", fmt::format("{}", *config.label_size));
  }
  if (start_) settle("start", start_->value);
  std::ranges::copy(values, std::back_inserter(chosen));
  method_.configuration.choose(chosen);
}

HistogramShares histograms_of(const TunedConfig& config, const Loss* loss) {
  HistogramShares shares;
  shares.labels = loss != nullptr && loss->depends_on_label_size();
  shares.uses = config.data.epochs;
  if (!config.privacy.protects()) return shares;
  shares.scores = config.privacy.score_share.value_or(0);
  shares.features = config.privacy.feature_share.value_or(0);
  shares.norms = config.scale_share.value_or(0);
  const bool scales_labels = config.data.standardise.find(",label=") != std::string::npos;
  shares.counted = scales_labels ? Counted::labels : shares.features > 0 ? Counted::norms_or_columns : Counted::norms;
  shares.label_beside_features = scales_labels || is_start_at_constant(config.start);
  return shares;
}

}  // namespace starling
