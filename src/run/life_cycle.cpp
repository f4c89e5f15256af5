#include "life_cycle.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>

#include "console/print.hpp"
#include "core/record_error.hpp"
#include "data/formats/first_reading.hpp"
#include "data/serving/person_uses.hpp"
#include "files/tell_user.hpp"
#include "output/network_reporter.hpp"
#include "output/progress_printer.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism/masking.hpp"
#include "run/identity/introductions.hpp"
#include "run/privacy/noise_keys.hpp"
#include "run/privacy/run_facts.hpp"
#include "run/results/run_records.hpp"
#include "run/results/run_results.hpp"
#include "run/resumption/kept_notes.hpp"
#include "run/resumption/resumption.hpp"
#include "run/resumption/run_checkpoints.hpp"
#include "run/settings/configuration.hpp"
#include "run/stages/run_context.hpp"
#include "run/stages/run_home.hpp"

namespace starling {

namespace {

/// The text of config.ini in the directory that --resume names; empty if there is none.
std::string configuration_of_run(const std::vector<std::string>& words) {
  constexpr std::string_view option = "--resume";
  std::string directory;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == option && i + 1 < words.size()) directory = words[i + 1];
    if (words[i].starts_with(fmt::format("{}=", option))) directory = words[i].substr(option.size() + 1);
  }
  return directory.empty() ? "" : read_whole_file(directory + "/config.ini").value_or("");
}

/// Keeps the first of equal notes: a run that goes on makes some of its notes again.
void drop_repeated(std::vector<std::string>& notes) {
  std::set<std::string> told;
  std::erase_if(notes, [&](const std::string& note) { return !told.insert(note).second; });
}

/// Seconds that the rounds of a run have taken, in all processes of the run.
class RoundClock {
 public:
  void start() { began_ = std::chrono::steady_clock::now(); }
  [[nodiscard]] double seconds() const {
    return before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }
  void persist(Snapshot& snapshot) {
    double now = snapshot.reading() ? 0 : seconds();
    snapshot(now);
    if (snapshot.reading()) before_ = now;
  }

 private:
  double before_ = 0;
  std::chrono::steady_clock::time_point began_;
};

/// A run on one rank. Functions are **collective**.
class LifeCycle {
 public:
  LifeCycle(World& world, const MethodOfRun& of_run, Configuration& configuration, RunStart start,
            const std::function<void(const std::string&)>& note_directory)
      : run_(world, of_run.command, configuration, std::move(start)),
        settle_(of_run.settle),
        note_directory_(note_directory) {}

  [[nodiscard]] ExitCode go();

 private:
  void take_up();
  void remember_notes();
  void begin_unbegun();
  [[nodiscard]] ExitCode show_finished() const;
  void choose_members();
  void choose_checkpoint();
  [[nodiscard]] std::string open_privacy();
  void begin_in_directory(const std::string& run_id);
  [[nodiscard]] std::string digest_of_inputs() const;
  void require_same_inputs() const;
  [[nodiscard]] ExitCode play(const BegunRun& begun);
  [[nodiscard]] CheckpointTerms checkpoint_terms(const BegunRun& begun, Round rounds) const;
  void add_common_parts(KeptParts& parts, RunRecords& records);
  void go_on_from(RunCheckpoints& checkpoints, const Recording& recording);
  void note_early_end(const LeftOut& rounds);

  [[nodiscard]] const LearningConfig& common() const { return run_.common(); }

  RunContext run_;
  decltype(MethodOfRun::settle) settle_;
  const std::function<void(const std::string&)>& note_directory_;
  RunHome home_{run_};
  std::optional<Resumption> resumption_;  ///< of a run that began earlier
  std::unique_ptr<Method> method_;
  std::optional<RunPrivacy> privacy_;  ///< of runs that learn
  RoundClock clock_;
};

