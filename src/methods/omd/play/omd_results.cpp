#include "omd_results.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/kernels.hpp"
#include "methods/omd/omd_config.hpp"
#include "methods/omd/omd_parts.hpp"
#include "methods/omd/run_constraints.hpp"
#include "methods/omd/run_graph.hpp"
#include "omd_regret.hpp"
#include "output/checkpoints/kept_parts.hpp"
#include "output/directory/run_directory.hpp"
#include "output/figures/effective_weights.hpp"
#include "output/figures/model_path.hpp"
#include "output/figures/violation.hpp"
#include "output/model_average.hpp"
#include "protocol/decentralized/omd.hpp"
#include "report/pictures/pictures.hpp"
#include "report/summary.hpp"
#include "report/view/run_reading.hpp"
#include "run/results/added_noise.hpp"
#include "run/stages/method.hpp"
#include "run/stages/play.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

OmdResults::OmdResults(const BegunRun& begun, const OmdParts& parts, const Recorded& recorded,
                       const DecentralizedOmd& omd, const Vector& noise_factors)
    : begun_(begun), parts_(parts), recorded_(recorded), omd_(omd), noise_factors_(noise_factors) {
  const OmdConfig& config = parts.config;
  const RunInputs& inputs = begun.context.inputs;
  const auto clients = static_cast<std::size_t>(inputs.client_count());
  const bool regrets = config.regret != RegretChoice::none;
  played_ = std::make_unique<PlayedRecorder>(regrets ? growth_marks(config.omd.rounds) : std::vector<Round>(),
                                             regrets ? clients : 0);
  if (config.learns()) path_ = std::make_unique<ModelPath>(config.omd, config.omd.rounds, inputs.first_client());
  if (config.average != Averaging::none) {
    average_ = std::make_unique<ModelAverage>(config.average, config.omd.rounds, Columns(omd.dimension(), clients));
  }
  if (parts.constraints) {
    violations_ = std::make_unique<ConstraintRecorder>(
        parts.constraints->duals_of_clients(), parts.constraints->energy(), config.mixing.gossip_steps,
        inputs.first_client(), clients, begun.context.metrics_policy(),
        begun.directory.private_folder(begun.context.world.rank()) + "/violation.csv");
  }
}

OmdResults::~OmdResults() = default;

void OmdResults::add_observers(std::vector<Observer*>& observers, KeptParts& parts) {
  const auto add = [&](const std::string& name, auto& observer) {
    observers.push_back(&observer);
    parts.add(name, observer);
  };
  add("sums for regret", *played_);
  if (path_) add("marks of the path", *path_);
  if (average_) add("mean models", *average_);
  if (violations_) add("violations", *violations_);
}

Released<Columns> OmdResults::final_models() const {
  Released<Columns> models = average_ ? average_->models(omd_) : omd_.models();
  if (!parts_.kept_start) return models;
  models.update(
      [this](Columns& all, const Columns& start) {
        scale(1 - parts_.share_of_start, all.flat());
        axpy(parts_.share_of_start, start.flat(), all.flat());
      },
      *parts_.kept_start);
  return models;
}

void OmdResults::add_regret(Summary& summary, bool stopped) {
  if (parts_.config.regret == RegretChoice::none) return;
  starling::add_regret(summary, begun_.context, parts_, omd_, *played_, stopped);
}

void OmdResults::add_all_others(Summary& summary, const RoundsEnd& end) {
  if (violations_) add_violations(summary, end);
  if (const std::optional<double> contraction = parts_.graph->contraction()) {
    summary.part<Consensus>().left =
        std::pow(*contraction, static_cast<double>(end.done * parts_.config.mixing.gossip_steps));
  }
  if (!parts_.config.learns()) return;
  add_weights(summary);
  add_noise(summary);
}

/// **Collective.**
void OmdResults::add_violations(Summary& summary, const RoundsEnd& end) {
  const RunContext& run = begun_.context;
  violation_ = std::make_unique<ConstraintReport>(
      violations_->finish(begun_.context.agreement, end.done, run.inputs.layout->clients()));
  summary.add(violation_->constraints);
}

