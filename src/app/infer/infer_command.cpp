// The steps and results of `starling infer`.
#include "app/console/commands.hpp"
#include "infer_run.hpp"
#include <algorithm>
#include <cmath>
#include <limits>

#include "starling/core/numerics/kernels.hpp"
#include "starling/report/pictures/interval_picture.hpp"

namespace starling {

namespace {

/// Appends one client's (estimate, spread) of each method.
void append(const std::vector<MethodSpread>& methods, Vector& numbers) {
  for (const MethodSpread& each : methods) {
    numbers.insert(numbers.end(), each.spread.estimate.begin(), each.spread.estimate.end());
    numbers.insert(numbers.end(), each.spread.spread.begin(), each.spread.spread.end());
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

/// One entry for each of these methods, in this order. Where the spread is unknown it is NaN: clients whose steps ended
/// early know fewer.
std::vector<MethodSpread> padded(const std::vector<MethodSpread>& known, const std::vector<std::string>& names,
                                 const Vector& estimate) {
  std::vector<MethodSpread> methods;
  for (const std::string& name : names) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& each) { return each.method == name; });
    const Vector none(estimate.size(), std::numeric_limits<double>::quiet_NaN());
    methods.push_back(found == known.end() ? MethodSpread{name, {estimate, none}} : *found);
  }
  return methods;
}

/// Removes methods of which no client has a spread.
void leave_out_unknown(std::vector<std::vector<MethodSpread>>& clients) {
  const auto unknown = [&](std::size_t m) {
    return std::all_of(clients.begin(), clients.end(),
                       [m](const auto& methods) { return std::isnan(methods[m].spread.spread[0]); });
  };
  for (std::size_t m = clients.empty() ? 0 : clients[0].size(); m > 0; --m) {
    if (!unknown(m - 1)) continue;
    for (auto& methods : clients) methods.erase(methods.begin() + static_cast<std::ptrdiff_t>(m - 1));
  }
}

}  // namespace

std::vector<std::string> InferRun::coefficient_names() const {
  std::vector<std::string> names = dataset_.shape.names;
  for (std::size_t j = names.size(); j < dataset_.shape.features; ++j) names.push_back(fmt::format("x{}", j));
  if (config_.intercept) names.emplace_back("intercept");
  return names;
}

/// Records of all clients after so many steps, as far as numbers of records are public.
double InferRun::records_after(Round steps) const {
  const double most = static_cast<double>(steps) * static_cast<double>(config_.data.batch);
  double total = 0;
  for (const double records : records_of_clients_) total += std::min(records, most);
  return total;
}

/// Estimates, d × local clients.
Released<Columns> InferRun::final_models() {
  if (engine_->paths() > 0) intervals_->finish(engine_->view());
  Columns models(dimension_, static_cast<std::size_t>(client_count()));
  if (schedule_) {
    for (std::size_t k = 0; k < models.size(); ++k) {
      const Vector own = intervals_->estimate(k, engine_->view());
      std::copy(own.begin(), own.end(), models[k].begin());
    }
    return declare_public(std::move(models));
  }
  Released<Vector> common = declare_public(Vector(dimension_));
  if (first_rank()) {
    Vector estimate = intervals_->estimate(0, engine_->view());
    const std::optional<BiasEstimate> bias = engine_->bias();
    if (config_.bias == BiasChoice::remove && bias) axpy(-1, bias->bias, estimate);
    common = declare_public(std::move(estimate));
  }
  const std::vector<Vector> all = agreement_.all_gather(common);
  for (std::size_t k = 0; k < models.size(); ++k) std::copy(all[0].begin(), all[0].end(), models[k].begin());
  return declare_public(std::move(models));
}

