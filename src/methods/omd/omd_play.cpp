// The rounds and results of `starling omd`.
#include <algorithm>
#include <cmath>

#include "core/memory/heap.hpp"
#include "core/numerics/kernels.hpp"
#include "joined_clients.hpp"
#include "methods/methods.hpp"
#include "omd_method.hpp"
#include "output/checkpoints/kept_parts.hpp"
#include "output/figures/effective_weights.hpp"
#include "output/figures/model_path.hpp"
#include "output/figures/violation.hpp"
#include "output/model_average.hpp"
#include "output/model_file/saved_model.hpp"
#include "output/network_reporter.hpp"
#include "privacy/mechanism/masking.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "privacy/statement/statement.hpp"
#include "protocol/decentralized/mixing_channel.hpp"
#include "protocol/decentralized/omd.hpp"
#include "protocol/person_model.hpp"
#include "regret/regret.hpp"
#include "report/pictures/pictures.hpp"
#include "report/summary.hpp"
#include "report/view/run_reading.hpp"
#include "run/life_cycle.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/results/added_noise.hpp"
#include "run/results/run_results.hpp"
#include "run/stages/run_context.hpp"
#include "run/tuning/tuned_settings.hpp"
#include "run_canaries.hpp"
#include "run_constraints.hpp"
#include "run_graph.hpp"

namespace starling {

namespace {

class OmdPlay final : public Play {
 public:
  OmdPlay(const BegunRun& begun, const Method& method, OmdParts& parts);

  [[nodiscard]] Recording recording() override;
  void add_observers(std::vector<Observer*>& observers, KeptParts& parts) override;
  void run(const std::vector<Observer*>& observers) override;
  [[nodiscard]] RoundsEnd end() override;
  [[nodiscard]] const RoundView& view() const override { return *omd_; }
  [[nodiscard]] TimeShares time_shares() const override { return omd_->time_shares(); }
  [[nodiscard]] Released<Columns> final_models() override;
  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override;
  void complete_summary(Summary& summary) override;
  [[nodiscard]] std::optional<SavedModel> saved_model() const override;
  [[nodiscard]] OwnResults own_results(const Summary& summary) override;
  [[nodiscard]] ExitCode exit_code(const Summary& summary, const RoundsEnd& end) override;

 private:
  [[nodiscard]] Learning make_learning();
  [[nodiscard]] const Schedule& schedule();
  [[nodiscard]] bool hosts_clients() const { return run_.inputs.client_count() > 0; }
  [[nodiscard]] bool regrets() const { return config_.regret != RegretChoice::none; }
  [[nodiscard]] bool any_has_played();
  void note_late_clients();
  void add_regret(Summary& summary, bool stopped);
  [[nodiscard]] Regret find_regret_of_run();
  void add_weights(Summary& summary);
  [[nodiscard]] AddedNoise noise_of_run();
  [[nodiscard]] std::vector<std::string> draw(const std::vector<NetworkFigures>& history) const;