ExitCode LifeCycle::go() {
  run_.settle_configuration();
  run_.world.set_watchdog(common().watchdog);
  if (common().resume) take_up();
  if (resumption_ && resumption_->is_finished(common())) return show_finished();
  if (resumption_) remember_notes();
  choose_members();
  std::string run_id;
  try {
    method_ = settle_(run_, home_);
    choose_checkpoint();
    home_.make();
    run_id = open_privacy();
    begin_in_directory(run_id);
  } catch (const Error& error) {
    const bool stopped = error.code() == ExitCode::stopped_safely && run_.is_resumable();
    const bool peer_died = error.code() == ExitCode::failure && dynamic_cast<const PeerError*>(&error) != nullptr;
    if (!stopped && !peer_died) home_.leave_nothing();  // else --resume begins the run
    throw;
  }
  const BegunRun begun{run_, home_.directory(), privacy_ ? &*privacy_ : nullptr, run_id};
  try {
    const std::optional<ExitCode> studied = method_->study(begun);
    return studied ? *studied : play(begun);
  } catch (const RecordError& error) {
    const std::string errors = begun.directory.private_folder(run_.world.rank()) + "/errors.txt";
    OwnersFile(errors).append(Secret<std::string>(error.shown() + "\n"));
    throw DataError(fmt::format("{} The owner of the records finds more in {}.", error.what(), errors));
  }
}

/// Opens the run that --resume names, if it ever began.
void LifeCycle::take_up() {
  if (RunDirectory::never_began(*common().resume, run_.agreement)) return begin_unbegun();
  std::optional<Membership::Change::Kind> change;
  if (common().lost) change = Membership::Change::Kind::loss;
  if (common().join) change = Membership::Change::Kind::join;
  home_.open(change);
  run_.agreement.together([&] {
    resumption_.emplace(run_.agreement, home_.directory(), run_.start.of_run, run_.notes);
    run_.resumption = &*resumption_;
    resumption_->require_rounds(common());
  });
  home_.explain_early_stop();
}

/// Takes up what the run chose and noted before.
void LifeCycle::remember_notes() {
  const std::string text = run_.first_rank() ? home_.directory().notes() : "";
  const std::string kept = run_.agreement.broadcast(declare_public(text));
  run_.agreement.together([&] {
    KeptNotes before = KeptNotes::parse(kept, home_.directory().notes_file());
    run_.tuning = std::move(before.tuning);
    run_.shared_figures.add(before.shared.text());
    run_.scores_released = before.scores_released;
    run_.notes.insert(run_.notes.begin(), before.notes.begin(), before.notes.end());
  });
}

void LifeCycle::begin_unbegun() {
  run_.agreement.together([&] {
    check(!common().lost && !common().join,
          "{}: the run in '{}' never came to its first round, and nothing was released. Start a run of its own, with "
          "{} --clients.",
          common().lost ? "--lost" : "--join", *common().resume, common().lost ? "fewer" : "more");
  });
  run_.notes.push_back(fmt::format("the run in '{}' never came to its first round: it begins now", *common().resume));
}

ExitCode LifeCycle::show_finished() const {
  note_directory_(home_.directory().path());
  if (!run_.first_rank()) return ExitCode::done;
  tell_user("note: the run in '{}' has played all its rounds\n", home_.directory().path());
  if (common().json) print(read_whole_file(home_.directory().summary_file()).value_or(""));
  return ExitCode::done;
}

/// Finds out with which clients the run goes on. Changes no file.
void LifeCycle::choose_members() {
  if (!resumption_) return;
  if (common().lost || common().join) resumption_->choose_members(common(), common().why_not.other_clients);
  run_.inputs.members = resumption_->members();
  run_.inputs.rewired = resumption_->rewired();
  const std::string list = run_.first_rank() ? home_.directory().members_list() : "";
  run_.inputs.members_before = run_.agreement.broadcast(declare_public(list));
  run_.inputs.earlier = {resumption_->layout(run_.inputs.members.clients()),
                         home_.directory().identity().rounds_of_pass};
}

