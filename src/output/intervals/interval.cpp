#include "output/intervals/interval.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "core/numerics/distributions.hpp"

namespace starling {

std::optional<bool> excludes_zero(const Interval& interval) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return std::nullopt;
  return interval.low > 0 || interval.high < 0;
}

std::optional<Disagreement> disagreement_of(const std::vector<Interval>& intervals) {
  std::map<std::string, std::vector<const Interval*>> coefficients;
  for (const Interval& each : intervals) {
    const bool counts = each.client && each.method == intervals[0].method && each.level == intervals[0].level;
    if (counts && each.high > each.low) coefficients[each.name].push_back(&each);
  }
  std::optional<Disagreement> result;
  for (const auto& [name, clients] : coefficients) {
    const auto count = static_cast<double>(clients.size());
    double mean = 0;
    for (const Interval* each : clients) mean += each->estimate / count;
    double squares = 0;
    for (const Interval* each : clients) {
      squares += std::pow(2 * (each->estimate - mean) / (each->high - each->low), 2) / count;
    }
    if (!result || std::sqrt(squares) > result->size) result = Disagreement{std::sqrt(squares), name};
  }
  return result;
}

const PathSettling& RunSettling::worst() const {
  return *std::ranges::min_element(paths, [](const auto& a, const auto& b) {
    return std::pair(a.settled, a.effective_steps) < std::pair(b.settled, b.effective_steps);
  });
}

std::optional<bool> RunSettling::settled() const {
  if (newton) return newton->settled();
  if (!knows_scales || !agrees()) return false;
  if (paths.empty()) return std::nullopt;
  const auto unsettled = std::ranges::count_if(paths, [](const auto& path) { return !path.settled; });
  return static_cast<double>(unsettled) <= 0.1 * static_cast<double>(paths.size());
}

namespace {

std::string note_of_newton(const NewtonSettling& newton, const std::string& scale) {
  const std::string more = newton.exact ? "more records" : "more records, a larger price (--mu)";
  if (newton.too_few_records) {
    return fmt::format(
        "about {:.0f} records lie where the loss bends, too few for intervals. What helps: more records, or, of labels "
        "that are numbers, a bend that suits their scale (--loss huber:C, or a line for the label in --standardise or "
        "--ranges)",
        std::max(0.0, *newton.too_few_records));
  }
  if (!newton.undetermined.empty() && newton.exact) {
    return fmt::format(
        "within roundings {}: no interval there. What helps: drop one (--drop), or, of columns that are far from 0 "
        "beside their spread, --standardise",
        newton.undetermined.size() == 1
            ? newton.undetermined.front() + " is a combination of the intercept and other columns"
            : fmt::format("{} determine each other", fmt::join(newton.undetermined, ", ")));
  }
  if (!newton.undetermined.empty()) {
    return fmt::format(
        "noise hides what determines {}: no interval there, and other estimates are those of a model that is held back "
        "there. What helps: {}{}, or fewer columns (--drop)",
        fmt::join(newton.undetermined, ", "), scale, more);
  }
  return fmt::format(
      "'{}' still moved in the rounds that count, {:.3g} times as far as is tolerated. Of classes that features tell "
      "apart without error there is no estimate. Else, what helps: {}more rounds (--epochs), {}",
      newton.stepping, newton.step, newton.exact ? "" : scale, more);
}

}  // namespace

std::optional<std::string> note_of_settling(const RunSettling& settling, bool scaled) {
  if (settling.settled().value_or(true)) return std::nullopt;
  const std::string scale = scaled ? "" : "features of one scale (--standardise or --ranges, by public constants), ";
  if (settling.newton) return "not settled, so that intervals may be off: " + note_of_newton(*settling.newton, scale);
  std::string text = "not settled, so that intervals may be off: ";
  if (!settling.knows_scales) {
    text += fmt::format(
        "the scales of the features are unknown (noise hides them from the warm-up, or there was none). Where they "
        "differ, signs can be wrong and intervals far too short. What helps: {}a larger --warmup-share, more records, "
        "or a larger price (--mu)",
        scale);
  } else if (!settling.agrees()) {
    text += fmt::format(
        "clients' estimates of '{}' lie {:.3g} half-widths of an interval from their mean, and not {} at most. What "
        "helps: more exchanges (--gossip-steps), a later start of the steps (--step-offset), or a denser graph",
        settling.disagreement->name, settling.disagreement->size, Disagreement::most);
  } else if (const PathSettling& worst = settling.worst(); worst.effective_steps < worst.least_effective_steps) {
    text += fmt::format(
        "in the slowest direction, mostly '{}', the path forgot its start {:.3g} times over and not {:.3g}. What "
        "helps: {}longer steps (--step), fewer records in each (--batch), or more records",
        worst.slowest, worst.effective_steps, worst.least_effective_steps, scale);
  } else {
    text += fmt::format(
        "'{}' moved by {:.3g} standard errors between the second and the last quarter of the path, not {:.3g} at most. "
        "What helps: {}a burn-in (--burn-in), records in random order, or more records",
        worst.drifting, worst.drift, worst.most_drift, scale);
  }
  return text;
}

}  // namespace starling
