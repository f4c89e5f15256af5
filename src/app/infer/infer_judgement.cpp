// Whether the paths of `starling infer` have settled, and the coefficients in the data's own units.
#include "infer_run.hpp"
#include <limits>

namespace starling {

namespace {

constexpr std::size_t figures_of_path = 6;

/// The figures as numbers, NaN of a path that tells nothing.
Vector numbers_of(const std::optional<Settling>& settling) {
  if (!settling) return Vector(figures_of_path, std::numeric_limits<double>::quiet_NaN());
  return {settling->effective_steps,
          settling->least_effective_steps,
          static_cast<double>(settling->slowest),
          settling->drift,
          settling->most_drift,
          static_cast<double>(settling->drifting)};
}

std::optional<Settling> settling_from(View numbers) {
  if (std::isnan(numbers[0])) return std::nullopt;
  return Settling{numbers[0], numbers[1], static_cast<std::size_t>(numbers[2]),
                  numbers[3], numbers[4], static_cast<std::size_t>(numbers[5])};
}

/// With scores b0 + Σ b_j (x_j − m_j)/s_j of a label (y − m)/s, or y itself: slope j is s b_j/s_j, and the intercept is
/// m + s (b0 − Σ b_j m_j/s_j). Without an intercept there are only the slopes.
AffineMap to_own_units(const PublicConstants& constants, bool intercept) {
  const std::size_t p = constants.standardisation.size();
  const std::size_t d = p + (intercept ? 1 : 0);
  const Standardisation label = constants.label_standardisation.value_or(Standardisation());
  Columns rows(d, d);
  Vector offset(d);
  for (std::size_t j = 0; j < p; ++j) {
    const auto& [mean, deviation] = constants.standardisation[j];
    rows[j][j] = label.deviation / deviation;
    if (intercept) rows[p][j] = -label.deviation * mean / deviation;
  }
  if (intercept) {
    rows[p][p] = label.deviation;
    offset[p] = label.mean;
  }
  return {std::move(rows), std::move(offset)};
}

}  // namespace

/// The map from standardised coefficients to those of the source's own units; of a rank with records.
AffineMap InferRun::own_units() const {
  return to_own_units(dataset_.constants.value(), config_.intercept);
}

/// On rank 0, of all paths that tell and of all intervals; nothing elsewhere. **Collective.**
RunSettling InferRun::settling(const InferEngine& engine, const IntervalRecorder& recorder,
                               const std::vector<Interval>& intervals) {
  Vector numbers;
  for (std::size_t k = 0; k < engine.paths(); ++k) {
    const Vector own = numbers_of(recorder.settling(k));
    numbers.insert(numbers.end(), own.begin(), own.end());
  }
  const std::vector<std::string> names = coefficient_names();
  std::vector<PathSettling> paths;
  Client client = 0;
  for (const Vector& rank : agreement_.gather(declare_public(std::move(numbers)))) {
    for (std::size_t at = 0; at < rank.size(); at += figures_of_path, ++client) {
      const auto path = settling_from(View(rank).subspan(at, figures_of_path));
      if (!path) continue;
      paths.push_back({schedule_ ? std::optional(client) : std::nullopt, path->settled(), path->effective_steps,
                       path->least_effective_steps, names[path->slowest], path->drift, path->most_drift,
                       names[path->drifting]});
    }
  }
  return {std::move(paths), disagreement_of(intervals)};
}

/// Says what would help paths that have not settled. Rank 0's.
void InferRun::note_unsettled(const RunSettling& settling) {
  if (settling.settled().value_or(true)) return;
  const std::string scale =
      !config_.data.scales_columns() ? "features of one scale (--standardise, by public constants), " : "";
  std::string text = "not settled, so that intervals may be off: ";
  if (!settling.agrees()) {
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
  notes_.push_back(std::move(text));
}

/// The aggregator's spreads in the source's own units: of the path as it was recorded in them, plug-in by its
/// covariance. Rank 0's.
std::vector<MethodSpread> InferRun::own_spreads_of_aggregator(const InferEngine& engine) const {
  const AffineMap map = own_units();
  std::vector<MethodSpread> spreads = own_intervals_->spreads(0);
  if (plug_in_) {
    Spread own{own_intervals_->estimate(0, engine.view()),
               map.deviations(plug_in_->covariance, plug_in_->spread.spread)};
    spreads.push_back({"plug-in", std::move(own)});
  }
  const std::optional<BiasEstimate> bias = engine.bias();
  if (config_.bias != BiasChoice::remove || !bias) return spreads;
  const BiasEstimate own{map.linear(bias->bias), map.deviation_bounds(bias->noise)};
  for (MethodSpread& each : spreads) {
    const bool of_path = each.method == "random-scaling";
    each.spread = less_bias(each.spread, own, of_path ? variance_share_of_random_scaling : variance_share);
  }
  return spreads;
}

/// Intervals in the source's own units, after those of all_intervals(). On rank 0; none elsewhere. **Collective.**
std::vector<Interval> InferRun::intervals_in_own_units(const InferEngine& engine) {
  if (!own_intervals_) return {};
  if (schedule_) return intervals_of_clients(engine, *own_intervals_);
  if (!first_rank()) return {};
  return intervals_of(own_spreads_of_aggregator(engine), coefficient_names(), config_.levels, std::nullopt);
}

}  // namespace starling