/// Chooses the checkpoint of a resumed run, before its directory or a ledger changes.
void LifeCycle::choose_checkpoint() {
  home_.end_if_signalled();
  run_.agreement.together([&] { run_.require_resumable(); });
  if (!resumption_) return;
  // Ledgers compare inputs only where a run can be repeated.
  if (run_.reads_pipes) run_.on_first_rank([&] { require_same_inputs(); });
  if (common().lost || common().join) home_.explain_early_stop(ClientChange::under_way);
  resumption_->choose_checkpoint(*run_.inputs.layout, method_->plays(run_.world.rank()), run_.inputs.rewired,
                                 common().why_not.other_ranks);
  home_.explain_early_stop();
}

/// Returns the run's id.
std::string LifeCycle::open_privacy() {
  if (!common().learns()) {
    return resumption_ ? resumption_->run() : make_run_id(run_.agreement, NoiseKeyPolicy::random, common().data.seed);
  }
  RunFacts facts;
  run_.agreement.together([&] { facts = method_->privacy_facts(); });
  facts.released_early = home_.has_released();
  facts.introductions = run_.inputs.introductions;
  facts.sealed = run_.inputs.sealed;
  privacy_.emplace(run_.agreement, *run_.inputs.layout, common().privacy, std::move(facts));
  if (resumption_) privacy_->take_up(resumption_->run(), home_.directory().private_folder(run_.world.rank()));
  privacy_->open();
  if (resumption_) resumption_->settle_determination(privacy_->determined_by());
  return privacy_->run_id();
}

/// Enters the run into ledgers, and begins it in its directory.
void LifeCycle::begin_in_directory(const std::string& run_id) {
  RunDirectory& directory = home_.directory();
  home_.end_if_signalled();
  note_directory_(directory.path());
  const bool owners = privacy_ && common().privacy.ledger;
  if (owners && !resumption_ && privacy_->key_policy() == NoiseKeyPolicy::random) {
    run_.on_first_rank([&] { directory.has_begun(); });  // begun again with other keys, it would be charged again
  }
  if (privacy_) {
    privacy_->move_in(directory.private_folder(run_.world.rank()));
    run_.inputs.for_owner.keep_in(directory.private_folder(run_.world.rank()));
    run_.inputs.for_owner.write_shared();
    // Rounds of a resumed run have other records if it reads pipes.
    if (!run_.reads_pipes) std::ranges::copy(privacy_->notes(), std::back_inserter(run_.notes));
  }
  if (!owners) home_.end_if_signalled();
  if (resumption_) directory.note_private_folders(run_.agreement);
  const SharedFigures shared = run_.figures_of_all_ranks();
  run_.on_first_rank([&] {
    if (resumption_) require_same_inputs();
    if (run_.inputs.introductions) directory.keep_members(run_.inputs.introductions->members().text());
    if (resumption_) return;
    RunIdentity identity{run_id, digest_of_inputs(), run_.inputs.layout->clients(), run_.world.size()};
    if (run_.inputs.batching) identity.rounds_of_pass = *run_.inputs.batching->rounds_of_pass;
    if (method_->correlation()) identity.correlation = method_->correlation()->text();
    if (run_.is_resumable()) {
      directory.keep_notes(KeptNotes{run_.tuning, run_.notes, shared}.text());
      directory.begin(identity);
    }
    directory.has_begun();
  });
}

std::string LifeCycle::digest_of_inputs() const {
  return method_->digest_of_inputs(run_.digest_of_inputs(method_->dimension()));
}

void LifeCycle::require_same_inputs() const {
  check(home_.directory().identity().inputs == digest_of_inputs(),
        "--resume '{}': the topology, the start models, the records of --test{} are not those that the run began with, "
        "so that it would be another. Put them back, or start a run of its own.",
        home_.directory().path(),
        run_.reads_pipes    ? " or the columns of records (from pipes)"
        : common().learns() ? ""
                            : " or the configuration");
}