  const BegunRun begun_;
  RunContext& run_ = begun_.context;
  const Method& method_;
  OmdParts& parts_;
  const OmdConfig& config_ = parts_.config;
  std::optional<PersonModel> persons_;   ///< of runs of unit person
  Vector noise_factors_;                 ///< of the clients' releases in their steps; empty: 1
  std::optional<RunCanaries> canaries_;  ///< of runs that audit themselves
  std::optional<MixingChannel> channel_;
  std::optional<DecentralizedOmd> omd_;
  Recorded recorded_;
  std::optional<ModelPath> path_;  ///< of runs that learn
  std::optional<PlayedRecorder> played_;
  std::optional<ModelAverage> average_;
  std::optional<ConstraintRecorder> violations_;
  std::optional<ConstraintReport> violation_;
};

Learning OmdPlay::make_learning() {
  Model& learned = learned_model(*parts_.model, config_.privacy, persons_);
  if (config_.privacy.audit) canaries_.emplace(learned, begun_.privacy->mechanism());
  Model& model = canaries_ ? canaries_->model() : learned;
  Mechanism& mechanism = canaries_ ? canaries_->mechanism() : begun_.privacy->mechanism();
  if (parts_.constraints) {
    parts_.constraints->start(static_cast<std::size_t>(run_.inputs.client_count()), begun_.privacy->pair(),
                              config_.data.batch);
    if (config_.constraints.shared)
      parts_.constraints->duals_of_clients()->share(run_.agreement, run_.inputs.layout->clients());
  }
  Vector factors;
  if (config_.weights == ClientWeights::equal) factors = run_.inputs.factors_of_own_means(run_.inputs.dataset.streams);
  noise_factors_ = factors;
  return {parts_.constraints ? parts_.constraints->model(model) : model,
          mechanism,
          begun_.privacy->accounts(),
          begun_.privacy->take_keys(),
          std::move(run_.inputs.dataset.streams),
          parts_.constraints ? parts_.constraints->duals_of_clients() : nullptr,
          std::move(factors)};
}

/// The schedule of the graph, or the part of it that clients can afford.
const Schedule& OmdPlay::schedule() {
  const Schedule& whole = parts_.graph->schedule();
  if (!parts_.constraints) return whole;
  const std::size_t length = message_length(parts_.mirror->state_size(method_.dimension()), config_.mixing);
  return parts_.constraints->affordable(whole, length * sizeof(double), config_.mixing.gossip_steps, config_.data.seed);
}

OmdPlay::OmdPlay(const BegunRun& begun, const Method& method, OmdParts& parts)
    : begun_(begun), method_(method), parts_(parts) {
  trim_heap();  // with many clients, setting up has taken more memory than the run needs
  std::optional<Learning> learning;
  if (config_.learns()) learning.emplace(make_learning());
  const std::size_t dimension = method_.dimension();
  channel_.emplace(run_.world, *run_.inputs.layout, schedule(), config_.mixing, parts_.mirror->state_size(dimension));
  recorded_ =
      who_is_recorded(run_.inputs.clients_at_first(), config_.record_clients.value_or(RecordedChoice()), dimension);
  recorded_.add_joined(run_.inputs.clients_at_first(), run_.inputs.layout->clients());
  if (recorded_.figures == Figures::of_some) channel_->count_edges_of(recorded_.listed);
  if (!channel_->note().empty()) run_.notes.push_back(channel_->note());
  if (hosts_clients() && channel_->mixer().plan_ahead() && !parts_.constraints) {
    parts_.graph->schedule().forget_links();  // every rank has all links of a graph that comes from a file
    trim_heap();
  }
  omd_.emplace(channel_->mixer(), *parts_.mirror, std::move(learning), config_.omd, std::move(parts_.start));
  if (run_.inputs.members.any_lost()) omd_->set_lost(run_.inputs.lost_here());
}

Recording OmdPlay::recording() {
  Recording recording;
  recording.rounds = config_.omd.rounds;
  recording.clients = recorded_;
  if (config_.learns()) {
    recording.scores = scores_of(parts_.loss->classifies());
    recording.test = run_.test_score_of(*parts_.model);
    recording.model = parts_.model.get();
    recording.scored = {ReleasePath::omd_score, omd_->streams()};
  }
  recording.provenance = {{"topology_digest", parts_.graph->digest()}};
  recording.mixing = config_.mixing.mixing;
  recording.evaluates = regrets();
  recording.begin_after_changes = [this](std::size_t first) {
    begin_joined(run_, *parts_.graph, config_.mixing.gossip_steps, *omd_, method_.dimension(), first);
  };
  return recording;
}

void OmdPlay::add_observers(std::vector<Observer*>& observers, KeptParts& parts) {
  const auto clients = static_cast<std::size_t>(run_.inputs.client_count());
  played_.emplace(regrets() ? growth_marks(config_.omd.rounds) : std::vector<Round>(), regrets() ? clients : 0);
  observers.push_back(&*played_);
  parts.add("models", *omd_);
  parts.add("sums for regret", *played_);
  if (config_.learns()) {
    observers.push_back(&path_.emplace(config_.omd, config_.omd.rounds, run_.inputs.first_client()));
    parts.add("marks of the path", *path_);
  }
  if (config_.average != Averaging::none) {
    observers.push_back(&average_.emplace(config_.average, config_.omd.rounds, Columns(method_.dimension(), clients)));
    parts.add("mean models", *average_);
  }
  if (parts_.constraints) {
    observers.push_back(&violations_.emplace(parts_.constraints->duals_of_clients(), parts_.constraints->energy(),
                                             config_.mixing.gossip_steps, run_.inputs.first_client(), clients,
                                             run_.metrics_policy(),
                                             begun_.directory.private_folder(run_.world.rank()) + "/violation.csv"));
    parts.add("violations", *violations_);
  }
}

void OmdPlay::run(const std::vector<Observer*>& observers) {
  if (hosts_clients()) omd_->run(observers);
}

/// Where rounds are not in step, ranks that a signal has stopped are at different rounds.
RoundsEnd OmdPlay::end() {
  const Round planned = config_.omd.rounds;
  RoundsEnd end;
  end.done = run_.agreement.max(declare_public(hosts_clients() ? omd_->done() : Round{0}));
  end.least = run_.agreement.min(declare_public(hosts_clients() ? omd_->done() : planned));
  end.stopped = end.least < planned;
  channel_->give_back_room();  // the last models are copied
  trim_heap();                 // plans have gone
  return end;
}

Released<Columns> OmdPlay::final_models() {
  Released<Columns> models = average_ ? average_->models(*omd_) : omd_->models();
  if (!parts_.kept_start) return models;
  models.update(
      [this](Columns& all, const Columns& start) {
        scale(1 - parts_.share_of_start, all.flat());
        axpy(parts_.share_of_start, start.flat(), all.flat());
      },
      *parts_.kept_start);
  return models;
}

void OmdPlay::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) {
  if (violations_) violation_ = violations_->finish(run_.agreement, end.done, run_.inputs.layout->clients());
  summary.average = name_of(config_.average);
  summary.learned = config_.learns();
  summary.classifies = parts_.model && parts_.model->classifies();
  summary.part<Pace>().deadline = config_.mixing.deadline;
  LocalResults local = local_results(run_, method_, *this, std::move(models), parts_.model.get());
  local.debts = omd_->debts_in_first_steps();
  local.edges = channel_->edge_traffic();
  local.wire = channel_->wire_traffic();
  if (hosts_clients()) local.played_rounds = omd_->played_rounds();
  add_regret(summary, end.stopped);
  gather_results(run_.agreement, local, run_.metrics_policy(), config_.json_models, summary);
  if (violation_) summary.add(violation_->constraints);
  if (const std::optional<double> contraction = parts_.graph->contraction()) {
    summary.part<Consensus>().left =
        std::pow(*contraction, static_cast<double>(end.done * config_.mixing.gossip_steps));
  }
  if (!config_.learns()) return;
  add_weights(summary);
  summary.add(noise_of_run());
}

/// Mixing keeps Σ w x, of which a step takes η ĝ. **Collective.**
AddedNoise OmdPlay::noise_of_run() {
  const double share = 1 - parts_.share_of_start;
  ReleasedSteps steps{[this, share](Round t) { return share * config_.omd.step_at(t); }, noise_factors_, {}, false, {}};
  const View masses = omd_->masses();
  steps.shares.assign(masses.begin(), masses.end());
  if (steps.weights.empty()) steps.weights.assign(steps.shares.size(), 1.0);
  bool all_steps = config_.omd.first_round == 0;
  for (std::size_t k = 0; k < masses.size(); ++k) {
    const double weight = omd_->effective_weight(k);
    all_steps =
        all_steps && omd_->is_there(k) && omd_->mass_in_flight(k) == 0 && !(weight < 1) && omd_->debts()[k] == 0;
  }
  if (!parts_.mirror->is_linear() || !parts_.domain->is_everything()) {
    steps.unknown = "it passes through a mirror map or a projection";
  } else if (parts_.constraints) {
    steps.unknown = "constraints bend the steps";
  } else if (config_.average != Averaging::none) {
    steps.unknown = "the model is a mean over rounds";
  } else if (config_.mixing.mixing != Mixing::push_sum) {
    steps.unknown = "plain mixing weighs clients by the graph";
  } else if (!run_.agreement.all(declare_public(all_steps)) || config_.mixing.deadline) {
    steps.unknown = "not every step or message has arrived in full";
  }
  return added_noise(begun_, *omd_, steps);
}

/// **Collective.**
void OmdPlay::add_weights(Summary& summary) {
  const bool out_of_step = config_.mixing.deadline.has_value();
  summary.part<Steps>().cap = config_.omd.step_cap;
  std::optional<double> contraction;
  if (!out_of_step) contraction = summary.add(path_->figures(run_.agreement)).contraction;
  summary.add(gather_weights(run_.agreement, recorded_, local_steps(*omd_, run_.inputs.first_client(), contraction),
                             out_of_step ? tolerated_debt_out_of_step : tolerated_debt));
  if (out_of_step) note_late_clients();
}

/// **Collective.**
bool OmdPlay::any_has_played() {
  bool any = false;
  for (const RoundSet& rounds : omd_->played().rounds) any = any || !rounds.empty();
  return run_.agreement.any(declare_public(any));
}

/// Names the clients that were too late at the end to step; their effective weight may be near 1. **Collective.**
void OmdPlay::note_late_clients() {
  constexpr std::size_t most_named = 10;
  std::vector<std::string> late;
  const auto of_ranks =
      run_.agreement.all_gather(declare_public(std::vector<std::int64_t>{omd_->was_too_late() ? 1 : 0}));
  for (int r = 0; r < run_.inputs.layout->ranks(); ++r) {
    if (of_ranks[static_cast<std::size_t>(r)].front() == 0) continue;
    const Client first = run_.inputs.layout->first(r);
    const Client last = first + run_.inputs.layout->count(r) - 1;
    late.push_back(first == last ? fmt::format("client {}", first) : fmt::format("clients {} to {}", first, last));
  }
  if (late.empty()) return;
  const std::size_t more = late.size() - std::min(late.size(), most_named);
  late.resize(late.size() - more);
  run_.notes.push_back(fmt::format(
      "late at the end: {}{} had steps to make up for when the others had played their last round, and did not take "
      "them. The last models lean towards the others. Give each rank a processor of its own, or take --deadline.",
      fmt::join(late, ", "), more > 0 ? fmt::format(" and those of {} more ranks", more) : ""));
}

/// **Collective.**
void OmdPlay::add_regret(Summary& summary, bool stopped) {
  if (!regrets()) return;
  if (stopped) {
    run_.notes.emplace_back("regret: left out, since the run was stopped");
  } else if (!any_has_played()) {
    run_.notes.emplace_back("regret: there is none, since no client took a step");
  } else {
    for (const std::string& remark : remarks_on(summary.add(find_regret_of_run()))) run_.notes.push_back(remark);
  }
}

/// The evaluation pass, over streams opened anew. **Collective.**
Regret OmdPlay::find_regret_of_run() {
  EvaluationData data;
  run_.agreement.together([&] {
    Dataset again = run_.inputs.opened_again(config_.data);
    check<DataError>(again.fingerprint == run_.inputs.dataset.fingerprint,
                     "{}: it has changed since the run began: the regret would be that of other records.",
                     config_.data.source);
    data.streams = std::move(again.streams);
  });
  data.rounds = omd_->played().rounds;
  data.marks = played_->marks();
  data.played = played_->played();
  data.batch = config_.data.batch;
  data.l2 = config_.omd.l2;
  data.l2.lambda *= config_.omd.l2_share;
  const MetricsPolicy policy = run_.metrics_policy();
  const EvaluationPass pass(run_.agreement, policy, *parts_.model, *parts_.domain, data,
                            [this] { return !run_.world.go_on_waiting(); });
  return find_regret(pass, {config_.regret != RegretChoice::dynamic, config_.regret != RegretChoice::static_regret,
                            parts_.constraints ? &parts_.constraints->set() : nullptr, config_.benchmark_window});
}

void OmdPlay::complete_summary(Summary& summary) {
  if (!config_.learns()) return;
  if (canaries_) {
    summary.part<PrivacyReport>().audit =
        canaries_->finish(run_.agreement, begun_.privacy->dearest_charge(), begun_.privacy->delta_of_claims());
  }
  for (const ConstraintFigures& each : summary.get<std::vector<ConstraintFigures>>()) {
    if (!each.violation) summary.withheld.push_back("constraints[" + each.name + "].violation");
  }
}

std::optional<SavedModel> OmdPlay::saved_model() const {
  if (!config_.learns()) return std::nullopt;
  return starling::saved_model(config_.model, config_.loss, *parts_.loss, run_.inputs.dataset.shape);
}

OwnResults OmdPlay::own_results(const Summary& /*summary*/) {
  return {"the final mean model", {}, [this](const auto& history) { return draw(history); }};
}

ExitCode OmdPlay::exit_code(const Summary& summary, const RoundsEnd& end) {
  const auto& audit = summary.get<PrivacyReport>().audit;
  const bool refuted = audit && audit->refuted;
  return run_.agreement.broadcast(declare_public(refuted)) ? ExitCode::refuted : Play::exit_code(summary, end);
}

/// Returns the reasons for missing pictures.
std::vector<std::string> OmdPlay::draw(const std::vector<NetworkFigures>& history) const {
  const std::string& folder = begun_.directory.path();
  std::vector<std::string> problems;
  if (violation_) problems.push_back(write_violations(folder, *violation_));
  problems.push_back(draw_network(folder, read_network(folder), history, {}));
  return problems;
}

}  // namespace

std::unique_ptr<Play> OmdMethod::make(const BegunRun& begun) {
  return std::make_unique<OmdPlay>(begun, *this, parts_);
}

Command omd_command() {
  return learning_command<OmdMethod, OmdConfig, omd_options, complete_omd_config>(
      "omd", "online mirror descent over a topology (under mpirun or srun)", omd_manual);
}

}  // namespace starling
