#include "path_results.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/numerics/kernels.hpp"
#include "newton_results.hpp"
#include "output/checkpoints/kept_parts.hpp"
#include "output/model_file/own_units.hpp"
#include "output/model_file/saved_model.hpp"
#include "setting/infer_config.hpp"

namespace starling {

namespace {

/// A recorder of the paths of an engine; `noted`: it keeps the first one's spreads along the way.
IntervalRecorder recorder_of(const IntervalFacts& facts, const InferEngine& engine, bool noted) {
  const InferConfig& config = facts.config;
  PathMethods methods;
  methods.random_scaling = config.random_scaling;
  methods.batch_means = config.batch_means;
  methods.overlapping_batches = config.overlapping_batches;
  methods.alpha = config.sgd.step_power;
  methods.steps = config.sgd.steps;
  methods.burn_in = config.burn_in;
  methods.noise_is_taken_back = facts.noise_is_taken_back;
  const PathsOf whose = config.decentralized() ? PathsOf::clients : PathsOf::aggregator;
  std::vector<std::size_t> clients;
  if (noted) clients.push_back(0);
  return {methods, engine.paths(), std::move(clients), facts.dimension, RecordRounds(config.record_every), whose};
}

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

}  // namespace

std::string quoted_names(const std::vector<std::size_t>& coefficients, const std::vector<std::string>& names) {
  std::string text;
  for (const std::size_t j : coefficients) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", names[j]);
  return text;
}

std::optional<AffineMap> map_to_own_units(const IntervalFacts& facts) {
  if (!facts.standardised || facts.config.intervals_text == "none") return std::nullopt;
  const PublicConstants& constants = facts.constants.value();
  const std::size_t features = facts.dimension - (facts.config.intercept ? 1 : 0);
  return OwnUnits(constants, constants.label_standardisation, features, facts.config.intercept).map();
}

std::unique_ptr<IntervalResults> make_interval_results(const IntervalFacts& facts, InferEngine& engine) {
  if (engine.newton() != nullptr) return std::make_unique<NewtonResults>(facts, *engine.newton());
  return std::make_unique<PathResults>(facts, engine);
}

PathResults::PathResults(const IntervalFacts& facts, InferEngine& engine)
    : facts_(facts),
      config_(facts_.config),
      engine_(engine),
      noted_(first_rank() && (config_.replications == 0 || (!of_clients() && config_.record_every))),
      recorder_(recorder_of(facts_, engine, noted_)) {
  if (config_.replications > 0) return;
  if (config_.plug_in_path) {
    plug_in_path_.emplace(engine, recorder_, RecordRounds(config_.record_every), config_.burn_in);
  }
  if (!facts_.standardised || config_.intervals_text == "none") return;
  own_recorder_.emplace(recorder_of(facts_, engine, false));
  if (engine.paths() == 0) return;
  to_own_units_ = map_to_own_units(facts_);
  own_recorder_->see_through(*to_own_units_);
}

std::vector<Observer*> PathResults::observers() {
  std::vector<Observer*> observers;
  if (engine_.paths() > 0) observers.push_back(&recorder_);
  if (engine_.paths() > 0 && own_recorder_) observers.push_back(&*own_recorder_);
  if (plug_in_path_) observers.push_back(&*plug_in_path_);
  return observers;
}

void PathResults::add_parts(KeptParts& parts) {
  parts.add("paths", recorder_);
  if (own_recorder_) parts.add("paths in own units", *own_recorder_);
  if (plug_in_path_) parts.add("plug-in intervals along the way", *plug_in_path_);
}

/// Records of all clients after so many steps, as far as numbers of records are public.
double PathResults::records_after(Round steps) const {
  const double most = static_cast<double>(steps) * static_cast<double>(config_.data.batch);
  double total = 0;
  for (const double records : facts_.records) total += std::min(records, most);
  return total;
}

Round PathResults::steps_taken() const {
  return of_clients() ? engine_.view().done() : config_.burn_in + recorder_.counted(0);
}

Released<Columns> PathResults::estimates() {
  if (engine_.paths() > 0) recorder_.finish(engine_.view());
  Columns models(facts_.dimension, static_cast<std::size_t>(facts_.layout.count(facts_.agreement.rank())));
  if (of_clients()) {
    for (std::size_t k = 0; k < models.size(); ++k) models.set(k, recorder_.estimate(k, engine_.view()));
    return declare_public(std::move(models));
  }
  Released<Vector> common = declare_public(Vector(facts_.dimension));
  if (first_rank()) {
    Vector estimate = recorder_.estimate(0, engine_.view());
    const std::optional<BiasEstimate> bias = engine_.bias();
    if (config_.bias == BiasChoice::remove && bias) axpy(-1, bias->bias, estimate);
    common = declare_public(std::move(estimate));
  }
  const std::vector<Vector> all = facts_.agreement.all_gather(common);
  return declare_public(Columns(all[0], models.size()));
}

RunIntervals PathResults::summarise(std::vector<std::string>& notes) {
  RunIntervals all;
  all.intervals = intervals(notes);
  if (plug_in_path_) plug_in_spreads_ = plug_in_path_->spreads(config_.data.batch);
  all.own_units = intervals_in_own_units();
  if (config_.intervals_text != "none") all.settling = settling(all.intervals);
  if (config_.intervals_text != "none") note_short_paths(notes);
  if (engine_.paths() > 0) all.records = records_after(steps_taken());
  if (config_.joint && first_rank()) all.joint = joint_test();
  if (config_.joint && first_rank() && !all.joint)
    notes.emplace_back("no joint test: too few steps count, or they do not tell the coefficients apart");
  return all;
}

/// As path_to(), with the last step's as any other.
std::vector<IntervalsAt> PathResults::path() const {
  std::vector<IntervalsAt> path;
  if (!noted_) return path;
  const std::optional<Client> client = of_clients() ? std::optional<Client>(0) : std::nullopt;
  for (const PathAt& at : recorder_.noted()) {
    std::vector<MethodSpread> methods = at.clients.at(0);
    for (const auto& [steps, spread] : plug_in_spreads_) {
      if (steps == at.steps) methods.push_back(spread);
    }
    path.push_back({at.steps, records_after(at.steps), intervals_of(methods, facts_.names, config_.levels, client)});
  }
  return path;
}

std::vector<IntervalsAt> PathResults::path_to(const std::vector<Interval>& last) const {
  std::vector<IntervalsAt> path = this->path();
  if (path.empty() || of_clients()) return path;
  path.back().intervals = last;  // less their bias, if that was asked for
  if (!plug_in_path_) {
    std::erase_if(path.back().intervals, [](const Interval& each) { return each.method == "plug-in"; });
  }
  return path;
}

std::vector<IntervalsAt> PathResults::all_along() {
  std::vector<IntervalsAt> path = this->path();
  if (!path.empty() && path.back().steps == config_.sgd.steps) path.pop_back();
  std::vector<std::string> left_out;
  path.push_back({config_.sgd.steps, records_after(config_.sgd.steps), intervals(left_out)});
  path.back().settled = settling(path.back().intervals).settled();
  return path;
}

/// Names the paths without intervals on rank 0. **Collective.**
void PathResults::note_short_paths(std::vector<std::string>& notes) const {
  Vector counted;
  for (std::size_t k = 0; k < engine_.paths(); ++k) counted.push_back(static_cast<double>(recorder_.counted(k)));
  const Vector all = joined(facts_.agreement.gather(declare_public(std::move(counted))));
  const auto is_short = [this](double steps) { return steps < static_cast<double>(least_counted()); };
  const auto first = std::ranges::find_if(all, is_short);
  if (first == all.end()) return;
  const std::string of_whom = of_clients()
                                  ? fmt::format(" of {} of {} clients, the first of them client {}",
                                                std::ranges::count_if(all, is_short), all.size(), first - all.begin())
                                  : "";
  notes.push_back(
      fmt::format("no intervals{}, after {} steps that count: intervals from fewer than {} steps for each coefficient, "
                  "{} in all, mean nothing",
                  of_whom, *first, least_steps_each, least_counted()));
}

/// Rank 0's joint test of all slopes.
std::optional<JointTest> PathResults::joint_test() const {
  if (is_too_short(0)) return std::nullopt;
  JointTest test;
  test.level = config_.levels.front();
  std::vector<std::size_t> tested(facts_.dimension - (config_.intercept ? 1 : 0));
  std::iota(tested.begin(), tested.end(), 0);
  for (const std::size_t j : tested) test.names.push_back(facts_.names[j]);
  const std::optional<double> statistic = recorder_.joint_statistic(0, tested);
  if (!statistic) return std::nullopt;
  test.statistic = *statistic;
  test.critical = joint_quantile(tested.size(), test.level);
  return test;
}

std::optional<ParameterSpread> PathResults::spread_of_parameters() const {
  if (of_clients() || config_.bias == BiasChoice::remove || is_too_short(0)) return std::nullopt;
  const std::optional<Settling> settling = recorder_.settling(0);
  if (!facts_.knows_scales || (settling && !settling->settled())) return std::nullopt;
  if (plug_in_ && plug_in_->undetermined.empty()) return ParameterSpread{"plug-in", plug_in_->covariance};
  if (!config_.random_scaling || !settling) return std::nullopt;
  return ParameterSpread{"random-scaling", recorder_.scaling(0)};
}

/// On rank 0, of all paths that tell and of all intervals; nothing elsewhere. **Collective.**
RunSettling PathResults::settling(const std::vector<Interval>& intervals) const {
  Vector numbers;
  for (std::size_t k = 0; k < engine_.paths(); ++k) {
    const Vector own = numbers_of(recorder_.settling(k));
    numbers.insert(numbers.end(), own.begin(), own.end());
  }
  const std::vector<std::string>& names = facts_.names;
  std::vector<PathSettling> paths;
  Client client = 0;
  for (const Vector& rank : facts_.agreement.gather(declare_public(std::move(numbers)))) {
    for (std::size_t at = 0; at < rank.size(); at += figures_of_path, ++client) {
      const auto path = settling_from(View(rank).subspan(at, figures_of_path));
      if (!path) continue;
      paths.push_back({of_clients() ? std::optional(client) : std::nullopt, path->settled(), path->effective_steps,
                       path->least_effective_steps, names[path->slowest], path->drift, path->most_drift,
                       names[path->drifting]});
    }
  }
  return {.paths = std::move(paths), .disagreement = disagreement_of(intervals), .knows_scales = facts_.knows_scales};
}

}  // namespace starling
