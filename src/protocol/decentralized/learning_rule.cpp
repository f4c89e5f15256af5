#include "protocol/decentralized/learning_rule.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace starling {

namespace {

constexpr double useful_scores = 3;          ///< κ, times u
constexpr double useful_odds = 1.5;          ///< κ of two classes: more noise makes probabilities too extreme
constexpr double signal_of_useful_odds = 6;  ///< ρ below which noise is to leave most answers to the constant
constexpr double least_widening = 1.5;       ///< of the clip, likewise
constexpr double least_part_of_label = 0.5;  ///< of the clip, of labels in deviations
constexpr double longest_step = 16;          ///< times u √(256/(T E))/(C R)
constexpr double largest_unit_noise = 2;     ///< F: a replaced record moves a sum by 2 C
constexpr double rounds_per_signal = 3.0 / 512;
constexpr double fewest_rounds = 8;
constexpr std::int64_t useful_batch = 64;   ///< without noise
constexpr std::int64_t large_batch = 4096;  ///< likewise
constexpr double most_rounds_of_fit = 4096;
constexpr double work_of_fit = 4e9;  ///< products of a feature and a parameter

double typical_norm(const RuleFacts& facts) {
  return facts.norm.value_or(usual_norm);
}

double typical_norm_l1(const RuleFacts& facts) {
  return facts.norm_l1.value_or(typical_norm(facts));
}

/// μ of one use, or the μ of Gaussian noise with the deviation that Laplace noise of this ε has. The noise has clips in
/// L1 there, and the score a norm in L2.
double gaussian_price(const RuleFacts& facts) {
  return facts.noise == ChargeKind::laplace ? facts.price / std::sqrt(2.0) : facts.price;
}

/// Whether the domain cuts no noise off: it has room for twice that of useful scores.
bool has_room(const RuleFacts& facts) {
  return facts.room * typical_norm(facts) >= 2 * useful_scores * facts.unit;
}

/// Whether noise of later rounds takes back that of earlier ones. Of noise that is cut off nothing is to be taken back.
bool cancels(const RuleFacts& facts) {
  return facts.correlates && has_room(facts);
}

/// N̄, of clients with a known N.
double mean_records(const RuleFacts& facts) {
  return facts.mean_records.value_or(static_cast<double>(*facts.most_records));
}

/// N̄/N: gradients are that much shorter than means over as many records as a batch can have.
double filled_share(const RuleFacts& facts) {
  return facts.most_records ? mean_records(facts) / static_cast<double>(*facts.most_records) : 1;
}

/// T E of noise that does not cancel: few rounds where there is little signal.
Round rounds_of_independent_noise(const RuleFacts& facts) {
  const double ratio = typical_norm(facts) / typical_norm_l1(facts);
  const double price = facts.noise == ChargeKind::laplace ? facts.price * ratio : facts.price * std::sqrt(2.0);
  const double signal = price * mean_records(facts) * std::sqrt(facts.clients);
  const double uses = std::sqrt(static_cast<double>(facts.epochs));
  const double rounds = rounds_per_signal * signal * uses;
  return static_cast<Round>(std::llround(std::clamp(rounds, fewest_rounds, static_cast<double>(rounds_of_rule))));
}

Round quotient_rounded_up(Round a, Round b) {
  return a / b + (a % b > 0 ? 1 : 0);
}

/// T before it is fitted to whole batches.
Round wanted_rounds(const RuleFacts& facts) {
  const Round records = *facts.most_records;
  const bool is_plain = facts.noise == ChargeKind::unbounded;
  const bool many = cancels(facts) || is_plain;
  if (facts.rounds_of_fit) return std::clamp<Round>(*facts.rounds_of_fit / facts.epochs, 1, records);
  const bool is_short = facts.curvature || (is_plain && facts.start_norm);
  const Round all = is_short ? rounds_of_short_steps : many ? rounds_of_rule : rounds_of_independent_noise(facts);
  return std::clamp<Round>(all / facts.epochs, 1, records);
}

void choose_rounds(const RuleFacts& facts, LearningRule& rule) {
  if (!facts.most_records) {
    rule.batch = facts.batch.value_or(1);
    rule.rounds = facts.rounds.value_or(rounds_of_rule);
    rule.rounds_of_pass = quotient_rounded_up(rule.rounds, facts.epochs);
    return;
  }
  const Round records = *facts.most_records;
  // Rounds that are asked for must be there: of the records some may then be left over.
  const Round batch = facts.rounds ? std::max<Round>(1, records / quotient_rounded_up(*facts.rounds, facts.epochs))
                                   : quotient_rounded_up(records, wanted_rounds(facts));
  rule.batch = facts.batch.value_or(static_cast<std::size_t>(batch));
  rule.rounds_of_pass = quotient_rounded_up(records, static_cast<Round>(rule.batch));
  rule.rounds = facts.rounds.value_or(rule.rounds_of_pass * facts.epochs);
}

/// A record's uses are a pass apart.
NoiseCorrelation correlation_of_rule(const RuleFacts& facts, const LearningRule& rule) {
  const Round uses = facts.most_records ? facts.epochs : 1;
  return best_correlation(quotient_rounded_up(rule.rounds, uses), uses);
}

/// Whether scores are logarithms of the odds of two classes, in a linear model whose domain has room for noise.
bool are_odds(const RuleFacts& facts, const LearningRule& rule) {
  return facts.classifies && facts.scores == 1 && rule.linear() && !facts.map.in_exponents && has_room(facts);
}

/// The deviation that noise may have at the end of a run of constant steps: of scores, or of exponents.
double useful_noise(const RuleFacts& facts, const LearningRule& rule) {
  if (facts.map.in_exponents) return useful_shift(std::max(2.0, static_cast<double>(facts.dimension)));
  if (!are_odds(facts, rule)) return useful_shift(facts.scores) * facts.unit;
  const bool known = facts.noise == ChargeKind::gaussian && facts.most_records;
  const double signal = known ? signal_to_noise(facts, rule) : signal_of_useful_odds;
  return useful_odds * std::clamp(signal / signal_of_useful_odds, 0.5, 1.0) * facts.unit;
}

/// η_1 without noise.
double unhindered_step(const RuleFacts& facts, const LearningRule& rule) {
  if (facts.curvature) {
    const double square =
        std::max(rule.norm * rule.norm, std::pow(facts.largest_norm.value_or(0), 2) / static_cast<double>(rule.batch));
    return 1 / ((*facts.curvature * square + facts.l2) * facts.map.pace);
  }
  const auto all = static_cast<double>(rule.rounds);
  const double pull = facts.noise == ChargeKind::gaussian ? rule.clip / std::min(rule.clip_widening, 1.0)
                                                          : facts.slope * rule.noise_norm;
  // The loss of K even classes bends K/2 times less than that of two.
  const double straightness = std::max(1.0, facts.scores / 2);
  const double longest = straightness * longest_step * facts.unit / (pull * rule.noise_norm * facts.map.pace);
  const double most = facts.l2 > 0 ? 1 / (facts.l2 * facts.map.pace) : std::numeric_limits<double>::infinity();
  // Fewer rounds than the rule plans do not mend each other's steps.
  const double planned = std::max(all, fewest_rounds);
  const double shortening =
      facts.rounds_of_fit ? 1 : std::sqrt(static_cast<double>(rounds_of_rule) / planned) * all / planned;
  const double free = std::min(longest, facts.start_norm.value_or(std::numeric_limits<double>::infinity()) / pull) *
                      shortening / filled_share(facts);
  return std::min(free, most);
}

void choose_step(const RuleFacts& facts, LearningRule& rule) {
  rule.unhindered_step = unhindered_step(facts, rule);
  if (facts.noise != ChargeKind::unbounded) {
    const double deviation = largest_unit_noise * rule.clip / gaussian_price(facts);
    const double reach = facts.map.in_exponents ? 1 : rule.noise_norm;
    rule.score_noise =
        deviation * rule.prefix_noise * reach / (static_cast<double>(rule.batch) * std::sqrt(facts.clients));
  }
  const double hindered = rule.score_noise > 0 ? useful_noise(facts, rule) / rule.score_noise : rule.unhindered_step;
  rule.step = facts.step.value_or(std::min(hindered, rule.unhindered_step));
}

/// Records whose gradients are clipped make probabilities of two classes too extreme. Where there is little noise, the
/// clip is as wide as the steepest slope, which clips no record of typical norm. Of labels in deviations the far ones
/// tell less than the noise that they cost, where there is much.
double clip_widening(const RuleFacts& facts, const LearningRule& rule) {
  const bool has_range = are_odds(facts, rule) || facts.has_far_labels;
  if (!has_range || facts.noise != ChargeKind::gaussian || facts.constant_alone) return 1;
  const double excess =
      (signal_to_noise(facts, rule) - signal_of_some_cost) / (signal_of_little_cost - signal_of_some_cost);
  const double least = facts.has_far_labels ? least_part_of_label : least_widening;
  return std::lerp(least, facts.has_far_labels ? 1 : 2, std::clamp(excess, 0.0, 1.0));
}

void check_facts(const RuleFacts& facts) {
  check(facts.clients > 0 && facts.dimension >= 1 && facts.epochs >= 1 && facts.most_records.value_or(1) >= 1 &&
            facts.mean_records.value_or(1) > 0,
        "the rule of untuned learning needs clients, parameters, passes and records");
  check(facts.price > 0 && facts.slope > 0 && facts.unit > 0 && typical_norm(facts) > 0 && typical_norm_l1(facts) > 0,
        "the rule of untuned learning needs a price, a slope, a unit of scores and norms above 0");
}

}  // namespace

