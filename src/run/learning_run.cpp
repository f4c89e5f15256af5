#include "learning_run.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iterator>

#include "console/print.hpp"
#include "data/serving/partition.hpp"
#include "files/tell_user.hpp"
#include "output/dashboards/openmetrics.hpp"
#include "output/dashboards/tensorboard.hpp"
#include "output/directory/run_directory.hpp"
#include "protocol/own_model/row_check.hpp"
#include "run/privacy/noise_keys.hpp"

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

/// The name of a run directory that does not exist, by the time; of runs that begin in one second a number tells
/// which.
std::string fresh_name(const std::string& command) {
  const std::time_t now = std::time(nullptr);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", std::localtime(&now));
  const std::string first = fmt::format("run-{}-{}", command, stamp);
  std::string path = first;
  std::error_code ignored;
  for (int k = 2; std::filesystem::exists(path, ignored); ++k) path = fmt::format("{}-{}", first, k);
  return path;
}

}  // namespace

std::string read_configuration(World& world, Configuration& configuration, const std::vector<std::string>& words) {
  world.note_signals();
  Agreement agreement(world);
  const std::string here = world.rank() == 0 ? configuration_of_run(words) : "";
  std::string of_run = agreement.broadcast(declare_public(here));
  agreement.together([&] { configuration.read(words, of_run); });
  agreement.same("configuration", declare_public(configuration.common().as_given));
  return of_run;
}

ExitCode LearningRun::run() {
  configure();
  if (resumption_ && resumption_->is_finished(common())) return show_finished();
  choose_members();
  try {
    prepare();
  } catch (const Error& error) {
    const bool stopped = error.code() == ExitCode::stopped_safely && is_resumable();
    const bool peer_died = error.code() == ExitCode::failure && dynamic_cast<const PeerError*>(&error) != nullptr;
    if (!stopped && !peer_died) leave_nothing();  // else --resume begins the run
    throw;
  }
  try {
    return play();
  } catch (const RecordError& error) {
    const std::string errors = directory_->private_folder(world_.rank()) + "/errors.txt";
    OwnersFile(errors).append(Secret<std::string>(error.shown() + "\n"));
    throw DataError(fmt::format("{} The owner of the records finds more in {}.", error.what(), errors));
  }
}

/// All that comes before the first round. Where a run may fail comes first, then what enters ledgers. **Collective.**
void LearningRun::prepare() {
  open_inputs();
  choose_checkpoint();
  make_directory();
  open_privacy();
  begin_in_directory();
}

ExitCode LearningRun::play() {
  build_protocol();
  const Recording recording = this->recording();
  if (resumption_) resumption_->begin(recording.rounds, *inputs_.layout, plays(world_.rank()));
  open_records(recording);
  std::vector<Observer*> observers = records_->observers();
  KeptParts parts;
  add_observers(observers, parts);
  if (!inputs_.dataset.person_uses.empty()) parts.add("uses of persons", inputs_.dataset.person_uses);
  start_checkpoints(recording.rounds, std::move(parts));
  observers.push_back(&checkpoints_->observer());
  agreement_.barrier();
  clock_.start();
  play_rounds(observers);
  const double wall = clock_.seconds();

  RoundsEnd end = end_rounds();
  if (is_resumable()) checkpoints_->finish(end.done, end.stopped || evaluates());
  Released<Columns> models = final_models();
  records_->finish(view(), end.done, models);
  note_stop(end, recording);
  Summary summary = begin_summary(recording.rounds, wall);
  summary.rounds = end.least;
  summarise(summary, std::move(models), end);
  end.stopped = end.stopped || evaluation_was_cut();
  finish_summary(summary, end.stopped);
  complete_summary(summary);
  directory_->bring_in(agreement_);
  on_first_rank([&] { write_results(summary, end.stopped); });
  if (!end.stopped) end_checkpoints(end.done);
  return exit_code(summary, end);
}

