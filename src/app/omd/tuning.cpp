#include "tuning.hpp"

#include "app/run/privacy/run_prices.hpp"
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/ranges.h>

#include "starling/core/numerics/kernels.hpp"
#include "starling/graph/analysis/analysis.hpp"
#include "starling/mirror/mirror.hpp"
#include "starling/privacy/mechanism/norm_histogram.hpp"

namespace starling {

namespace {

constexpr int most_gossip_steps = 4;
constexpr std::int64_t passes_of_total = 16;
constexpr double usual_label_size = 1;
constexpr double signal_of_little_cost = 25;

/// Four significant digits are enough for a choice, and can be typed.
std::string short_number(double value) {
  return fmt::format("{:.4g}", value);
}

/// ‖ℓ'‖ of a record whose own class is as likely as all others together, in the norm in which gradients are clipped:
/// alike for all labels of a loss that classifies. With two classes the scores are 0. Of a loss that does not classify
/// it is that of `label` at a score of 0.
double slope_at_even_odds(const OmdConfig& config, const Loss& loss, double label, bool in_l1) {
  if (config.model.own) return config.model.own->slope().value_or(1);
  Vector scores(loss.scores(), 0.0);
  if (loss.scores() > 1) scores[1] = std::log(static_cast<double>(loss.scores() - 1));
  Vector slope(loss.scores());
  loss.derivative(scores, label, slope);
  return in_l1 ? norm1(slope) : norm2(slope);
}

/// 1/√(mean of 1/price²) over the clients: noise of the mean model adds up so.
double mean_price(const OmdConfig& config, Client clients) {
  const Prices prices = prices_of(config.privacy, 1, clients);
  double sum = 0;
  for (Client u = 0; u < clients; ++u) sum += 1 / (prices.at(u, 0) * prices.at(u, 0));
  return std::sqrt(clients / sum);
}

bool correlates(const OmdConfig& config) {
  const PrivacyOptions& privacy = config.privacy;
  if (config.correlation == CorrelationChoice::none || !privacy.mechanism_row().gaussian()) return false;
  if (config.correlation != CorrelationChoice::two_buffers && config.data.person_rounds.value_or(1) > 1) return false;
  return config.correlation == CorrelationChoice::two_buffers || !(privacy.budget && privacy.budget_of_client);
}

/// Whether nothing keeps gradients bounded: the loss's slope has no bound, and no mechanism clips.
bool may_diverge(const OmdConfig& config, const Loss& loss) {
  return !config.privacy.protects() && loss.curved() != nullptr && std::isinf(loss.curved()->most_slope());
}

bool is_unbounded(const OmdConfig& config) {
  return domain_table().make(config.domain.value_or(default_domain(config.mirror)))->is_everything();
}

std::string reason_of_rounds(const RuleFacts& facts, const LearningRule& rule) {
  return fmt::format("{} records of the client with most, in {} rounds{}", *facts.most_records, rule.rounds_of_pass,
                     facts.epochs > 1 ? fmt::format(" a pass of {}", facts.epochs) : "");
}

/// The score, and perhaps the label, of which the clip takes the slope.
std::string place_of_slope(const OmdConfig& config, const RuleFacts& facts) {
  if (facts.scores > 2) return "even odds";
  if (facts.classifies) return "0";
  return config.label_size ? fmt::format("0 of a label of {}", short_number(*config.label_size))
                           : fmt::format("0 of a label of {}, since nobody said (--label-size says it),",
                                         short_number(usual_label_size));
}

std::string reason_of_clip(const OmdConfig& config, const RuleFacts& facts, const LearningRule& rule) {
  if (!rule.linear()) {
    return fmt::format("noise moves scores as those of a linear model at records with a norm of {}",
                       short_number(rule.noise_norm));
  }
  if (!facts.norm && facts.classifies) {
    return fmt::format("for records with a norm of {}, since nobody said: --norm says it", short_number(rule.norm));
  }
  return fmt::format("the slope at {} times the norm of a typical record{}", place_of_slope(config, facts),
                     facts.norm ? "" : fmt::format(", taken as {}: --norm says it", short_number(rule.norm)));
}

std::string reason_of_step(const LearningRule& rule, bool in_exponents) {
  if (rule.step == rule.unhindered_step) return "no longer step is stable; noise would allow more";
  return fmt::format("noise moves a typical {} by {} in a run of such steps", in_exponents ? "exponent" : "score",
                     short_number(rule.noise_of_scores()));
}

}  // namespace

std::string why_not_tuned(const OmdConfig& config) {
  if (config.model.own) {
    if (!config.model.own->slope()) return "own models that do not say the slope of a loss of one linear score";
  } else {
    const std::unique_ptr<Loss> loss = loss_table().make(config.loss);
    if (!loss->bounded_below()) return fmt::format("the loss {}", config.loss);
    if (may_diverge(config, *loss)) return fmt::format("the loss {} without noise, where nothing clips", config.loss);
    if (config.model.kind == ModelChoice::Kind::location) return "the model location";
    if (config.model.is_network() && !loss->classifies()) return fmt::format("networks with the loss {}", config.loss);
    if (config.model.is_network() && !config.privacy.mechanism_row().gaussian())
      return "networks without Gaussian noise";
  }
  if (config.model.is_network() && !is_unbounded(config)) return "networks in bounded domains";
  if (config.constraints.any()) return "runs with constraints";
  if (config.privacy.unit == PrivacyUnit::component) return "--unit component";
  const std::string& price = config.privacy.mu
                                 ? *config.privacy.mu
                                 : config.privacy.epsilon.value_or(config.privacy.total_epsilon.value_or(""));
  if (price.starts_with("schedule:")) return "prices that change over the rounds";
  const ChargeKind noise = config.privacy.mechanism_row().charge;
  const bool known = noise == ChargeKind::gaussian || noise == ChargeKind::laplace || noise == ChargeKind::unbounded;
  return known ? "" : fmt::format("--mechanism {}", *config.privacy.mechanism);
}

std::string open_defaults(const OmdConfig& config) {
  std::vector<std::string> open;
  const auto add = [&](const char* option, auto value) {
    if (!config.given(option)) open.push_back(fmt::format("--{} {}", option, value));
  };
  add("batch", config.data.batch);
  if (config.privacy.protects()) add("clip", config.privacy.clip.value_or(1));
  add("step", config.omd.step);
  return open.empty() ? "" : fmt::format(" ({})", fmt::join(open, ", "));
}

bool has_rule(const OmdConfig& config) {
  return config.tunes() && why_not_tuned(config).empty();
}

bool needs_label_size(const OmdConfig& config, const Loss& loss) {
  return !config.model.own && !loss.classifies();
}

RuleFacts rule_facts(const OmdConfig& config, const Loss& loss, const MirrorMap& mirror, const Domain& domain,
                     Client clients, std::optional<std::int64_t> most_records, std::size_t parameters) {
  RuleFacts facts;
  facts.clients = clients;
  facts.most_records = most_records;
  facts.dimension = parameters;
  facts.noise = config.privacy.mechanism_row().charge;
  facts.price = config.privacy.protects() ? mean_price(config, clients) : 1;
  if (const double share = config.scale_share.value_or(0); share > 0 && config.privacy.protects()) {
    facts.price = NormShare(facts.noise, share, 1).of_gradients(facts.price);
  }
  facts.scores = static_cast<double>(loss.scores());
  const double label = needs_label_size(config, loss) ? config.label_size.value_or(usual_label_size) : 1;
  facts.slope = slope_at_even_odds(config, loss, label, facts.noise == ChargeKind::laplace);
  facts.unit = loss.unit_of_scores(label);
  facts.classifies = !needs_label_size(config, loss);
  facts.correlates = correlates(config);
  facts.map = mirror.scale_of_steps(parameters);
  if (config.correlation != CorrelationChoice::two_buffers) {
    facts.room = facts.map.in_exponents ? 0 : domain.room(parameters);
  }
  facts.norm = config.norm.empty() ? std::nullopt : std::optional(config.norm.front());
  facts.norm_l1 = config.norm.size() < 2 ? std::nullopt : std::optional(config.norm[1]);
  facts.epochs = config.data.epochs;
  facts.rounds = config.rounds;
  if (config.given("batch")) facts.batch = config.data.batch;
  facts.clip = config.privacy.clip;
  if (config.given("step")) facts.step = config.omd.step;
  // Linear models of two classes have no figures of this choice (docs/methods/learning-rule.md).
  const bool measured = facts.scores > 2 || config.model.is_network();
  if (measured && config.correlation == CorrelationChoice::automatic && whole_passes_suffice(facts)) {
    facts.correlates = false;
  }
  return facts;
}

std::vector<TunedValue> tuned_values(const OmdConfig& config, const RuleFacts& facts, const LearningRule& rule) {
  std::vector<TunedValue> values;
  const auto choose = [&](const char* option, std::string value, std::string reason) {
    if (!config.given(option)) values.push_back({option, std::move(value), std::move(reason)});
  };
  if (config.data.epochs > 1)
    choose("epochs", fmt::format("{}", config.data.epochs), "several passes at one total lose less to noise");
  if (facts.most_records) choose("batch", fmt::format("{}", rule.batch), reason_of_rounds(facts, rule));
  if (config.privacy.protects()) choose("clip", short_number(rule.clip), reason_of_clip(config, facts, rule));
  choose("step", short_number(rule.step), reason_of_step(rule, facts.map.in_exponents));
  choose("step-decay", "linear", "a run ends with little noise and little disagreement");
  choose("step-cap", short_number(step_cap_of_rule), "clients of little mass repay their steps early");
  choose("gossip-steps", fmt::format("{}", config.mixing.gossip_steps),
         config.mixing.gossip_steps == 1 ? "one exchange halves the disagreement of clients"
         : !(correlates(config) && is_unbounded(config)) && config.privacy.protects()
             ? "independent noise leaves clients far apart"
             : "as many as halve the disagreement of clients, 4 at most");
  if (config.privacy.mechanism_row().gaussian()) {
    choose("noise-correlation", rule.correlation ? "blt:2" : "none",
           rule.correlation
               ? fmt::format("noise of later rounds takes back that of earlier ones: {} of {} are left",
                             short_number(rule.prefix_noise), short_number(prefix_noise(std::nullopt, rule.rounds)))
           : facts.correlates ? "the domain cuts noise off, so that later rounds could not take it back"
           : correlates(config)
               ? "so little signal wants few rounds of all records, of which none takes back another's noise"
               : "a client whose whole data count as one pays less under independent noise");
  }
  return values;
}

std::int64_t tuned_passes(const OmdConfig& config, std::optional<std::int64_t> most_records) {
  const bool adds_in_squares = config.privacy.mechanism_row().gaussian();
  const bool is_open = config.privacy.total_epsilon && !config.given("epochs") && !config.rounds;
  return is_open && adds_in_squares && most_records ? passes_of_total : config.data.epochs;
}

int tuned_gossip_steps(const OmdConfig& config, const Graph& graph) {
  if (graph.clients() == 1) return 1;
  if (config.privacy.protects() && !(correlates(config) && is_unbounded(config))) return most_gossip_steps;
  if (graph.clients() > most_clients_analysed || graph.period() == 0) return most_gossip_steps;
  const double contraction = analyse(GraphSample(graph)).contraction;
  int steps = 1;
  for (double left = contraction; steps < most_gossip_steps && !(left <= 0.5); left *= contraction) ++steps;
  return steps;
}

std::string outlook(const RuleFacts& facts, const LearningRule& rule) {
  if (rule.prefix_noise == 0 || !facts.most_records) return "";
  const double signal = signal_to_noise(facts, rule);
  const std::optional<double> cost = expected_cost(signal, facts.classifies);
  std::string text = facts.norm ? "" : fmt::format("if records have a norm of about {}: ", short_number(rule.norm));
  if (!rule.linear())
    return fmt::format("signal to noise {:.3g}: what that costs is known of linear models alone", signal);
  text += cost ? fmt::format("signal to noise {:.3g}: expect to lose at most {:g} points{} to noise", signal, *cost,
                             facts.classifies ? "" : " of explained variance")
               : fmt::format("signal to noise {:.3g}: expect nothing, unless few directions carry the signal", signal);
  if (rule.step < rule.unhindered_step) {
    text += fmt::format("; steps are {:.3g} times shorter than without noise", rule.unhindered_step / rule.step);
  }
  if (signal < signal_of_little_cost) {
    const double factor = signal_of_little_cost / signal;
    text +=
        fmt::format(". For 25 take {0:.3g} times the records, {0:.3g} times the price, or {1:.3g} times the clients",
                    factor, factor * factor);
  }
  return text;
}

}  // namespace starling
