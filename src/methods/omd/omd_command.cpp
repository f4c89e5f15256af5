// The rounds and results of `starling omd`.
#include <algorithm>
#include <cmath>

#include "core/memory/heap.hpp"
#include "methods/methods.hpp"
#include "omd_run.hpp"
#include "output/figures/effective_weights.hpp"
#include "report/pictures/pictures.hpp"
#include "report/view/run_reading.hpp"

namespace starling {

Learning OmdRun::make_learning() {
  Model& learned = learned_model(*model_, config_.privacy, persons_);
  if (config_.privacy.audit) canaries_.emplace(learned, privacy_->mechanism());
  Model& model = canaries_ ? canaries_->model() : learned;
  Mechanism& mechanism = canaries_ ? canaries_->mechanism() : privacy_->mechanism();
  if (constraints_) {
    constraints_->start(static_cast<std::size_t>(inputs_.client_count()), privacy_->pair(), config_.data.batch);
    if (config_.constraints.shared) constraints_->duals_of_clients()->share(agreement_, inputs_.layout->clients());
  }
  Vector factors;
  if (config_.weights == ClientWeights::equal) factors = inputs_.factors_of_own_means(inputs_.dataset.streams);
  return {constraints_ ? constraints_->model(model) : model,
          mechanism,
          privacy_->accounts(),
          privacy_->take_keys(),
          std::move(inputs_.dataset.streams),
          constraints_ ? constraints_->duals_of_clients() : nullptr,
          std::move(factors)};
}

void OmdRun::build_protocol() {
  trim_heap();  // with many clients, setting up has taken more memory than the run needs
  std::optional<Learning> learning;
  if (config_.learns()) learning.emplace(make_learning());
  const std::size_t length = message_length(mirror_->state_size(dimension_), config_.mixing);
  const Schedule& schedule = constraints_ ? constraints_->affordable(graph_->schedule(), length * sizeof(double),
                                                                     config_.mixing.gossip_steps, config_.data.seed)
                                          : graph_->schedule();
  channel_.emplace(world_, *inputs_.layout, schedule, config_.mixing, mirror_->state_size(dimension_));
  recorded_ =
      who_is_recorded(inputs_.clients_at_first(), config_.record_clients.value_or(RecordedChoice()), dimension_);
  recorded_.add_joined(inputs_.clients_at_first(), inputs_.layout->clients());
  if (recorded_.figures == Figures::of_some) channel_->count_edges_of(recorded_.listed);
  if (!channel_->note().empty()) notes_.push_back(channel_->note());
  if (hosts_clients() && channel_->mixer().plan_ahead() && !constraints_) {
    graph_->schedule().forget_links();  // every rank has all links of a graph that comes from a file
    trim_heap();
  }
  omd_.emplace(channel_->mixer(), *mirror_, std::move(learning), config_.omd, std::move(*start_));
  if (inputs_.members.any_lost()) omd_->set_lost(inputs_.lost_here());
  start_.reset();
}

Recording OmdRun::recording() {
  Recording recording;
  recording.rounds = config_.omd.rounds;
  recording.clients = recorded_;
  if (config_.learns()) {
    recording.scores = scores_of(loss_->classifies());
    recording.test = test_score_of(*model_);
  }
  recording.provenance = {{"topology_digest", graph_->digest()}};
  recording.mixing = config_.mixing.mixing;
  return recording;
}

void OmdRun::add_observers(std::vector<Observer*>& observers, KeptParts& parts) {
  const auto clients = static_cast<std::size_t>(inputs_.client_count());
  played_.emplace(regrets() ? growth_marks(config_.omd.rounds) : std::vector<Round>(), regrets() ? clients : 0);
  observers.push_back(&*played_);
  parts.add("models", *omd_);
  parts.add("choices", kept_choices_);
  parts.add("sums for regret", *played_);
  if (config_.learns()) {
    observers.push_back(&path_.emplace(config_.omd, config_.omd.rounds, inputs_.first_client()));
    parts.add("marks of the path", *path_);
  }
  if (config_.average != Averaging::none) {
    observers.push_back(&average_.emplace(config_.average, config_.omd.rounds, Columns(dimension_, clients)));
    parts.add("mean models", *average_);
  }
  if (constraints_) {
    observers.push_back(&violations_.emplace(
        constraints_->duals_of_clients(), constraints_->energy(), config_.mixing.gossip_steps, inputs_.first_client(),
        clients, metrics_policy(), directory_->private_folder(world_.rank()) + "/violation.csv"));
    parts.add("violations", *violations_);
  }
}

void OmdRun::play_rounds(const std::vector<Observer*>& observers) {
  if (hosts_clients()) omd_->run(observers);
}

/// Where rounds are not in step, ranks that a signal has stopped are at different rounds.
RoundsEnd OmdRun::end_rounds() {
  const Round planned = config_.omd.rounds;
  RoundsEnd end;
  end.done = agreement_.max(declare_public(hosts_clients() ? omd_->done() : Round{0}));
  end.least = agreement_.min(declare_public(hosts_clients() ? omd_->done() : planned));
  end.stopped = end.least < planned;
  channel_->give_back_room();  // the last models are copied
  trim_heap();                 // plans have gone
  return end;
}

Released<Columns> OmdRun::final_models() {
  return average_ ? average_->models(*omd_) : omd_->models();
}

void OmdRun::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) {
  if (violations_) violation_ = violations_->finish(agreement_, end.done, inputs_.layout->clients());
  summary.average = name_of(config_.average);
  summary.learned = config_.learns();
  summary.classifies = model_ && model_->classifies();
  summary.part<Pace>().deadline = config_.mixing.deadline;
  summary.add(tuning_);
  LocalResults local = local_results(std::move(models), model_.get());
  local.debts = omd_->debts_in_first_steps();
  local.edges = channel_->edge_traffic();
  local.wire = channel_->wire_traffic();
  if (hosts_clients()) local.played_rounds = omd_->played_rounds();
  add_regret(summary, end.stopped);
  gather_results(agreement_, local, metrics_policy(), config_.json_models, summary);
  if (violation_) summary.add(violation_->constraints);
  if (const std::optional<double> contraction = graph_->contraction()) {
    summary.part<Consensus>().left =
        std::pow(*contraction, static_cast<double>(end.done * config_.mixing.gossip_steps));
  }
  if (config_.learns()) add_weights(summary);
}