/// **Collective.**
void LearningRun::configure() {
  choose_configuration();
  world_.set_watchdog(common().watchdog);
  if (!common().resume) return;
  if (RunDirectory::never_began(*common().resume, agreement_)) {
    agreement_.together([&] {
      check(!common().lost && !common().join,
            "{}: the run in '{}' never came to its first round (nothing was released) start a run of its own, with "
            "{} --clients",
            common().lost ? "--lost" : "--join", *common().resume, common().lost ? "fewer" : "more");
    });
    notes_.push_back(fmt::format("the run in '{}' never came to its first round: it begins now", *common().resume));
    return;
  }
  std::optional<Membership::Change::Kind> change;
  if (common().lost) change = Membership::Change::Kind::loss;
  if (common().join) change = Membership::Change::Kind::join;
  directory_.emplace(RunDirectory::again(*common().resume, agreement_, common().private_place, change));
  agreement_.together([&] {
    resumption_.emplace(agreement_, *directory_, of_run_, notes_);
    run_id_ = resumption_->run();
    resumption_->require_rounds(common(), common().why_not.more_rounds);
  });
  world_.explain_early_stop(early_stop());
}

/// Names of files are absolute, unless ranks were started in different folders and mean different files by them.
/// **Collective.**
void LearningRun::choose_configuration() {
  effective_ = agreement_.alike(declare_public(common().text)) ? common().text : common().as_given;
}

ExitCode LearningRun::show_finished() const {
  note_directory_(directory_->path());
  if (!first_rank()) return ExitCode::done;
  tell_user("note: the run in '{}' has played all its rounds\n", directory_->path());
  if (common().json) print(read_whole_file(directory_->summary_file()).value_or(""));
  return ExitCode::done;
}

/// Finds out with which clients the run goes on. Changes no file. **Collective.**
void LearningRun::choose_members() {
  if (!resumption_) return;
  if (common().lost || common().join) resumption_->choose_members(common(), common().why_not.other_clients);
  inputs_.members = resumption_->members();
  inputs_.rewired = resumption_->rewired();
  inputs_.earlier = {resumption_->layout(inputs_.members.clients()), directory_->identity().rounds_of_pass};
}

/// **Collective.**
void LearningRun::open_inputs() {
  agreement_.together([&] { open_graph(); });
  agreement_.same("topology", declare_public(graph_digest()));
  agreement_.together([&] { open_data(); });
  if (uses_records()) {
    agree_on_data();
    const bool harmless = harms_nobody(common().privacy, inputs_.dataset.is_public);
    agreement_.together([&] { inputs_.open_test(harmless); });
  }
  agree_on_own_model();
  choose_settings();
  if (uses_records()) inputs_.deal_records();
  choose_configuration();
  std::string start;
  agreement_.together([&] {
    open_model();
    check_start();
    start = own_start();
  });
  agreement_.same("start of the own model", declare_public(start));
  agree_on_model();
}

/// The tuning, and all after it, is collective only among ranks whose own models say the same of themselves.
/// **Collective.**
void LearningRun::agree_on_own_model() {
  if (own_model() == nullptr) return;
  std::vector<std::pair<std::string, std::string>> facts;
  agreement_.together([&] {
    const std::optional<double> slope = own_model()->slope();
    facts = {{"dimension", fmt::format("{}", own_model()->dimension(inputs_.dataset.shape.features))},
             {"slope", slope ? fmt::format("{}", *slope) : ""},
             {"member `classifies`", own_model()->classifies() ? "true" : "false"},
             {"function `predict`", own_model()->predicts() ? "there" : ""},
             {"code", model_identity()}};
  });
  for (const auto& [what, value] : facts) {
    agreement_.same(fmt::format("{} of the own model", what), declare_public(value));
  }
  agreement_.together([&] {
    if (!common().privacy.protects()) return;
    require_independent_rows(own_model(), inputs_.dataset.shape.features, common().data.seed);
  });
}