/// Rank 0's plug-in spreads, if they are asked for. A coordinate that the data do not determine has an infinite spread.
/// **Collective.**
std::vector<MethodSpread> InferRun::plug_in_spreads(InferEngine& engine, const IntervalRecorder& recorder) {
  if (config_.plug_in && config_.trust == PlugInTrust::central && rounds_done(engine.view()) < config_.sgd.steps) {
    // A run that is taken up again would release other sums of the same records, and they are paid for once.
    notes_.emplace_back("stopped: no plug-in intervals, whose sums are released once, after the last step");
    return {};
  }
  const std::optional<PlugInMeans> means = engine.plug_in();
  if (!means || means->curvature.empty() || recorder.counted(0) < 2) return {};
  const Vector estimate = recorder.estimate(0, engine.view());
  const ReleasedMatrix influence = influence_of(*means, config_.data.batch, engine.mean_inverse_clients());
  PlugIn result = plug_in(estimate, {means->curvature, means->curvature_noise}, influence, recorder.counted(0));
  for (const std::size_t j : result.undetermined) result.spread.spread[j] = std::numeric_limits<double>::infinity();
  note_undetermined(result);
  plug_in_ = result;
  return {{"plug-in", result.spread}};
}

void InferRun::note_undetermined(const PlugIn& result) {
  if (result.undetermined.empty()) return;
  std::string names;
  for (const std::size_t j : result.undetermined) {
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", coefficient_names()[j]);
  }
  notes_.push_back(fmt::format(
      "plug-in: no interval for {} (the curvature's least eigenvalue, {:.3g}, is below {:.3g}, what it would be taken "
      "for {}: a column may be constant, or a combination of others) drop a column, or bring more records",
      names, result.least_curvature, result.curvature_floor, unprotected() ? "by roundings alone" : "by noise alone"));
}

/// Takes the curvature bias off the estimates, or says how large it is. Rank 0's.
void InferRun::treat_bias(const InferEngine& engine, std::vector<MethodSpread>& spreads) {
  const std::optional<BiasEstimate> bias = engine.bias();
  if (!bias) {
    if (config_.bias == BiasChoice::remove && !spreads.empty()) {
      notes_.push_back(
          fmt::format("the curvature bias is NOT removed: after {} steps the noise hides the curvature (more records, "
                      "or a larger price, would show it)",
                      engine.view().done()));
    }
    return;
  }
  for (MethodSpread& each : spreads) {
    const bool of_path = each.method == "random-scaling";
    if (config_.bias == BiasChoice::remove) {
      each.spread = less_bias(each.spread, *bias, of_path ? variance_share_of_random_scaling : variance_share);
      continue;
    }
    const double quantile = interval_quantile(each.method, config_.levels.front());
    const auto warning = curvature_bias_warning(*bias, each.spread, quantile, coefficient_names());
    if (warning) notes_.push_back(fmt::format("{}: {}, or --bias remove", each.method, *warning));
  }
}

/// Rank 0's; none elsewhere. **Collective.**
std::vector<MethodSpread> InferRun::spreads_of_aggregator(InferEngine& engine, const IntervalRecorder& recorder) {
  const std::vector<MethodSpread> plug_in = plug_in_spreads(engine, recorder);
  if (!first_rank()) return {};
  std::vector<MethodSpread> spreads = recorder.spreads(0);
  spreads.insert(spreads.end(), plug_in.begin(), plug_in.end());
  treat_bias(engine, spreads);
  if (config_.batch_means && recorder.counted(0) < config_.sgd.steps - config_.burn_in) {
    notes_.push_back(fmt::format("no batch-means: {} of {} steps were taken, and the last batch ends with the last",
                                 recorder.counted(0), config_.sgd.steps - config_.burn_in));
  }
  return spreads;
}

/// On rank 0; none elsewhere. **Collective.**
std::vector<Interval> InferRun::intervals_of_clients(const InferEngine& engine, const IntervalRecorder& recorder) {
  std::vector<std::string> methods;
  if (config_.random_scaling) methods.emplace_back("random-scaling");
  if (config_.batch_means) methods.emplace_back("batch-means");
  Vector numbers;
  for (std::size_t k = 0; k < engine.paths(); ++k) {
    append(padded(recorder.spreads(k), methods, recorder.estimate(k, engine.view())), numbers);
  }
  const std::vector<Vector> of_ranks = agreement_.gather(declare_public(std::move(numbers)));
  std::vector<std::vector<MethodSpread>> of_clients;
  for (std::size_t r = 0; r < of_ranks.size(); ++r) {
    View rest = of_ranks[r];
    for (Client k = 0; k < layout_->count(static_cast<int>(r)); ++k) {
      of_clients.push_back(take(rest, methods, dimension_));
    }
  }
  leave_out_unknown(of_clients);
  std::vector<Interval> intervals;
  for (std::size_t u = 0; u < of_clients.size(); ++u) {
    for (Interval& each : intervals_of(of_clients[u], coefficient_names(), config_.levels, static_cast<Client>(u))) {
      intervals.push_back(std::move(each));
    }
  }
  return intervals;
}

