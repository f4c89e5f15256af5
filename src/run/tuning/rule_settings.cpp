#include "rule_settings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/ranges.h>

#include "core/numerics/kernels.hpp"
#include "data/generators/synthetic.hpp"
#include "data/serving/dataset.hpp"
#include "privacy/histograms/noisy_counts.hpp"
#include "privacy/pairs/pair_noise.hpp"
#include "protocol/own_model/row_model.hpp"
#include "run/privacy/run_prices.hpp"
#include "run/settings/model_choice.hpp"
#include "run/settings/tuned_config.hpp"

namespace starling {

namespace {

constexpr std::int64_t passes_of_total = 16;
constexpr double usual_label_size = 1;
constexpr double scores_of_own = 10;  ///< of an own model that classifies: nobody can ask it how many it has
/// Norm of a typical record, as a part of that of independent features of deviation 1, from which features have one
/// scale. Released norms are up to a half too small, and standardised records are no longer.
constexpr double least_part_of_one_scale = 0.25;
constexpr double greatest_part_of_one_scale = 1.25;
constexpr double least_part_beside_constant = 0.125;  ///< of features of one scale

/// Four significant digits are enough for a choice, and can be typed.
std::string short_number(double value) {
  return fmt::format("{:.4g}", value);
}

/// ‖ℓ'‖ of a record whose own class is as likely as all others together, in the norm in which gradients are clipped:
/// alike for all labels of a loss that classifies. With two classes the scores are 0. Of a loss that does not classify
/// it is that of `label` at a score of 0.
double slope_at_even_odds(const Loss& loss, double label, bool in_l1) {
  if (const std::optional<double> usual = loss.usual_slope(label)) return *usual;
  Vector scores(loss.scores(), 0.0);
  if (loss.scores() > 1) scores[1] = std::log(static_cast<double>(loss.scores() - 1));
  Vector slope(loss.scores());
  loss.derivative(scores, label, slope);
  return in_l1 ? norm1(slope) : norm2(slope);
}

/// sup ℓ'' where nothing keeps gradients bounded: the loss's slope has no bound, and no mechanism clips. Of a loss of
/// logarithms of means, whose slope has a bound far away, the curvature at labels of this size.
std::optional<double> curvature_without_bounds(const TunedConfig& config, const Loss& loss, double label) {
  if (config.privacy.protects()) return std::nullopt;
  if (config.model.own && learns_numbers(*config.model.own)) return 1;  // that of the squared loss
  if (loss.curved() == nullptr) return std::nullopt;
  if (loss.link() == Link::log) return loss.curved()->usual_curvature(label);
  return std::isinf(loss.curved()->most_slope()) ? std::optional(loss.curved()->most_curvature()) : std::nullopt;
}

std::string reason_of_rounds(const TunedConfig& config, const RuleFacts& facts, const LearningRule& rule,
                             const std::string& steps) {
  return fmt::format("{} {}s of the client with most, in {} {}{}", *facts.most_records, summand_of(config.privacy.unit),
                     rule.rounds_of_pass, steps, facts.epochs > 1 ? fmt::format(" a pass of {}", facts.epochs) : "");
}

/// The score, and perhaps the label, of which the clip takes the slope.
std::string place_of_slope(const TunedConfig& config, const RuleFacts& facts) {
  if (facts.scores > 2) return "even odds";
  if (facts.classifies) return "0";
  if (facts.in_logarithms) {
    return config.label_size ? fmt::format("labels of {}", short_number(*config.label_size)) : "labels of 1";
  }
  return config.label_size ? fmt::format("0 of a label of {}", short_number(*config.label_size))
                           : fmt::format("0 of a label of {}, since nobody said (--label-size says it),",
                                         short_number(usual_label_size));
}

std::string reason_of_clip(const TunedConfig& config, const RuleFacts& facts, const LearningRule& rule) {
  if (config.model.own && asks_gradients(*config.model.own)) {
    return fmt::format("{}the norm of the gradient of a typical {} at the start",
                       facts.classifies ? fmt::format("{:g} times ", facts.slope) : "",
                       summand_of(config.privacy.unit));
  }
  if (!rule.linear()) {
    return fmt::format("noise moves scores as those of a linear model at records with a norm of {}",
                       short_number(rule.noise_norm));
  }
  if (!facts.norm && facts.classifies) {
    return fmt::format("for records with a norm of {}, since nobody said: --norm says it", short_number(rule.norm));
  }
  const std::string widening =
      rule.clip_widening == 1 ? ""
                              : fmt::format("{} times, {}, ", short_number(rule.clip_widening),
                                            facts.classifies ? "for probabilities that are not too extreme"
                                                             : "since far labels would cost more noise than they tell");
  return fmt::format("{}the slope at {} times the norm of a typical {}{}", widening, place_of_slope(config, facts),
                     summand_of(config.privacy.unit),
                     facts.norm ? "" : fmt::format(", taken as {}: --norm says it", short_number(rule.norm)));
}

std::string reason_of_step(const RuleFacts& facts, const LearningRule& rule) {
  if (rule.step == rule.unhindered_step) {
    if (rule.prefix_noise > 0) return "no longer step is stable; noise would allow more";
    if (facts.norm && facts.largest_norm && facts.curvature) {
      return fmt::format("no longer step is stable at records with a norm of {}, one of {} among them",
                         short_number(rule.norm), short_number(*facts.largest_norm));
    }
    return fmt::format("no longer step is stable at records with a norm of {}{}", short_number(rule.norm),
                       facts.norm ? "" : ", since nobody said: --norm says it");
  }
  return fmt::format("noise moves a typical {} by {} in a run of such steps",
                     facts.map.in_exponents ? "exponent" : "score", short_number(rule.noise_of_scores()));
}

std::string reason_of_correlation(const TunedConfig& config, const RuleFacts& facts, const LearningRule& rule) {
  if (rule.correlation) {
    return fmt::format("noise of later rounds takes back that of earlier ones: {} of {} are left",
                       short_number(rule.prefix_noise), short_number(prefix_noise(std::nullopt, rule.rounds)));
  }
  if (facts.correlates) return "the domain cuts noise off, so that later rounds could not take it back";
  if (!may_correlate(config)) return "a client whose whole data count as one pays less under independent noise";
  return "so little signal wants few rounds of all records, of which none takes back another's noise";
}

/// A norm in units of that which standardised features and an intercept's constant have.
double part_of_one_scale(double norm, std::size_t features, bool intercept) {
  return norm / std::sqrt(static_cast<double>(features + (intercept ? 1 : 0)));
}

}  // namespace

bool may_correlate(const TunedConfig& config) {
  const PrivacyOptions& privacy = config.privacy;
  if (config.correlation == CorrelationChoice::none || !privacy.mechanism_row().gaussian()) return false;
  if (config.correlation != CorrelationChoice::two_buffers && config.data.person_rounds.value_or(1) > 1) return false;
  return config.correlation == CorrelationChoice::two_buffers || !(privacy.budget && privacy.budget_of_client);
}

bool may_have_one_scale(const NormOfRecords& norm, std::size_t features, bool intercept) {
  if (intercept) {
    const double of_features = norm.of_features.value_or(std::sqrt(std::max(norm.whole * norm.whole - 1, 0.0)));
    if (part_of_one_scale(of_features, features, false) < least_part_beside_constant) return false;
  }
  const double part = part_of_one_scale(norm.whole, features, intercept);
  return part >= least_part_of_one_scale && part <= greatest_part_of_one_scale;
}

std::string why_no_rule(const TunedConfig& config) {
  if (!config.model.own) {
    const std::unique_ptr<Loss> loss = loss_table().make(config.loss);
    if (!loss->bounded_below()) return fmt::format("the loss {}", config.loss);
    if (config.model.kind == ModelChoice::Kind::location) return "the model location";
    if (config.model.is_network() && !loss->classifies()) return fmt::format("networks with the loss {}", config.loss);
    if (config.model.is_network() && config.privacy.protects() && !config.privacy.mechanism_row().gaussian())
      return "networks under other than Gaussian noise, which has one and hides many parameters by far less "
             "(--mechanism gaussian --delta 1e-5)";
  }
  if (config.privacy.unit == PrivacyUnit::component) return "--unit component";
  if (config.privacy.prices_change()) return "prices that change over the rounds";
  const ChargeKind noise = config.privacy.mechanism_row().charge;
  const bool known = noise == ChargeKind::gaussian || noise == ChargeKind::laplace || noise == ChargeKind::unbounded;
  return known ? "" : fmt::format("--mechanism {}", *config.privacy.mechanism);
}

std::string open_defaults(const TunedConfig& config, double step) {
  std::vector<std::string> open;
  const auto add = [&](const char* option, auto value) {
    if (!config.given(option)) open.push_back(fmt::format("--{} {}", option, value));
  };
  add("batch", config.data.batch);
  if (config.privacy.protects()) add("clip", config.privacy.clip.value_or(1));
  add("step", step);
  return open.empty() ? "" : fmt::format(" ({})", fmt::join(open, ", "));
}

Vector over_own_batches(View records) {
  const double most = records.empty() ? 0 : *std::ranges::max_element(records);
  Vector factors;
  for (const double own : records) factors.push_back(most == 0 ? 1 : own > 0 ? most / own : 0);
  return factors;
}

RuleFacts rule_facts(const TunedConfig& config, const Loss& loss, View shares, std::optional<std::int64_t> most_records,
                     std::size_t parameters) {
  RuleFacts facts;
  facts.clients = 1 / dot(shares, shares);
  facts.most_records = most_records;
  facts.dimension = parameters;
  facts.noise = config.privacy.mechanism_row().charge;
  facts.price = config.privacy.protects() ? price_of_mean(config.privacy, shares) : 1;
  if (const double share = config.scale_share.value_or(0); share > 0 && config.privacy.protects()) {
    facts.price = PriceShare(facts.noise, share, 1).of_gradients(facts.price);
  }
  const bool own_numbers = config.model.own && learns_numbers(*config.model.own);
  const bool own_classes = config.model.own && asks_gradients(*config.model.own) && !own_numbers;
  facts.scores = own_classes ? scores_of_own : static_cast<double>(loss.scores());
  const double label = loss.depends_on_label_size() ? config.label_size.value_or(usual_label_size) : 1;
  facts.slope = slope_at_even_odds(loss, label, facts.noise == ChargeKind::laplace);
  facts.unit = loss.unit_of_scores(label);
  facts.classifies = config.model.own ? !own_numbers : loss.classifies();
  facts.in_logarithms = !config.model.own && loss.link() == Link::log;
  facts.curvature = curvature_without_bounds(config, loss, label);
  facts.correlates = may_correlate(config);
  // A gradient at the start is as much longer than a record of a linear model as labels are than 1.
  const double in_gradients = own_numbers ? label : 1;
  if (!config.norm.empty()) facts.norm = config.norm.front() / in_gradients;
  if (config.largest_norm) facts.largest_norm = *config.largest_norm / in_gradients;
  facts.norm_l1 = config.norm.size() < 2 ? std::nullopt : std::optional(config.norm[1] / in_gradients);
  if (config.plain_fit) facts.rounds_of_fit = config.plain_fit->rounds;
  facts.epochs = config.data.epochs;
  facts.rounds = config.rounds;
  if (config.given("batch")) facts.batch = config.data.batch;
  facts.clip = config.privacy.clip;
  // Linear models of two classes have no figures of this choice (docs/methods/learning-rule.md).
  const bool measured = facts.scores > 2 || config.model.is_network();
  if (config.whole_rounds) {
    facts.batch = static_cast<std::size_t>(*most_records);
    facts.correlates = false;
  }
  if (measured && config.correlation == CorrelationChoice::automatic && whole_passes_suffice(facts)) {
    facts.correlates = false;
  }
  return facts;
}

std::vector<TunedValue> tuned_values(const TunedConfig& config, const RuleFacts& facts, const LearningRule& rule,
                                     std::vector<TunedValue> of_command, const std::string& steps) {
  std::vector<TunedValue> values;
  const auto choose = [&](const char* option, std::string value, std::string reason) {
    if (!config.given(option)) values.push_back({option, std::move(value), std::move(reason)});
  };
  if (config.data.epochs > 1)
    choose("epochs", fmt::format("{}", config.data.epochs),
           !config.privacy.protects() ? "the model goes on improving where records are few"
           : config.whole_rounds      ? "little signal wants few rounds, each of all records"
                                      : "several passes at one total lose less to noise");
  if (facts.most_records) choose("batch", fmt::format("{}", rule.batch), reason_of_rounds(config, facts, rule, steps));
  if (config.privacy.protects()) choose("clip", short_number(rule.clip), reason_of_clip(config, facts, rule));
  choose("step", short_number(rule.step), reason_of_step(facts, rule));
  if (config.plain_fit)
    choose("l2", short_number(config.plain_fit->l2), "what is known beforehand weighs as one record");
  choose("step-decay", "linear", "a run ends with little noise and little disagreement");
  for (TunedValue& each : of_command) choose(each.option.c_str(), std::move(each.value), std::move(each.reason));
  if (config.privacy.mechanism_row().gaussian() && config.correlation == CorrelationChoice::automatic) {
    values.push_back(
        {"noise-correlation", rule.correlation ? "blt:2" : "none", reason_of_correlation(config, facts, rule)});
  }
  return values;
}

bool may_fit_to_the_end(const TunedConfig& config, const Loss& loss) {
  const bool is_open = !config.given("epochs") && !config.given("batch") && !config.given("step") && !config.rounds;
  const bool is_linear = config.model.kind == ModelChoice::Kind::linear && !config.model.own && loss.classifies();
  return is_open && is_linear && !config.privacy.protects() && !curvature_without_bounds(config, loss, 1);
}

std::int64_t tuned_passes(const TunedConfig& config, const Loss* loss, std::optional<std::int64_t> most_records,
                          std::optional<std::int64_t> least_records) {
  const bool is_open = !config.given("epochs") && !config.rounds && most_records.value_or(0) > 0;
  if (!is_open) return config.data.epochs;
  if (!config.privacy.protects()) {
    if (config.plain_fit) return passes_without_noise(*most_records, least_records, config.plain_fit->rounds);
    const bool is_short = config.model.is_network() || (loss != nullptr && curvature_without_bounds(config, *loss, 1));
    return passes_without_noise(*most_records, least_records, is_short ? rounds_of_short_steps : rounds_of_rule);
  }
  const bool adds_in_squares = config.privacy.mechanism_row().gaussian();
  return config.privacy.total_epsilon && adds_in_squares ? passes_of_total : config.data.epochs;
}

bool may_take_whole_rounds(const TunedConfig& config, std::optional<std::int64_t> most_records) {
  const bool open = config.privacy.total_epsilon && !config.given("epochs") && !config.given("batch") &&
                    !config.rounds && config.correlation == CorrelationChoice::automatic;
  return open && config.privacy.mechanism_row().gaussian() && most_records.value_or(0) > 0 &&
         static_cast<std::size_t>(*most_records) <= PairTerms::most_batch;
}

std::string why_loss_is_unknown(const TunedConfig& config, const RuleFacts& facts) {
  const bool is_linear = config.model.kind == ModelChoice::Kind::linear && !config.model.own;
  if (!is_linear && facts.noise == ChargeKind::laplace) {
    return "what noise costs is known of linear models alone. Gaussian noise hides many parameters by far less: "
           "--mechanism gaussian --delta 1e-5";
  }
  if (!is_linear) return "what noise costs is known of linear models alone";
  if (!std::isinf(facts.room) || !facts.map.is_euclidean())
    return "what noise costs is known of Euclidean steps without bounds alone";
  if (!config.test && config.data.epochs == 1) {
    return "records of one pass may change as they come, and nothing is tested on. --test FILE shows what is lost";
  }
  if (facts.in_logarithms) return "what noise costs is not known where scores are logarithms of means";
  if (!facts.classifies && (facts.epochs == 1 || facts.noise == ChargeKind::laplace)) {
    return "where labels are numbers, what noise costs is known of several passes under Gaussian noise alone. "
           "--total-epsilon takes them";
  }
  if (config.privacy.protects() && !facts.norm) return "nobody said how long records are. --norm says it";
  if (!facts.classifies && !config.label_size) return "nothing shows how large labels are. --label-size says it";
  return "";
}

std::string why_units_are_unknown(const TunedConfig& config, const RuleFacts& facts,
                                  const std::optional<double>& norm_of_features, const DataShape& shape) {
  const DataSettings& data = config.data;
  if (!data.ranges.empty()) {
    return "values may fill little of their ranges. --standardise says means and deviations, where these are public";
  }
  const bool intercept = config.model.intercept();
  if (!data.standardise.empty()) {  // by the user: lines of 0/1 leave columns as they are
    const bool are_long = !config.kept_features && facts.norm &&
                          part_of_one_scale(*facts.norm, shape.features, intercept) > greatest_part_of_one_scale;
    return are_long ? "--standardise leaves features that are not about 0 with deviation 1. Correct its lines" : "";
  }
  const bool are_alike = shape.sparse && config.privacy.protects();
  const bool may_have_units = !config.kept_features && data.keeps_units() && !are_alike && !is_synthetic(data.source);
  const bool shown = facts.norm && may_have_one_scale({*facts.norm, norm_of_features}, shape.features, intercept);
  if (may_have_units && !shown) {
    return "features may have units of their own. --standardise says them";
  }
  return "";
}

}  // namespace starling