double useful_shift(double scores) {
  // The largest of K noises is about √(2 ln K) times as large as one.
  return scores > 1 ? useful_scores / std::sqrt(2 * std::log(scores)) : useful_scores;
}

Round rounds_of_fit(double clients, double parameters) {
  const double rounds = work_of_fit / (static_cast<double>(useful_batch) * clients * parameters);
  return static_cast<Round>(std::clamp(rounds, static_cast<double>(rounds_of_rule), most_rounds_of_fit));
}

std::int64_t passes_without_noise(std::int64_t most_records, std::optional<std::int64_t> least_records, Round rounds) {
  const auto passes_of = [&](std::int64_t batch) { return quotient_rounded_up(rounds * batch, most_records); };
  const std::int64_t passes = std::clamp(passes_of(useful_batch), std::int64_t{1}, std::max<Round>(1, rounds / 4));
  if (!least_records) return passes;
  return std::max(passes, std::min({quotient_rounded_up(rounds, *least_records), passes_of(large_batch), rounds}));
}

LearningRule learning_rule(const RuleFacts& facts) {
  check_facts(facts);
  LearningRule rule;
  choose_rounds(facts, rule);
  rule.norm = typical_norm(facts);
  rule.noise_norm = facts.noise_norm.value_or(rule.norm);
  const double clipped = facts.noise == ChargeKind::laplace ? typical_norm_l1(facts) : rule.noise_norm;
  if (cancels(facts)) rule.correlation = correlation_of_rule(facts, rule);
  if (facts.noise != ChargeKind::unbounded) rule.prefix_noise = prefix_noise(rule.correlation, rule.rounds);
  rule.clip_widening = clip_widening(facts, rule);
  rule.clip = facts.clip.value_or(rule.clip_widening * facts.slope * clipped);
  choose_step(facts, rule);
  return rule;
}

bool whole_passes_suffice(const RuleFacts& facts) {
  return facts.most_records && !facts.rounds && !facts.batch && rounds_of_independent_noise(facts) <= facts.epochs;
}

Round most_rounds_of_pass(RuleFacts facts) {
  facts.norm = 4;  // an L1 norm is no less than the Euclidean one, but for noise
  facts.norm_l1 = 1;
  facts.room = std::numeric_limits<double>::infinity();
  check_facts(facts);
  LearningRule rule;
  choose_rounds(facts, rule);
  return rule.rounds_of_pass;
}

double signal_to_noise(const RuleFacts& facts, const LearningRule& rule) {
  if (!facts.most_records || rule.prefix_noise == 0) return 0;
  // Passes after the first add half as much as their number says (measured by jobs/learning.py).
  const double passes = std::max(1.0, static_cast<double>(facts.epochs) / 2);
  const double uses = mean_records(facts) * passes;
  return gaussian_price(facts) * uses * std::sqrt(facts.clients) /
         (rule.prefix_noise * static_cast<double>(facts.dimension));
}

}  // namespace starling
