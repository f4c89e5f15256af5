// The rounds and results of `starling omd`.
#include "core/memory/heap.hpp"
#include "joined_clients.hpp"
#include "methods/methods.hpp"
#include "methods/omd/omd_method.hpp"
#include "methods/omd/run_constraints.hpp"
#include "methods/omd/run_graph.hpp"
#include "omd_learning.hpp"
#include "omd_results.hpp"
#include "output/checkpoints/kept_parts.hpp"
#include "output/model_file/saved_model.hpp"
#include "protocol/decentralized/mixing_channel.hpp"
#include "protocol/decentralized/omd.hpp"
#include "report/summary.hpp"
#include "run/life_cycle.hpp"
#include "run/results/run_results.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

namespace {

/// Local clients that learn, the channel by which they mix, and the protocol between the two.
class OmdPlay final : public Play {
 public:
  OmdPlay(const BegunRun& begun, const Method& method, OmdParts& parts);

  [[nodiscard]] Recording recording() override;
  void add_observers(std::vector<Observer*>& observers, KeptParts& parts) override;
  void run(const std::vector<Observer*>& observers) override;
  [[nodiscard]] RoundsEnd end() override;
  [[nodiscard]] const RoundView& view() const override { return omd_; }
  [[nodiscard]] TimeShares time_shares() const override { return omd_.time_shares(); }
  [[nodiscard]] Released<Columns> final_models() override { return results_.final_models(); }
  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override;
  void complete_summary(Summary& summary) override;
  [[nodiscard]] std::optional<SavedModel> saved_model() const override;
  [[nodiscard]] OwnResults own_results(const Summary& summary) override;
  [[nodiscard]] ExitCode exit_code(const Summary& summary, const RoundsEnd& end) override;

 private:
  [[nodiscard]] const Schedule& schedule();
  [[nodiscard]] Recorded choose_recorded() const;
  [[nodiscard]] MixingChannel open_channel();
  [[nodiscard]] bool hosts_clients() const { return run_.inputs.client_count() > 0; }