void OmdResults::name_withheld(Summary& summary) {
  for (const ConstraintFigures& each : summary.get<std::vector<ConstraintFigures>>()) {
    if (!each.violation) summary.withheld.push_back("constraints[" + each.name + "].violation");
  }
}

/// **Collective.**
void OmdResults::add_weights(Summary& summary) {
  Agreement& agreement = begun_.context.agreement;
  const bool out_of_step = parts_.config.mixing.deadline.has_value();
  summary.part<Steps>().cap = parts_.config.omd.step_cap;
  std::optional<double> contraction;
  if (!out_of_step) contraction = summary.add(path_->figures(agreement)).contraction;
  const LocalSteps steps = local_steps(omd_, begun_.context.inputs.first_client(), contraction);
  summary.add(gather_weights(agreement, recorded_, steps, out_of_step ? tolerated_debt_out_of_step : tolerated_debt));
  if (out_of_step) note_late_clients();
}

/// Names the clients that were too late at the end to step; their effective weight may be near 1. **Collective.**
void OmdResults::note_late_clients() {
  constexpr std::size_t most_named = 10;
  RunContext& run = begun_.context;
  std::vector<std::string> late;
  const auto of_ranks =
      run.agreement.all_gather(declare_public(std::vector<std::int64_t>{omd_.was_too_late() ? 1 : 0}));
  for (int r = 0; r < run.inputs.layout->ranks(); ++r) {
    if (of_ranks[static_cast<std::size_t>(r)].front() == 0) continue;
    const Client first = run.inputs.layout->first(r);
    const Client last = first + run.inputs.layout->count(r) - 1;
    late.push_back(first == last ? fmt::format("client {}", first) : fmt::format("clients {} to {}", first, last));
  }
  if (late.empty()) return;
  const std::size_t more = late.size() - std::min(late.size(), most_named);
  late.resize(late.size() - more);
  run.notes.push_back(fmt::format(
      "late at the end: {}{} had steps to make up for when the others had played their last round, and did not take "
      "them. The last models lean towards the others. Give each rank a processor of its own, or take --deadline.",
      fmt::join(late, ", "), more > 0 ? fmt::format(" and those of {} more ranks", more) : ""));
}

/// Whether each step that was due to a client of this rank has been taken, and its mass has arrived.
bool OmdResults::all_steps_arrived() const {
  bool all = parts_.config.omd.first_round == 0;
  for (std::size_t k = 0; k < omd_.masses().size(); ++k) {
    all = all && omd_.is_there(k) && omd_.mass_in_flight(k) == 0 && !(omd_.effective_weight(k) < 1) &&
          omd_.debts()[k] == 0;
  }
  return all;
}

/// Mixing keeps Σ w x, of which a step takes η ĝ. **Collective.**
void OmdResults::add_noise(Summary& summary) {
  const OmdConfig& config = parts_.config;
  const double share = 1 - parts_.share_of_start;
  ReleasedSteps steps{
      [&config, share](Round t) { return share * config.omd.step_at(t); }, noise_factors_, {}, false, {}};
  const View masses = omd_.masses();
  steps.shares.assign(masses.begin(), masses.end());
  if (steps.weights.empty()) steps.weights.assign(steps.shares.size(), 1.0);
  if (!parts_.mirror->is_linear() || !parts_.domain->is_everything()) {
    steps.unknown = "it passes through a mirror map or a projection";
  } else if (parts_.constraints) {
    steps.unknown = "constraints bend the steps";
  } else if (config.average != Averaging::none) {
    steps.unknown = "the model is a mean over rounds";
  } else if (config.mixing.mixing != Mixing::push_sum) {
    steps.unknown = "plain mixing weighs clients by the graph";
  } else if (!begun_.context.agreement.all(declare_public(all_steps_arrived())) || config.mixing.deadline) {
    steps.unknown = "not every step or message has arrived in full";
  }
  summary.add(added_noise(begun_, omd_, steps));
}

std::vector<std::string> OmdResults::draw(const std::vector<NetworkFigures>& history) const {
  const std::string& folder = begun_.directory.path();
  std::vector<std::string> problems;
  if (violation_) problems.push_back(write_violations(folder, *violation_));
  problems.push_back(draw_network(folder, read_network(folder), history, {}));
  return problems;
}

}  // namespace starling
