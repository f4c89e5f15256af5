// The rounds of `starling omd`, and what they come to.
#include "app/commands.hpp"
#include "app/run/launch.hpp"
#include "omd_run.hpp"
#include <algorithm>
#include <cmath>

#include "starling/core/memory/heap.hpp"
#include "starling/record/model_average.hpp"
#include "starling/report/pictures/network_picture.hpp"
#include "starling/report/pictures/violation_picture.hpp"

namespace starling {

namespace {

bool is_refuted(const Summary& summary) {
  return summary.privacy.audit && summary.privacy.audit->refuted;
}

}  // namespace

Scores OmdRun::scores() const {
  if (!config_.learns()) return Scores::none;
  return loss_->classifies() ? Scores::losses_and_accuracies : Scores::losses;
}

std::vector<Score> OmdRun::test_scores(const Released<Columns>& models) {
  std::vector<Score> scores;
  for (std::size_t k = 0; k < models.value().size(); ++k)
    scores.push_back(model_->score(models.value()[k], *test_).of_all());
  return scores;
}

/// **Collective.**
bool OmdRun::any_has_played(const DecentralizedOmd& omd) {
  bool any = false;
  for (const RoundSet& rounds : omd.rounds_played()) any = any || !rounds.empty();
  return agreement_.any(declare_public(any));
}

/// Names the clients that were too late at the end to step; their effective weight may be near 1. **Collective.**
void OmdRun::note_late_clients(const DecentralizedOmd& omd) {
  constexpr std::size_t most_named = 10;
  std::vector<std::string> late;
  const auto of_ranks = agreement_.all_gather(declare_public(std::vector<std::int64_t>{omd.was_too_late() ? 1 : 0}));
  for (int r = 0; r < layout_->ranks(); ++r) {
    if (of_ranks[static_cast<std::size_t>(r)].front() == 0) continue;
    const Client first = layout_->first(r);
    const Client last = first + layout_->count(r) - 1;
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

/// The evaluation pass, over streams opened anew. **Collective.**
std::optional<Regret> OmdRun::regret_of(const DecentralizedOmd& omd, const PlayedRecorder& played) {
  EvaluationData data;
  agreement_.together([&] {
    Dataset again = open_dataset(config_.data, layout_->clients(), first_client(), client_count());
    check<DataError>(again.fingerprint == dataset_.fingerprint,
                     "{}: it has changed since the run began (the regret would be that of other records)",
                     config_.data.source);
    data.streams = std::move(again.streams);
  });
  data.rounds = omd.rounds_played();
  data.marks = played.marks();
  data.played = played.played();
  data.batch = config_.data.batch;
  data.l2 = config_.omd.l2;
  const MetricsPolicy policy = metrics_policy();
  const EvaluationPass pass(agreement_, policy, *model_, *domain_, data, [this] { return !world_.go_on_waiting(); });
  const Regret regret =
      find_regret(pass, {config_.regret != RegretChoice::dynamic, config_.regret != RegretChoice::static_regret,
                         constraints_ ? &constraints_->set() : nullptr, config_.benchmark_window});
  for (const std::string& remark : remarks_on(regret)) notes_.push_back(remark);
  return regret;
}

ExitCode OmdRun::play() {
  trim_heap();  // of what setting up has taken for the moment: with many clients more than they stay with
  const MetricsPolicy policy = metrics_policy();
  std::optional<Learning> learning;
  if (config_.learns()) {
    if (config_.privacy.audit) canaries_.emplace(*model_, privacy_->mechanism());
    Model& model = canaries_ ? canaries_->model() : *model_;
    Mechanism& mechanism = canaries_ ? canaries_->mechanism() : privacy_->mechanism();
    if (constraints_) {
      constraints_->start(static_cast<std::size_t>(client_count()), privacy_->pair(), config_.data.batch);
    }
    learning.emplace(Learning{constraints_ ? constraints_->model(model) : model, mechanism, privacy_->accounts(),
                              privacy_->take_keys(), std::move(dataset_.streams),
                              constraints_ ? constraints_->duals_of_clients() : nullptr});
  }
  const std::size_t length = message_length(mirror_->state_size(dimension_), config_.mixing);
  const Schedule& schedule = constraints_ ? constraints_->affordable(*schedule_, length * sizeof(double),
                                                                     config_.mixing.gossip_steps, config_.data.seed)
                                          : *schedule_;
  const MixingDoor door(world_, *layout_, schedule, config_.mixing, mirror_->state_size(dimension_));
  const Recorded recorded =
      who_is_recorded(layout_->clients(), config_.record_clients.value_or(RecordedChoice()), dimension_);
  if (recorded.figures == Figures::of_some) door.count_edges_of(recorded.listed);
  if (!door.note().empty()) notes_.push_back(door.note());
  const bool hosts_clients = client_count() > 0;
  const std::string topology_digest = schedule_->digest();
  if (hosts_clients && door.mixer().plan_ahead() && !constraints_) {
    schedule_->forget_links();  // of a file's graph every rank has all
    trim_heap();
  }
  DecentralizedOmd omd(door.mixer(), *mirror_, std::move(learning), config_.omd, std::move(*start_));
  start_.reset();

  const bool regrets = config_.regret != RegretChoice::none;
  PlayedRecorder played(regrets ? growth_marks(config_.omd.rounds) : std::vector<Round>(),
                        regrets ? static_cast<std::size_t>(client_count()) : 0);
  std::optional<ModelAverage> average;
  if (config_.average != Averaging::none) average.emplace(config_.average, config_.omd.rounds);

  std::optional<ConstraintRecorder> violations;
  if (constraints_) {
    violations.emplace(constraints_->duals_of_clients(), constraints_->energy(), config_.mixing.gossip_steps,
                       first_client(), static_cast<std::size_t>(client_count()), policy,
                       directory_->private_folder(world_.rank()) + "/violation.csv");
  }

  TestScore test;
  if (test_) test = [this](View x) { return model_->score(x, *test_).of_all(); };
  find_checkpoint(config_.omd.rounds);
  open_records(
      {config_.omd.rounds, recorded, scores(), test, Models::one_each, {{"topology_digest", topology_digest}}});

  MassWatch masses(first_client());
  std::vector<Observer*> observers = recorders();
  observers.push_back(&played);
  if (config_.mixing.mixing == Mixing::push_sum) observers.push_back(&masses);
  if (average) observers.push_back(&*average);
  if (violations) observers.push_back(&*violations);
  KeptParts parts;
  parts.add("models", omd);
  parts.add("sums for regret", played);
  parts.add("small masses", masses);
  if (average) parts.add("mean models", *average);
  if (violations) parts.add("violations", *violations);
  start_checkpoints(std::move(parts));
  observers.push_back(last_observer());
  const double wall = time_rounds([&] {
    if (hosts_clients) omd.run(observers);
  });
  // Where rounds are not in step, ranks that a signal has stopped stand at different ones.
  const Round done = agreement_.max(declare_public(hosts_clients ? omd.done() : Round{0}));
  const Round least_done = agreement_.min(declare_public(hosts_clients ? omd.done() : config_.omd.rounds));
  door.give_back_room();  // models are copied
  trim_heap();            // plans have gone
  Released<Columns> models = average ? average->models(omd) : omd.models();
  const bool stopped = least_done < config_.omd.rounds;
  checkpoint_the_end(done, stopped);
  finish_records(omd, done, models);
  if (stopped) note_stop(least_done, config_.omd.rounds, "round", is_resumable());
  if (violations) violation_ = violations->finish(agreement_, done, layout_->clients());
  const SmallMasses small = masses.gather(agreement_);
  if (small.count > 0) notes_.push_back(note_on_small_masses(small));
  const Summary summary = make_summary(omd, std::move(models), door, played, recorded, wall, least_done, small);
  agreement_.together([&] {
    if (first_rank()) write_results(summary, stopped, "the final mean model", {{}, [this] { return draw(); }});
  });
  if (!stopped) drop_checkpoints(done);
  if (agreement_.broadcast(declare_public(is_refuted(summary)))) return ExitCode::refuted;
  return stopped ? ExitCode::stopped_safely : ExitCode::done;
}

Summary OmdRun::make_summary(const DecentralizedOmd& omd, Released<Columns> models, const MixingDoor& door,
                             const PlayedRecorder& played, const Recorded& recorded, double wall, Round rounds_done,
                             const SmallMasses& small) {
  const MetricsPolicy policy = metrics_policy();
  Summary summary = begin_summary(config_.omd.rounds, wall);
  summary.rounds = rounds_done;
  summary.average = name_of(config_.average);
  summary.learned = config_.learns();
  summary.classifies = model_ && model_->classifies();
  summary.deadline = config_.mixing.deadline;
  summary.small_masses = small;
  LocalResults local{std::move(models),
                     Vector(omd.masses().begin(), omd.masses().end()),
                     Vector(omd.debts().begin(), omd.debts().end()),
                     omd.tallies(),
                     door.edge_traffic(),
                     door.wire_traffic(),
                     omd.time_shares(),
                     std::nullopt,
                     omd.mass_in_flight(),
                     client_count() > 0 ? std::optional(omd.played_rounds()) : std::nullopt};
  if (test_) local.test = test_scores(local.models);
  if (config_.regret != RegretChoice::none && rounds_done < config_.omd.rounds) {
    notes_.emplace_back("regret: left out, since the run was stopped");
  } else if (config_.regret != RegretChoice::none && !any_has_played(omd)) {
    notes_.emplace_back("regret: there is none, since no client took a step");
  } else if (config_.regret != RegretChoice::none) {
    summary.regret = regret_of(omd, played);
  }
  gather_results(agreement_, local, policy, config_.json_models, summary);
  if (violation_) summary.constraints = violation_->constraints;
  if (config_.learns()) {
    summary.step_cap = config_.omd.step_cap;
    summary.weights = gather_weights(agreement_, recorded, local_steps(omd, first_client()),
                                     config_.mixing.deadline ? tolerated_debt_out_of_step : tolerated_debt);
  }
  if (summary.weights && summary.weights->named > 0) notes_.push_back(note_on_debt(*summary.weights));
  if (config_.learns() && config_.mixing.deadline) note_late_clients(omd);
  finish_summary(summary, rounds_done < config_.omd.rounds);
  if (!config_.learns()) return summary;
  if (canaries_) {
    summary.privacy.audit = canaries_->finish(agreement_, privacy_->dearest_charge(), privacy_->delta_of_claims());
  }
  for (const ConstraintFigures& each : summary.constraints) {
    if (!each.violation) summary.withheld.push_back("constraints[" + each.name + "].violation");
  }
  return summary;
}

/// Sentences saying why pictures are missing.
std::vector<std::string> OmdRun::draw() const {
  const std::string& folder = directory_->path();
  std::vector<std::string> problems;
  if (violation_) problems.push_back(write_violations(folder, *violation_));
  problems.push_back(draw_network(folder, read_network(folder), reporter_->history(), false));
  return problems;
}

int run_omd(const std::vector<std::string>& words, const std::string& command_line, bool speaks) {
  return run_command(
      words, speaks, omd_help, [&] { return parse_omd_config(words).text; },
      [&](World& world) { return OmdRun(world, command_line).run(words); });
}

}  // namespace starling