std::vector<Interval> InferRun::all_intervals(InferEngine& engine, const IntervalRecorder& recorder) {
  if (schedule_) return intervals_of_clients(engine, recorder);
  return intervals_of(spreads_of_aggregator(engine, recorder), coefficient_names(), config_.levels, std::nullopt);
}

/// Steps are the same on all ranks but for those that host no client of a graph. **Collective.**
Round InferRun::rounds_done(const RoundView& view) {
  return agreement_.max(declare_public(view.done()));
}

/// The path of client 0, or of the aggregator; on rank 0.
std::vector<IntervalsAt> InferRun::interval_path(const IntervalRecorder& recorder) const {
  std::vector<IntervalsAt> path;
  const std::optional<Client> client = schedule_ ? std::optional<Client>(0) : std::nullopt;
  for (const PathAt& at : recorder.noted()) {
    std::vector<MethodSpread> methods = at.clients.at(0);
    for (const auto& [steps, spread] : plug_in_spreads_) {
      if (steps == at.steps) methods.push_back(spread);
    }
    path.push_back(
        {at.steps, records_after(at.steps), intervals_of(methods, coefficient_names(), config_.levels, client)});
  }
  return path;
}

/// Rank 0's joint test of all slopes.
std::optional<JointTest> InferRun::joint_test(const IntervalRecorder& recorder) const {
  const std::vector<std::string> names = coefficient_names();
  JointTest test;
  test.level = config_.levels.front();
  std::vector<std::size_t> tested;
  for (std::size_t j = 0; j < dataset_.shape.features; ++j) {
    tested.push_back(j);
    test.names.push_back(names[j]);
  }
  const std::optional<double> statistic = recorder.joint_statistic(0, tested);
  if (!statistic) return std::nullopt;
  test.statistic = *statistic;
  test.critical = joint_quantile(tested.size(), test.level);
  return test;
}

void InferRun::build_protocol() {
  recorded_ = who_is_recorded(layout_->clients(),
                              config_.record_clients.value_or(schedule_ ? RecordedChoice() : of_one_model), dimension_);
  engine_ = engine(std::move(dataset_.streams), privacy_->accounts());
  if (recorded_.figures == Figures::of_some) engine_->count_edges_of(recorded_.listed);
  if (!engine_->note().empty()) notes_.push_back(engine_->note());
  intervals_.emplace(follow(*engine_, first_rank() ? std::vector<std::size_t>{0} : std::vector<std::size_t>()));
  if (standardised_ && config_.intervals_text != "none") {
    own_intervals_.emplace(follow(*engine_, {}));
    if (engine_->paths() > 0) own_intervals_->see_through(own_units());
  }
}

Recording InferRun::recording() {
  return {config_.sgd.steps,
          recorded_,
          scores_of(model_->classifies()),
          test_score_of(*model_),
          schedule_ ? Models::one_each : Models::one_for_all,
          {{"aggregated", schedule_ ? "no" : "yes"}},
          "step",
          schedule_ ? std::optional(Mixing::push_sum) : std::nullopt};
}

void InferRun::add_observers(std::vector<Observer*>& observers, KeptParts& parts) {
  if (engine_->paths() > 0) observers.push_back(&*intervals_);
  if (engine_->paths() > 0 && own_intervals_) observers.push_back(&*own_intervals_);
  if (config_.plug_in_path) {
    plug_in_path_.emplace(*engine_, *intervals_, RecordRounds(config_.record_every), config_.burn_in);
    observers.push_back(&*plug_in_path_);
    parts.add("plug-in intervals along the way", *plug_in_path_);
  }
  parts.add("steps", *engine_);
  parts.add("choices", kept_choices_);
  parts.add("paths", *intervals_);
  if (own_intervals_) parts.add("paths in own units", *own_intervals_);
}