/// Chooses the checkpoint of a resumed run, before its directory or a ledger changes. **Collective.**
void LearningRun::choose_checkpoint() {
  end_if_signalled();
  agreement_.together([&] { require_resumable(); });
  reads_pipes_ = agreement_.any(declare_public(uses_records() && !inputs_.dataset.replayable));
  if (!resumption_) return;
  // Ledgers compare inputs only where a run can be repeated.
  if (*reads_pipes_) on_first_rank([&] { require_same_inputs(); });
  if (common().lost || common().join) world_.explain_early_stop(early_stop(ClientChange::under_way));
  resumption_->choose_checkpoint(*inputs_.layout, plays(world_.rank()), inputs_.rewired, common().why_not.other_ranks);
  world_.explain_early_stop(early_stop());
}

/// **Collective.**
void LearningRun::open_privacy() {
  if (!uses_records()) {
    if (!resumption_) run_id_ = make_run_id(agreement_, NoiseKeyPolicy::random, common().data.seed);
    return;
  }
  RunFacts facts;
  agreement_.together([&] { facts = privacy_facts(); });
  facts.released_early = released_early_;
  privacy_.emplace(agreement_, *inputs_.layout, common().privacy, std::move(facts));
  if (resumption_) privacy_->take_up(run_id_, directory_->private_folder(world_.rank()));
  privacy_->open();
  run_id_ = privacy_->run_id();
  if (resumption_) resumption_->settle_determination(privacy_->determined_by());
}

/// Removes what was made for a run that is refused before it has released anything. Rank-local: other ranks may have
/// failed.
void LearningRun::leave_nothing() const {
  if (!directory_ || common().resume || released_early_) return;
  directory_->remove(world_.rank());
  std::error_code ignored;
  if (saved_partition_) std::filesystem::remove(*common().save_partition, ignored);
}

/// Makes the run's directory, if there is none yet, and finds out whether dashboards can be written. **Collective.**
void LearningRun::make_directory() {
  end_if_signalled();
  on_first_rank([&] {
    if (common().tensorboard) TensorBoardFile::try_folder(*common().tensorboard);
    if (common().openmetrics) OpenMetricsFile::try_path(*common().openmetrics);
  });
  if (!directory_) {
    make_new_directory();
    inputs_.keep_for_owner(directory_->private_folder(world_.rank()));
  } else if (!resumption_) {
    on_first_rank([&] { directory_->replace_configuration(effective_); });
  }
}

/// Enters the run into ledgers, and begins it in its directory. **Collective.**
void LearningRun::begin_in_directory() {
  end_if_signalled();
  note_directory_(directory_->path());
  const bool owners = privacy_ && common().privacy.ledger;
  if (owners && !resumption_ && privacy_->key_policy() == NoiseKeyPolicy::random) {
    on_first_rank([&] { directory_->has_begun(); });  // begun again with other keys, it would be charged again
  }
  if (privacy_) {
    privacy_->move_in(directory_->private_folder(world_.rank()));
    inputs_.write_shared();
    // Rounds of a resumed run have other records if it reads pipes.
    if (!*reads_pipes_) std::ranges::copy(privacy_->notes(), std::back_inserter(notes_));
  }
  if (!owners) end_if_signalled();
  if (resumption_) directory_->note_private_folders(agreement_);
  on_first_rank([&] {
    if (resumption_) return require_same_inputs();
    RunIdentity identity{run_id_, digest_of_inputs(), inputs_.layout->clients(), world_.size()};
    if (inputs_.batching) identity.rounds_of_pass = *inputs_.batching->rounds_of_pass;
    if (correlation_) identity.correlation = correlation_->text();
    if (is_resumable()) directory_->begin(identity);
    directory_->has_begun();
  });
}

