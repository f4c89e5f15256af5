#include "loss_outlook.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace starling {

namespace {

/// points = scale (least + noise/(ρ_e + flat)^power) + chance/√N
struct LossCurve {
  double least;  ///< of released constants and of rounds that end
  double noise;
  double flat;
  double power;
  double chance;  ///< differences between models of so few records
  double vague;   ///< the most that is worth saying, times the scale
};

// From runs of jobs/tables.py and jobs/learning.py (docs/methods/learning-rule.md).
constexpr LossCurve of_classes{.least = 1, .noise = 40, .flat = 0.75, .power = 1, .chance = 100, .vague = 40};
constexpr LossCurve of_numbers{.least = 1, .noise = 220, .flat = 1.25, .power = 1.25, .chance = 200, .vague = 70};
constexpr double worth_of_laplace = 0.5;  ///< of its signal to noise
constexpr double worth_of_means = 0.6;    ///< likewise
constexpr double share_of_means = 0.2;    ///< of μ², where ranges are public
constexpr double notable_help = 0.9;      ///< part of a bound: what takes more trouble has to lower it below

const LossCurve& curve_of(const LossFacts& facts) {
  return facts.classifies ? of_classes : of_numbers;
}

/// Twice what the best guess among K classes gets wrong: 1 for two.
double scale_of(const LossFacts& facts) {
  return facts.classifies ? 2 * (1 - 1 / std::max(2.0, facts.scores)) : 1;
}

/// Features that are dropped may tell more than the others, so that they count twice.
double bound(const LossFacts& facts) {
  const LossCurve& curve = curve_of(facts);
  const double signal =
      facts.signal_to_noise * facts.kept * (facts.laplace ? worth_of_laplace : 1) * (facts.means ? worth_of_means : 1);
  const double noise = curve.noise / std::pow(signal + curve.flat, curve.power);
  return scale_of(facts) * (curve.least + noise) + curve.chance / std::sqrt(facts.records);
}

bool is_vague(const LossFacts& facts) {
  return bound(facts) > curve_of(facts).vague * scale_of(facts);
}

double rounded_up(double points) {
  return points < 10 ? std::ceil(10 * points) / 10 : std::ceil(points);
}

struct Help {
  std::string_view what;
  double points;
};

/// The change that lowers the bound most. Of two that differ by less than a tenth it is the one that takes less
/// trouble.
Help best_help(const LossFacts& facts) {
  const auto changed = [&facts](double signal, double records, double kept) {
    LossFacts other = facts;
    other.signal_to_noise *= signal;
    other.records *= records;
    other.kept = kept;
    return bound(other);
  };
  std::vector<Help> helps;
  if (facts.feature_share)
    helps.push_back({"--standardise with public constants", changed(1 / std::sqrt(1 - *facts.feature_share), 1, 1)});
  if (facts.hiding.value_or(1) > 1)
    helps.push_back({"--trust pairs", changed(std::sqrt(*facts.hiding), 1, facts.kept)});
  helps.push_back({"twice the price", changed(2, 1, facts.kept)});
  helps.push_back({"twice the records of each client", changed(2, 2, facts.kept)});
  Help best = helps.front();
  for (const Help& each : helps) {
    if (each.points < notable_help * best.points) best = each;
  }
  return best;
}

std::string in_points(double points, const LossFacts& facts) {
  return fmt::format("{:g} points{}", rounded_up(points), facts.classifies ? "" : " of explained variance");
}

std::string promise(const LossFacts& facts) {
  if (!facts.unknown.empty()) return fmt::format("what is lost cannot be foretold: {}", facts.unknown);
  if (facts.kept == 0) return "what is lost cannot be foretold: no feature is learned from, expect a constant answer";
  if (is_vague(facts)) return "what is lost cannot be foretold: the models may be no better than a constant answer";
  return fmt::format("expect to lose at most {}", in_points(bound(facts), facts));
}

/// What public ranges would bring where features are dropped; empty where none is.
std::string help_of_ranges(const LossFacts& facts) {
  if (facts.kept == 1 || !facts.feature_share) return "";
  LossFacts other = facts;
  other.signal_to_noise *= std::sqrt((1 - share_of_means) / (1 - *facts.feature_share));
  other.kept = 1;
  other.means = true;
  return ". With --ranges none is dropped: " + promise(other);
}

}  // namespace

std::optional<double> most_lost(const LossFacts& facts) {
  if (!facts.unknown.empty() || facts.kept == 0 || is_vague(facts)) return std::nullopt;
  return rounded_up(bound(facts));
}

std::string loss_outlook(const LossFacts& facts) {
  std::string text = fmt::format("signal to noise {:.3g}", facts.signal_to_noise / std::max(facts.kept, 1e-9));
  if (facts.kept == 0)
    text = "no signal";
  else if (facts.kept < 1)
    text += fmt::format(" for {:.0f} % of the features, the others are dropped", 100 * facts.kept);
  text += fmt::format(": {}", promise(facts));
  if (!facts.unknown.empty()) return text;
  const Help help = best_help(facts);
  text += fmt::format(". What would help most is {}", help.what);
  if (help.points <= curve_of(facts).vague * scale_of(facts)) text += ": at most " + in_points(help.points, facts);
  return text + help_of_ranges(facts);
}

}  // namespace starling