RoundsEnd InferRun::end_rounds() {
  return RoundsEnd::in_step(rounds_done(engine_->view()), config_.sgd.steps);
}

void InferRun::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& /*end*/) {
  summary.average = "all";
  summary.learned = true;
  summary.tuned = tuned_;
  summary.classifies = model_->classifies();
  summary.aggregated = !schedule_;
  LocalResults local = local_results(std::move(models), model_.get());
  local.debts = engine_->debts();
  local.edges = engine_->edge_traffic();
  local.wire = engine_->wire_traffic();
  gather_results(agreement_, local, metrics_policy(), config_.json_models, summary);
  if (schedule_) add_weights(summary);
  if (!schedule_ && first_rank()) set_one_model(summary, local.models.value()[0]);
  summary.intervals = all_intervals(*engine_, *intervals_);
  if (plug_in_path_) plug_in_spreads_ = plug_in_path_->spreads(config_.data.batch);
  summary.own_units = intervals_in_own_units(*engine_);
  if (config_.intervals_text != "none") {
    summary.settling = settling(*engine_, *intervals_, summary.intervals);
    note_unsettled(summary.settling);
  }
  agreement_.together([&] {
    if (!first_rank()) return;
    const std::string note =
        columns_->write_proposal(directory_->path(), dataset_.constants ? dataset_.constants->label : "");
    if (!note.empty()) notes_.push_back(note);
  });
  if (engine_->paths() > 0) summary.interval_records = records_after(config_.burn_in + intervals_->counted(0));
  if (config_.joint && first_rank()) summary.joint = joint_test(*intervals_);
}

/// **Collective.**
void InferRun::add_weights(Summary& summary) {
  summary.step_cap = config_.step_cap;
  summary.weights = gather_weights(agreement_, recorded_, *engine_->steps(first_client()), tolerated_debt);
  if (summary.weights->named > 0) notes_.push_back(note_on_debt(*summary.weights));
}

std::optional<SavedModel> InferRun::model_of_results() const {
  SavedModel model;
  model.loss = config_.loss;
  model.features = dataset_.shape.features;
  model.intercept = config_.intercept;
  model.spread = spread_of_parameters();
  return model;
}

/// The spread of a regression's estimate, on rank 0. None over a topology, and where the path has not settled.
std::optional<ParameterSpread> InferRun::spread_of_parameters() const {
  if (schedule_ || model_->classifies() || config_.bias == BiasChoice::remove) return std::nullopt;
  if (plug_in_ && plug_in_->undetermined.empty()) return ParameterSpread{"plug-in", plug_in_->covariance};
  const std::optional<Settling> settling = intervals_->settling(0);
  if (!config_.random_scaling || !settling || !settling->settled()) return std::nullopt;
  return ParameterSpread{"random-scaling", intervals_->scaling(0)};
}

OwnResults InferRun::own_results(const Summary& summary) {
  std::vector<IntervalsAt> path = interval_path(*intervals_);
  if (!path.empty() && !schedule_) {  // less their bias, if that was asked for
    path.back().intervals = summary.intervals;
    if (!plug_in_path_) {
      std::erase_if(path.back().intervals, [](const Interval& each) { return each.method == "plug-in"; });
    }
  }
  OwnResults own;
  own.model = "the estimate";
  if (path.empty() || path.back().intervals.empty()) return own;
  const std::string& folder = directory_->path();
  own.write = [folder, path, in_own_units = summary.own_units, this] {
    write_interval_path(folder, path);
    if (!in_own_units.empty()) write_coefficients(*directory_, in_own_units, "coefficients-own-units.csv");
  };
  own.draw = [folder, path] { return std::vector<std::string>{draw_intervals(folder, path, {})}; };
  return own;
}

Command infer_command() {
  return learning_command<InferRun, InferConfig, infer_options, parse_infer_config>(
      "infer", "regression under local differential privacy, with confidence intervals", infer_manual);
}

}  // namespace starling