/// Starts checkpoints of these parts and of all that every run keeps. A resumed run gets all of it back.
/// **Collective.**
void LearningRun::start_checkpoints(Round rounds, KeptParts parts) {
  records_->add_parts(parts);
  if (privacy_) parts.add("accounts", privacy_->accounts());
  parts.add("clock", clock_);
  parts.add("shared figures", shared_figures_);
  std::vector<int> playing;
  for (int r = 0; r < world_.size(); ++r) {
    if (plays(r)) playing.push_back(r);
  }
  checkpoints_.emplace(world_, agreement_,
                       CheckpointTerms{checkpoint_folder(directory_->private_folder(world_.rank()), run_id_,
                                                         *inputs_.layout, world_.rank()),
                                       playing, common().checkpoint, dimension_, rounds, common().releases_of_round,
                                       *reads_pipes_, resumption_ ? resumption_->from() : std::nullopt},
                       std::move(parts));
  if (const std::optional<std::size_t> first = checkpoints_->first_unknown_change(inputs_.members)) {
    begin_after_changes(*first);
    checkpoints_->go_on_with(inputs_.members, *privacy_);
  } else if (resumption_ && *reads_pipes_) {
    checkpoints_->leave_out("records that are gone", *privacy_);
  }
  on_first_rank([&] {
    if (!resumption_) return;
    directory_->set_configuration(effective_, {"rounds", "checkpoint-every"});
    directory_->forget_results();
  });
}

/// **Collective.**
void LearningRun::end_checkpoints(Round done) {
  checkpoints_->drop(done, *directory_, recorded_here() > 0);
  on_first_rank([&] {
    if (is_resumable()) directory_->finish();
  });
}

TuningTerms LearningRun::tuning_terms() {
  return {agreement_,
          inputs_,
          loss_.get(),
          notes_,
          [this] { return common_facts(1); },
          [this] { return private_folder_before_rounds(); },
          [this] { begin_early_release(); }};
}

/// This rank's private folder, for a ledger of what is released before the rounds. The run directory is made if it is
/// not there yet. **Collective.**
std::string LearningRun::private_folder_before_rounds() {
  if (!directory_) {
    // config.ini states no default of what the rule is to choose: if the run is begun again, it is chosen again.
    const bool alike = agreement_.alike(declare_public(common().to_tune));
    std::string effective = std::exchange(effective_, alike ? common().to_tune : effective_);
    make_directory();
    effective_ = std::move(effective);
  }
  return directory_->private_folder(world_.rank());
}

/// Called before a release that precedes the rounds: after it no run can begin afresh in the directory. **Collective.**
void LearningRun::begin_early_release() {
  end_if_signalled();
  released_early_ = true;
  world_.explain_early_stop(early_stop());
  on_first_rank([&] { directory_->has_begun(); });
}

/// **Collective.**
void LearningRun::make_new_directory() {
  std::string path = common().resume.value_or(common().output.value_or(""));
  if (path.empty()) path = fresh_name(command_);
  path = agreement_.broadcast(declare_public(path));
  if (common().resume) {
    directory_.emplace(RunDirectory::afresh(path, effective_, agreement_, common().private_place));
  } else {
    directory_.emplace(path, effective_, agreement_, common().private_place);
  }
  agreement_.together([&] {
    if (!common().save_partition || !first_rank()) return;
    const std::string& file = *common().save_partition;
    const bool exists = common().resume && std::filesystem::exists(file);  // from an earlier start of this run
    const std::string place = exists ? file + ".again" : file;
    save_partition(common().data, inputs_.layout->clients(), place);
    saved_partition_ = !exists;
    if (!exists) return;
    const bool same = read_whole_file(place) == read_whole_file(file);
    std::filesystem::remove(place);
    check(same, "--save-partition '{}' holds another partition (it would be lost) move it away", file);
  });
}

/// Ends the run before its first round if a signal came. **Collective.**
void LearningRun::end_if_signalled() {
  agreement_.together([&] {
    if (!world_.is_signalled()) return;
    throw Error(ExitCode::stopped_safely, early_stop());
  });
}

std::string LearningRun::early_stop() const {
  if (resumption_) return early_stop(resumption_->has_changed_clients() ? ClientChange::done : ClientChange::ahead);
  return early_stop_of_new(command_, directory_ && is_resumable() ? directory_->path() : "", released_early_);
}

/// The message of a resumed run that a signal ends before its first round.
std::string LearningRun::early_stop(ClientChange change) const {
  return early_stop_of_resumed(command_, directory_->path(),
                               common().lost   ? "--lost"
                               : common().join ? "--join"
                                               : "",
                               change);
}

}  // namespace starling