/// **Collective.**
void OmdRun::add_weights(Summary& summary) {
  const bool out_of_step = config_.mixing.deadline.has_value();
  summary.part<Steps>().cap = config_.omd.step_cap;
  std::optional<double> contraction;
  if (!out_of_step) contraction = summary.add(path_->figures(agreement_)).contraction;
  summary.add(gather_weights(agreement_, recorded_, local_steps(*omd_, inputs_.first_client(), contraction),
                             out_of_step ? tolerated_debt_out_of_step : tolerated_debt));
  if (out_of_step) note_late_clients();
}

/// **Collective.**
bool OmdRun::any_has_played() {
  bool any = false;
  for (const RoundSet& rounds : omd_->rounds_played()) any = any || !rounds.empty();
  return agreement_.any(declare_public(any));
}

/// Names the clients that were too late at the end to step; their effective weight may be near 1. **Collective.**
void OmdRun::note_late_clients() {
  constexpr std::size_t most_named = 10;
  std::vector<std::string> late;
  const auto of_ranks = agreement_.all_gather(declare_public(std::vector<std::int64_t>{omd_->was_too_late() ? 1 : 0}));
  for (int r = 0; r < inputs_.layout->ranks(); ++r) {
    if (of_ranks[static_cast<std::size_t>(r)].front() == 0) continue;
    const Client first = inputs_.layout->first(r);
    const Client last = first + inputs_.layout->count(r) - 1;
    late.push_back(first == last ? fmt::format("client {}", first) : fmt::format("clients {} to {}", first, last));
  }
  if (late.empty()) return;
  const std::size_t more = late.size() - std::min(late.size(), most_named);
  late.resize(late.size() - more);
  notes_.push_back(fmt::format(
      "late at the end: {}{} had steps to make up for when the others had played their last round, and did not take "
      "them. The last models lean towards the others. Give each rank a processor of its own, or take --deadline.",
      fmt::join(late, ", "), more > 0 ? fmt::format(" and those of {} more ranks", more) : ""));
}