  const BegunRun begun_;
  RunContext& run_ = begun_.context;
  const Method& method_;
  OmdParts& parts_;
  const OmdConfig& config_ = parts_.config;
  OmdLearning learning_;
  Recorded recorded_;
  MixingChannel channel_;
  DecentralizedOmd omd_;
  OmdResults results_;
};

OmdPlay::OmdPlay(const BegunRun& begun, const Method& method, OmdParts& parts)
    : begun_(begun),
      method_(method),
      parts_(parts),
      learning_(begun_, parts),
      recorded_(choose_recorded()),
      channel_(open_channel()),
      omd_(channel_.mixer(), *parts.mirror, learning_.hand_over(), config_.omd, std::move(parts.start)),
      results_(begun_, parts, recorded_, omd_, learning_.factors()) {
  if (run_.inputs.members.any_lost()) omd_.set_lost(run_.inputs.lost_here());
}

/// The schedule of the graph, or the part of it that clients can afford.
const Schedule& OmdPlay::schedule() {
  const Schedule& whole = parts_.graph->schedule();
  if (!parts_.constraints) return whole;
  const std::size_t length = message_length(parts_.mirror->state_size(method_.dimension()), config_.mixing);
  return parts_.constraints->affordable(whole, length * sizeof(double), config_.mixing.gossip_steps, config_.data.seed);
}

Recorded OmdPlay::choose_recorded() const {
  Recorded recorded = who_is_recorded(run_.inputs.clients_at_first(), config_.record_clients.value_or(RecordedChoice()),
                                      method_.dimension());
  recorded.add_joined(run_.inputs.clients_at_first(), run_.inputs.layout->clients());
  return recorded;
}

/// **Collective.**
MixingChannel OmdPlay::open_channel() {
  MixingChannel channel(run_.world, *run_.inputs.layout, schedule(), config_.mixing,
                        parts_.mirror->state_size(method_.dimension()));
  if (recorded_.figures == Figures::of_some) channel.count_edges_of(recorded_.listed);
  if (!channel.note().empty()) run_.notes.push_back(channel.note());
  if (hosts_clients() && channel.mixer().plan_ahead() && !parts_.constraints) {
    parts_.graph->schedule().forget_links();  // every rank has all links of a graph that comes from a file
    trim_heap();
  }
  return channel;
}

Recording OmdPlay::recording() {
  Recording recording;
  recording.rounds = config_.omd.rounds;
  recording.clients = recorded_;
  if (config_.learns()) {
    recording.scores = scores_of(parts_.loss->classifies());
    recording.test = run_.test_score_of(*parts_.model);
    recording.model = parts_.model.get();
    recording.scored = {ReleasePath::omd_score, omd_.streams()};
  }
  recording.provenance = {{"topology_digest", parts_.graph->digest()}};
  recording.mixing = config_.mixing.mixing;
  recording.evaluates = config_.regret != RegretChoice::none;
  recording.begin_after_changes = [this](std::size_t first) {
    begin_joined(run_, *parts_.graph, config_.mixing.gossip_steps, omd_, method_.dimension(), first);
  };
  return recording;
}

void OmdPlay::add_observers(std::vector<Observer*>& observers, KeptParts& parts) {
  parts.add("models", omd_);
  results_.add_observers(observers, parts);
}

void OmdPlay::run(const std::vector<Observer*>& observers) {
  if (hosts_clients()) omd_.run(observers);
}

/// Where rounds are not in step, ranks that a signal has stopped are at different rounds.
RoundsEnd OmdPlay::end() {
  const Round planned = config_.omd.rounds;
  RoundsEnd end;
  end.done = run_.agreement.max(declare_public(hosts_clients() ? omd_.done() : Round{0}));
  end.least = run_.agreement.min(declare_public(hosts_clients() ? omd_.done() : planned));
  end.stopped = end.least < planned;
  channel_.give_back_room();  // the last models are copied
  trim_heap();                // plans have gone
  return end;
}

void OmdPlay::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) {
  summary.average = name_of(config_.average);
  summary.learned = config_.learns();
  summary.classifies = parts_.model && parts_.model->classifies();
  summary.part<Pace>().deadline = config_.mixing.deadline;
  LocalResults local = local_results(run_, method_, *this, std::move(models), parts_.model.get());
  local.debts = omd_.debts_in_first_steps();
  local.edges = channel_.edge_traffic();
  local.wire = channel_.wire_traffic();
  if (hosts_clients()) local.played_rounds = omd_.played_rounds();
  results_.add_regret(summary, end.stopped);
  gather_results(run_.agreement, local, run_.metrics_policy(), config_.json_models, summary);
  results_.add_all_others(summary, end);
}

void OmdPlay::complete_summary(Summary& summary) {
  if (!config_.learns()) return;
  learning_.add_audit(summary);
  OmdResults::name_withheld(summary);
}

std::optional<SavedModel> OmdPlay::saved_model() const {
  if (!config_.learns()) return std::nullopt;
  return starling::saved_model(config_.model, config_.loss, *parts_.loss, run_.inputs.dataset.shape);
}

OwnResults OmdPlay::own_results(const Summary& /*summary*/) {
  return {"the final mean model", {}, [this](const auto& history) { return results_.draw(history); }};
}

ExitCode OmdPlay::exit_code(const Summary& summary, const RoundsEnd& end) {
  return run_.agreement.broadcast(declare_public(OmdLearning::is_refuted(summary))) ? ExitCode::refuted
                                                                                    : Play::exit_code(summary, end);
}

}  // namespace

std::unique_ptr<Play> OmdMethod::make(const BegunRun& begun) {
  if (!note_on_closing_.empty()) run_.notes.push_back(note_on_closing_);
  trim_heap();  // with many clients, setting up has taken more memory than the run needs
  return std::make_unique<OmdPlay>(begun, *this, parts_);
}

Command omd_command() {
  return learning_command<OmdMethod, OmdConfig, omd_options, complete_omd_config>(
      "omd", "online mirror descent over a topology (under mpirun or srun)", omd_manual);
}

}  // namespace starling
