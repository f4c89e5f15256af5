// Spreads of estimates by method, and the intervals that they give.
#include <algorithm>
#include <cmath>
#include <limits>

#include "path_results.hpp"
#include "protocol/aggregated/plug_in_sums.hpp"
#include "setting/infer_config.hpp"

namespace starling {

namespace {

/// Appends (estimate, spread) of each of these methods. Where the spread is unknown it is NaN: clients whose steps
/// ended early know fewer.
void append(const std::vector<MethodSpread>& known, const std::vector<std::string>& names, const Vector& estimate,
            Vector& numbers) {
  const Spread none{estimate, Vector(estimate.size(), std::numeric_limits<double>::quiet_NaN())};
  for (const std::string& name : names) {
    const auto found = std::ranges::find_if(known, [&](const auto& each) { return each.method == name; });
    const Spread& own = found == known.end() ? none : found->spread;
    numbers.insert(numbers.end(), own.estimate.begin(), own.estimate.end());
    numbers.insert(numbers.end(), own.spread.begin(), own.spread.end());
  }
}

/// Takes the estimates and spreads of these methods from the front of `numbers`, as `append` wrote them.
std::vector<MethodSpread> take(View& numbers, const std::vector<std::string>& names, std::size_t dimension) {
  std::vector<MethodSpread> methods;
  for (const std::string& name : names) {
    const View estimate = numbers.first(dimension);
    const View spread = numbers.subspan(dimension, dimension);
    methods.push_back({name, {Vector(estimate.begin(), estimate.end()), Vector(spread.begin(), spread.end())}});
    numbers = numbers.subspan(2 * dimension);
  }
  return methods;
}

/// Removes methods of which no client has a spread.
void leave_out_unknown(std::vector<std::vector<MethodSpread>>& clients) {
  const auto unknown = [&](std::size_t m) {
    return std::ranges::all_of(clients, [m](const auto& methods) { return std::isnan(methods[m].spread.spread[0]); });
  };
  for (std::size_t m = clients.empty() ? 0 : clients[0].size(); m > 0; --m) {
    if (!unknown(m - 1)) continue;
    for (auto& methods : clients) methods.erase(methods.begin() + static_cast<std::ptrdiff_t>(m - 1));
  }
}

void note_undetermined(const PlugIn& result, const IntervalFacts& facts, std::vector<std::string>& notes) {
  if (result.undetermined.empty()) return;
  notes.push_back(fmt::format(
      "plug-in: no interval for {} (the curvature's least eigenvalue, {:.3g}, is below {:.3g}, what it would be taken "
      "for {}: a column may be constant, or a combination of others) drop a column, or bring more records",
      quoted_names(result.undetermined, facts.names), result.least_curvature, result.curvature_floor,
      facts.config.privacy.protects() ? "by noise alone" : "by roundings alone"));
}

/// An infinite spread gives an interval without ends.
void make_infinite(std::vector<MethodSpread>& spreads) {
  for (MethodSpread& each : spreads) std::ranges::fill(each.spread.spread, std::numeric_limits<double>::infinity());
}

/// The estimates less this bias.
void take_off(const BiasEstimate& bias, std::vector<MethodSpread>& spreads) {
  for (MethodSpread& each : spreads) {
    const bool of_path = each.method == "random-scaling";
    each.spread = less_bias(each.spread, bias, of_path ? variance_share_of_random_scaling : variance_share);
  }
}

}  // namespace

void PlugInPath::after(const RoundView& view) {
  if (!rounds_.due(view.done()) || view.done() <= burn_in_) return;
  engine_.plug_in()->note(view.done());
  if (engine_.paths() == 0) return;
  moments_.push_back({recorder_.counted(0), recorder_.estimate(0, view), engine_.mean_inverse_clients()});
}

std::vector<std::pair<Round, MethodSpread>> PlugInPath::spreads(std::size_t batch) {
  const std::vector<std::pair<Round, PlugInMeans>> noted = engine_.plug_in()->collect_noted();
  std::vector<std::pair<Round, MethodSpread>> result;
  for (std::size_t i = 0; i < moments_.size(); ++i) {
    const Moment& at = moments_[i];
    const auto& [steps, means] = noted[i];
    if (means.curvature.empty() || at.counted < 2) continue;
    PlugIn own = plug_in(at.estimate, {means.curvature, means.curvature_noise},
                         influence_of(means, batch, at.inverse_clients), at.counted);
    for (const std::size_t j : own.undetermined) own.spread.spread[j] = std::numeric_limits<double>::infinity();
    result.push_back({steps, {"plug-in", std::move(own.spread)}});
  }
  return result;
}

std::vector<MethodSpread> PathResults::spreads_of(const IntervalRecorder& recorder, std::size_t k) const {
  std::vector<MethodSpread> spreads = recorder.spreads(k);
  if (is_too_short(k)) make_infinite(spreads);
  return spreads;
}

/// Rank 0's plug-in spreads, if they are asked for. A coordinate that the data do not determine has an infinite spread.
/// **Collective.**
std::vector<MethodSpread> PathResults::plug_in_spreads(std::vector<std::string>& notes) {
  if (config_.plug_in && config_.trust == PlugInTrust::central &&
      rounds_done(facts_.agreement, engine_) < config_.sgd.steps) {
    // A run that is taken up again would release other sums of the same records, and they are paid for once.
    notes.emplace_back("stopped: no plug-in intervals, whose sums are released once, after the last step");
    return {};
  }
  std::optional<PlugInMeans> means;
  if (PlugInSums* const sums = engine_.plug_in()) means = sums->collect();
  if (!means || means->curvature.empty() || recorder_.counted(0) < 2) return {};
  const Vector estimate = recorder_.estimate(0, engine_.view());
  const ReleasedMatrix influence = influence_of(*means, config_.data.batch, engine_.mean_inverse_clients());
  PlugIn result = plug_in(estimate, {means->curvature, means->curvature_noise}, influence, recorder_.counted(0));
  for (const std::size_t j : result.undetermined) result.spread.spread[j] = std::numeric_limits<double>::infinity();
  note_undetermined(result, facts_, notes);
  plug_in_ = result;
  std::vector<MethodSpread> spreads{{"plug-in", result.spread}};
  if (is_too_short(0)) make_infinite(spreads);
  return spreads;
}

/// Takes the curvature bias off the estimates, or says how large it is. Rank 0's.
void PathResults::treat_bias(std::vector<MethodSpread>& spreads, std::vector<std::string>& notes) const {
  const std::optional<BiasEstimate> bias = engine_.bias();
  if (!bias) {
    if (config_.bias == BiasChoice::remove && !spreads.empty()) {
      notes.push_back(
          fmt::format("the curvature bias is NOT removed: after {} steps the noise hides the curvature (more records, "
                      "or a larger price, would show it)",
                      engine_.view().done()));
    }
    return;
  }
  if (config_.bias == BiasChoice::remove) return take_off(*bias, spreads);
  for (const MethodSpread& each : spreads) {
    const double quantile = interval_quantile(each.method, config_.levels.front());
    const auto warning = curvature_bias_warning(*bias, each.spread, quantile, facts_.names);
    if (warning) notes.push_back(fmt::format("{}: {}, or --bias remove", each.method, *warning));
  }
}

/// Rank 0's; none elsewhere. **Collective.**
std::vector<MethodSpread> PathResults::spreads_of_aggregator(std::vector<std::string>& notes) {
  const std::vector<MethodSpread> plug_in = plug_in_spreads(notes);
  if (!first_rank()) return {};
  std::vector<MethodSpread> spreads = spreads_of(recorder_, 0);
  spreads.insert(spreads.end(), plug_in.begin(), plug_in.end());
  treat_bias(spreads, notes);
  if (config_.batch_means && recorder_.counted(0) < config_.sgd.steps - config_.burn_in) {
    notes.push_back(fmt::format("no batch-means: {} of {} steps were taken, and the last batch ends with the last",
                                recorder_.counted(0), config_.sgd.steps - config_.burn_in));
  }
  const auto is_overlapping = [](const MethodSpread& each) { return each.method == "overlapping-batches"; };
  if (config_.overlapping_batches && std::none_of(spreads.begin(), spreads.end(), is_overlapping)) {
    notes.push_back(
        fmt::format("no overlapping-batches: {} steps are fewer than nine batches. Give --intervals "
                    "random-scaling, or more steps",
                    recorder_.counted(0)));
  }
  return spreads;
}

/// On rank 0; none elsewhere. **Collective.**
std::vector<Interval> PathResults::intervals_of_clients(const IntervalRecorder& recorder) const {
  std::vector<std::string> methods;
  if (config_.random_scaling) methods.emplace_back("random-scaling");
  if (config_.overlapping_batches) methods.emplace_back("overlapping-batches");
  if (config_.batch_means) methods.emplace_back("batch-means");
  Vector numbers;
  for (std::size_t k = 0; k < engine_.paths(); ++k) {
    append(spreads_of(recorder, k), methods, recorder.estimate(k, engine_.view()), numbers);
  }
  const std::vector<Vector> of_ranks = facts_.agreement.gather(declare_public(std::move(numbers)));
  std::vector<std::vector<MethodSpread>> by_client;
  for (std::size_t r = 0; r < of_ranks.size(); ++r) {
    View rest = of_ranks[r];
    for (Client k = 0; k < facts_.layout.count(static_cast<int>(r)); ++k) {
      by_client.push_back(take(rest, methods, facts_.dimension));
    }
  }
  leave_out_unknown(by_client);
  std::vector<Interval> intervals;
  for (std::size_t u = 0; u < by_client.size(); ++u) {
    for (Interval& each : intervals_of(by_client[u], facts_.names, config_.levels, static_cast<Client>(u))) {
      intervals.push_back(std::move(each));
    }
  }
  return intervals;
}

/// On rank 0; none elsewhere. **Collective.**
std::vector<Interval> PathResults::intervals(std::vector<std::string>& notes) {
  if (of_clients()) return intervals_of_clients(recorder_);
  return intervals_of(spreads_of_aggregator(notes), facts_.names, config_.levels, std::nullopt);
}

/// The aggregator's spreads in the source's own units: of the path as it was recorded in them, plug-in by its
/// covariance. Rank 0's.
std::vector<MethodSpread> PathResults::own_spreads_of_aggregator() const {
  const AffineMap& map = to_own_units_.value();
  std::vector<MethodSpread> spreads = spreads_of(*own_recorder_, 0);
  if (plug_in_) {
    Spread own{own_recorder_->estimate(0, engine_.view()),
               map.deviations(plug_in_->covariance, plug_in_->spread.spread)};
    spreads.push_back({"plug-in", std::move(own)});
    if (is_too_short(0)) make_infinite(spreads);
  }
  const std::optional<BiasEstimate> bias = engine_.bias();
  if (config_.bias == BiasChoice::remove && bias) {
    take_off({map.linear(bias->bias), map.deviation_bounds(bias->noise)}, spreads);
  }
  return spreads;
}

/// After intervals(), on rank 0; none elsewhere. **Collective.**
std::vector<Interval> PathResults::intervals_in_own_units() const {
  if (!own_recorder_) return {};
  if (of_clients()) return intervals_of_clients(*own_recorder_);
  if (!first_rank()) return {};
  return intervals_of(own_spreads_of_aggregator(), facts_.names, config_.levels, std::nullopt);
}

}  // namespace starling