/// **Collective.**
void OmdRun::add_regret(Summary& summary, bool stopped) {
  if (!regrets()) return;
  if (stopped) {
    notes_.emplace_back("regret: left out, since the run was stopped");
  } else if (!any_has_played()) {
    notes_.emplace_back("regret: there is none, since no client took a step");
  } else {
    for (const std::string& remark : remarks_on(summary.add(find_regret_of_run()))) notes_.push_back(remark);
  }
}

/// The evaluation pass, over streams opened anew. **Collective.**
Regret OmdRun::find_regret_of_run() {
  EvaluationData data;
  agreement_.together([&] {
    Dataset again = inputs_.opened_again(config_.data);
    check<DataError>(again.fingerprint == inputs_.dataset.fingerprint,
                     "{}: it has changed since the run began (the regret would be that of other records)",
                     config_.data.source);
    data.streams = std::move(again.streams);
  });
  data.rounds = omd_->rounds_played();
  data.marks = played_->marks();
  data.played = played_->played();
  data.batch = config_.data.batch;
  data.l2 = config_.omd.l2;
  const MetricsPolicy policy = metrics_policy();
  const EvaluationPass pass(agreement_, policy, *model_, *domain_, data, [this] { return !world_.go_on_waiting(); });
  return find_regret(pass, {config_.regret != RegretChoice::dynamic, config_.regret != RegretChoice::static_regret,
                            constraints_ ? &constraints_->set() : nullptr, config_.benchmark_window});
}

void OmdRun::complete_summary(Summary& summary) {
  if (!config_.learns()) return;
  if (canaries_) {
    summary.part<PrivacyReport>().audit =
        canaries_->finish(agreement_, privacy_->dearest_charge(), privacy_->delta_of_claims());
  }
  for (const ConstraintFigures& each : summary.get<std::vector<ConstraintFigures>>()) {
    if (!each.violation) summary.withheld.push_back("constraints[" + each.name + "].violation");
  }
}

std::optional<SavedModel> OmdRun::model_of_results() const {
  if (!config_.learns()) return std::nullopt;
  return saved_model(config_.model, config_.loss, *loss_, inputs_.dataset.shape);
}

OwnResults OmdRun::own_results(const Summary& /*summary*/) {
  return {"the final mean model", {}, [this] { return draw(); }};
}

ExitCode OmdRun::exit_code(const Summary& summary, const RoundsEnd& end) {
  const auto& audit = summary.get<PrivacyReport>().audit;
  const bool refuted = audit && audit->refuted;
  return agreement_.broadcast(declare_public(refuted)) ? ExitCode::refuted : LearningRun::exit_code(summary, end);
}

/// Returns the reasons for missing pictures.
std::vector<std::string> OmdRun::draw() const {
  const std::string& folder = directory_->path();
  std::vector<std::string> problems;
  if (violation_) problems.push_back(write_violations(folder, *violation_));
  problems.push_back(draw_network(folder, read_network(folder), records_->history(), {}));
  return problems;
}

Command omd_command() {
  return learning_command<OmdRun, OmdConfig, omd_options, complete_omd_config>(
      "omd", "online mirror descent over a topology (under mpirun or srun)", omd_manual);
}

}  // namespace starling