/// From the protocol to the results.
ExitCode LifeCycle::play(const BegunRun& begun) {
  const std::unique_ptr<Play> play = method_->make(begun);
  const Recording recording = play->recording();
  if (resumption_) {
    resumption_->begin(recording.rounds, *run_.inputs.layout, method_->plays(run_.world.rank()));
  }
  RunRecords records(run_.agreement, recording, recording_facts(begun, *method_, *play, recording));
  drop_repeated(run_.notes);
  tell_notes(run_);
  std::vector<Observer*> observers = records.observers();
  KeptParts parts;
  play->add_observers(observers, parts);
  add_common_parts(parts, records);
  RunCheckpoints checkpoints(run_.world, run_.agreement, checkpoint_terms(begun, recording.rounds), std::move(parts));
  go_on_from(checkpoints, recording);
  observers.push_back(&checkpoints.observer());
  run_.inputs.first_reading->forget_records();
  run_.agreement.barrier();
  clock_.start();
  play->run(observers);
  const double wall = clock_.seconds();

  const RoundsEnd end = play->end();
  if (run_.is_resumable()) checkpoints.finish(end.done, end.stopped || recording.evaluates);
  return finish_run(begun, *method_, *play, records, checkpoints, {recording, end, wall});
}

/// Folder, pace and rounds of the run's checkpoints.
CheckpointTerms LifeCycle::checkpoint_terms(const BegunRun& begun, Round rounds) const {
  std::vector<int> playing;
  for (int r = 0; r < run_.world.size(); ++r) {
    if (method_->plays(r)) playing.push_back(r);
  }
  const int rank = run_.world.rank();
  return {checkpoint_folder(begun.directory.private_folder(rank), begun.run_id, *run_.inputs.layout, rank),
          playing,
          common().checkpoint,
          method_->dimension(),
          rounds,
          common().releases_of_round,
          run_.reads_pipes,
          resumption_ ? resumption_->from() : std::nullopt,
          why_no_more_rounds(common())};
}

void LifeCycle::add_common_parts(KeptParts& parts, RunRecords& records) {
  if (auto& uses = run_.inputs.dataset.person_uses) parts.add("uses of persons", *uses);
  records.add_parts(parts);
  if (privacy_) parts.add("accounts", privacy_->accounts());
  parts.add("clock", clock_);
  parts.add("shared figures", run_.shared_figures);
}

/// Notes that no round is left to play.
void LifeCycle::note_early_end(const LeftOut& rounds) {
  run_.notes.push_back(
      fmt::format("the run ends with the models of its checkpoint after round {}: rounds {} to {} may have been "
                  "released with other clients, stay charged, and cannot be played again; the run can have no more, "
                  "since {}. Its models have learned less than was planned",
                  rounds.from, rounds.from + 1, rounds.at, why_no_more_rounds(common())));
  if (run_.first_rank()) tell_user("note: {}\n", run_.notes.back());
}

/// Goes on from the state of a checkpoint, with the clients and the records that there are now.
void LifeCycle::go_on_from(RunCheckpoints& checkpoints, const Recording& recording) {
  const Membership& members = run_.inputs.members;
  if (const std::optional<std::size_t> first = checkpoints.first_unknown_change(members)) {
    recording.begin_after_changes(*first);
    checkpoints.go_on_with(members, *privacy_);
  } else if (resumption_ && run_.reads_pipes) {
    checkpoints.leave_out(LeftOutBy::records_gone, *privacy_);
  }
  if (const std::optional<LeftOut> end = checkpoints.left_out_to_end()) note_early_end(*end);
  run_.on_first_rank([&] {
    if (!resumption_) return;
    home_.directory().set_configuration(run_.effective, {"rounds", "checkpoint-every"});
    home_.directory().forget_results();
  });
}

}  // namespace

ExitCode run_method(World& world, const MethodOfRun& method, Configuration& configuration, RunStart start,
                    const std::function<void(const std::string&)>& note_directory) {
  return LifeCycle(world, method, configuration, std::move(start), note_directory).go();
}

std::string read_configuration(World& world, Configuration& configuration, const std::vector<std::string>& words) {
  world.note_signals();
  Agreement agreement(world);
  const std::string here = world.rank() == 0 ? configuration_of_run(words) : "";
  std::string of_run = agreement.broadcast(declare_public(here));
  agreement.together([&] { configuration.read(words, of_run); });
  agreement.same("configuration", declare_public(configuration.common().as_given));
  return of_run;
}

}  // namespace starling
